import java.util.*;

/** Prints what its strings say, as the hexadecimal numbers of their UTF-16 units, then waits. */
public class Texts {
    static final List<String> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(42);
        String[] alphabets = { "abc", "aä\u00ff", "aж€", "a\ud83d\ude00", "a\ud83d" };
        for (int count = 0; count < 2000; count++) {
            String alphabet = alphabets[count % alphabets.length];
            // Mostly short ones, one in a hundred long.
            int length = random.nextInt(count % 100 == 0 ? 20_000 : 40);
            StringBuilder text = new StringBuilder("text ").append(count).append(": ");
            for (int i = 0; i < length; i++) text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            KEPT.add(text.toString());
        }
        StringBuilder line = new StringBuilder();
        for (String text : KEPT) {
            line.setLength(0);
            for (int i = 0; i < text.length(); i++) line.append(String.format("%04x", (int) text.charAt(i)));
            System.out.println(line);
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
