import java.io.File;
import java.util.List;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;

/** The 20 objects that retain most, of an HPROF dump, by the library of VisualVM. */
class VisualVm {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        for (Instance object : (List<Instance>) heap.getBiggestObjectsByRetainedSize(20)) {
            System.out.printf("%d\t0x%x\t%s%n", object.getRetainedSize(), object.getInstanceId(), object.getJavaClass().getName());
        }
    }
}
