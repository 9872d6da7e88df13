import java.nio.charset.StandardCharsets;
import java.util.*;

/** Prints what its arrays hold, each as `type length` and a text in hexadecimal units or its elements, then waits. */
public class Elements {
    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(42);
        StringBuilder lines = new StringBuilder();
        // The lengths are those of no other array of a program this small.
        for (int count = 0; count < 700; count++) {
            int length = 1000 + count;
            StringBuilder line = new StringBuilder();
            switch (count % 7) {
                case 0 -> {
                    int[] array = random.ints(length).toArray();
                    KEPT.add(array);
                    line.append("int[] ").append(length).append(" elements");
                    for (int element : array) line.append(' ').append(element);
                }
                case 1 -> {
                    long[] array = random.longs(length).map(number -> number >> (number & 63)).toArray();
                    KEPT.add(array);
                    line.append("long[] ").append(length).append(" elements");
                    for (long element : array) line.append(' ').append(element);
                }
                case 2 -> {
                    short[] array = new short[length];
                    line.append("short[] ").append(length).append(" elements");
                    for (int i = 0; i < length; i++) line.append(' ').append(array[i] = (short) random.nextInt());
                    KEPT.add(array);
                }
                case 3 -> {
                    boolean[] array = new boolean[length];
                    line.append("boolean[] ").append(length).append(" elements");
                    for (int i = 0; i < length; i++) line.append(' ').append((array[i] = random.nextBoolean()) ? 1 : 0);
                    KEPT.add(array);
                }
                case 4 -> {
                    byte[] array = new byte[length];
                    random.nextBytes(array);
                    array[0] = 1;
                    KEPT.add(array);
                    line.append("byte[] ").append(length).append(" elements");
                    for (byte element : array) line.append(String.format(" %02x", element & 0xff));
                }
                default -> {
                    StringBuilder text = new StringBuilder();
                    String alphabet = "ab c\n\tä€";
                    while (text.length() < 100) text.append(alphabet.charAt(random.nextInt(alphabet.length())));
                    text.append('.');
                    // Half of them are buffers with unused room.
                    int zeros = count % 2 == 0 ? 0 : 1 + random.nextInt(100);
                    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
                    if (count % 7 == 5) KEPT.add(Arrays.copyOf(text.toString().toCharArray(), text.length() + zeros));
                    else KEPT.add(Arrays.copyOf(bytes, bytes.length + zeros));
                    int used = count % 7 == 5 ? text.length() : bytes.length;
                    line.append(count % 7 == 5 ? "char[] " : "byte[] ").append(used + zeros).append(" text ");
                    if (zeros > 0) text.append("… (").append(zeros).append(zeros == 1 ? " zero)" : " zeros)");
                    for (int i = 0; i < text.length(); i++) line.append(String.format("%04x", (int) text.charAt(i)));
                }
            }
            lines.append(line).append('\n');
        }
        System.out.print(lines);
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
