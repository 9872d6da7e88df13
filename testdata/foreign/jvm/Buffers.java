import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.File;
import java.io.RandomAccessFile;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/** Direct buffers and mapped files, with views of them; writes its heap into a file and prints the pools of that moment. */
public class Buffers {
    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        for (int i = 1; i <= 20; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(i << 10);
            // Of some only a view is kept, which keeps the buffer.
            KEPT.add(i % 4 == 0 ? buffer.slice(8, 256) : buffer);
            KEPT.add(buffer.duplicate());
            KEPT.add(buffer.asReadOnlyBuffer().slice());
            KEPT.add(buffer.asIntBuffer());
        }
        KEPT.add(ByteBuffer.allocate(5000).slice());
        File file = File.createTempFile("buffers", null);
        file.deleteOnExit();
        try (RandomAccessFile random = new RandomAccessFile(file, "rw"); FileChannel channel = random.getChannel()) {
            random.setLength(1 << 20);
            ByteBuffer whole = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20);
            KEPT.add(whole.slice());
            KEPT.add(whole.duplicate());
            KEPT.add(channel.map(FileChannel.MapMode.READ_ONLY, 4096, 12_288));
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(arguments[0], true);
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            System.out.println(pool.getName() + ": " + pool.getCount() + " buffers, " + pool.getTotalCapacity() + " bytes");
        }
    }
}
