import java.lang.ref.Reference;
import java.util.concurrent.CountDownLatch;

/** Three threads of one name, each with an array of its own; prints the number of each thread and the length of its array. */
public class Workers {
    static final CountDownLatch never = new CountDownLatch(1);
    static CountDownLatch begun = new CountDownLatch(3);

    static void work(int length) {
        byte[] own = new byte[length];
        synchronized (Workers.class) {
            System.out.println(Thread.currentThread().getId() + " " + own.length);
        }
        begun.countDown();
        try {
            never.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        Reference.reachabilityFence(own);
    }

    public static void main(String[] arguments) throws Exception {
        for (int length = 1_000_000; length <= 4_000_000; length *= 2) {
            int own = length;
            new Thread(() -> work(own), "worker").start();
        }
        begun.await();
        System.out.println("ready");
        never.await();
    }
}
