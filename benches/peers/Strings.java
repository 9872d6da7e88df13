import java.io.BufferedOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.util.List;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;
import org.graalvm.visualvm.lib.jfluid.heap.PrimitiveArrayInstance;
import org.graalvm.visualvm.lib.profiler.heapwalk.details.api.StringDecoder;

/** Address and text of every string of an HPROF dump of JDK 9 or later, by the library of VisualVM: lines of JSON. */
class Strings {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 20));
        for (Instance string : (List<Instance>) heap.getJavaClassByName("java.lang.String").getInstances()) {
            out.printf("[%d,%s]%n", string.getInstanceId(), text(heap, string));
        }
        out.close();
    }

    /** What the string says, as JSON in ASCII; `null` without an array, `false` where VisualVM fails. */
    static String text(Heap heap, Instance string) {
        PrimitiveArrayInstance array = (PrimitiveArrayInstance) string.getValueOfField("value");
        if (array == null) {
            return "null";
        }
        byte coder = (Byte) string.getValueOfField("coder");
        if (coder == 1 && heap.getJavaClassByName("java.lang.StringUTF16") == null) {
            return "false"; // It takes the byte order from this class, which HotSpot does not always dump.
        }
        StringDecoder decoder = new StringDecoder(heap, coder, array.getValues());
        StringBuilder json = new StringBuilder("\"");
        for (int at = 0; at < decoder.getStringLength(); at++) {
            char unit = decoder.getValueAt(at).charAt(0);
            boolean isPlain = unit >= ' ' && unit <= '~' && unit != '"' && unit != '\\';
            json.append(isPlain ? String.valueOf(unit) : String.format("\\u%04x", (int) unit));
        }
        return json.append('"').toString();
    }
}
