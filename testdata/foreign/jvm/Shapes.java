import java.lang.ref.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/** One of everything a heap dump can hold, then it waits. */
public class Shapes {
    static class Flags { boolean on = true; byte small = 1; }
    static class Numbers extends Flags { char letter = 'x'; short few = 2; int some = 3; float rough = 4; }
    static class Wide extends Numbers { long many = 5; double fine = 6; Object next; }
    static class Tail extends Wide { byte last = 7; Object self = this; }
    public static class Single { public byte alone; public Single() {} }
    static class Doubled extends Single { byte other; }
    class Inner { int number = 8; }

    static final Object[] NESTED = { new int[3], new long[] { 1 }, new Object[] { null, "two", null }, new boolean[5][2] };
    static final char[] LETTERS = new char[1000];
    static int count = 12;
    static final List<Object> KEPT = new ArrayList<>();
    static final WeakReference<Object> WEAK = new WeakReference<>(new Wide());
    static final SoftReference<Object> SOFT = new SoftReference<>(new Numbers());
    static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
    static final PhantomReference<Object> PHANTOM = new PhantomReference<>(new Object(), QUEUE);
    static final WeakHashMap<Object, Object> WEAK_MAP = new WeakHashMap<>();
    static final ThreadLocal<Object> LOCAL = ThreadLocal.withInitial(() -> new Flags());

    static class Finalized { int id; @Override protected void finalize() { count++; } }

    static void park(String name, CountDownLatch ready) {
        Object[] own = { name, new Tail() };
        LOCAL.get();
        synchronized (own) {
            ready.countDown();
            try { Thread.sleep(Long.MAX_VALUE); } catch (InterruptedException e) { System.out.println(own); }
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 100; i++) { Tail tail = new Tail(); tail.next = KEPT; KEPT.add(tail); }
        for (int i = 0; i < 10; i++) { KEPT.add(new Doubled()); KEPT.add(new Shapes().new Inner()); KEPT.add(new Finalized()); }
        Object key = new Object();
        KEPT.add(key);
        WEAK_MAP.put(key, new Wide());
        URLClassLoader loader = new URLClassLoader(new URL[] { Path.of(".").toUri().toURL() }, null) ;
        KEPT.add(loader.loadClass("Shapes$Single").getDeclaredConstructor().newInstance());
        CountDownLatch ready = new CountDownLatch(3);
        for (String name : List.of("first", "second", "with spaces \u00e4\u20ac")) {
            Thread thread = new Thread(() -> park(name, ready), name);
            thread.setDaemon(true);
            thread.start();
        }
        ready.await();
        System.gc();
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
