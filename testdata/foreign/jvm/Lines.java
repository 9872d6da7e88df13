import java.net.*;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.*;
import java.util.concurrent.atomic.AtomicReference;

/** Objects that are more than their fields; prints the line of each, or nothing where the fields do not tell it. */
public class Lines {
    record Case(String name, Object held) {}

    static final ArrayList<Case> all = new ArrayList<>();

    static void print(String name, Object held, String line) {
        all.add(new Case(name, held));
        System.out.println(name + "\t" + line);
    }

    static void print(Object held) {
        print(held.getClass().getSimpleName() + " " + all.size(), held, held.toString());
    }

    @SuppressWarnings("deprecation")
    public static void main(String[] arguments) throws Exception {
        var random = new Random(3);
        for (int i = 0; i < 100; i++) {
            // From the year 1 on, to that of 9999.
            long ms = random.nextLong(-62_135_596_800_000L, 253_402_300_799_999L);
            Instant instant = Instant.ofEpochMilli(ms).plusNanos(i % 3 == 0 ? 0 : random.nextInt(1_000_000));
            print("Date " + i, new Date(ms), Instant.ofEpochMilli(ms).toString());
            print(instant);
            var local = LocalDateTime.ofInstant(instant, ZoneOffset.UTC).withSecond(7);
            print(local);
            print(local.toLocalDate());
            print(local.toLocalTime());
            print(local.atOffset(ZoneOffset.ofHoursMinutes(-3, -30)));
            print(Duration.ofSeconds(random.nextLong() >> random.nextInt(64), random.nextInt(2) * random.nextInt(1_000_000_000)));
            print(new UUID(random.nextLong(), random.nextLong()));
        }
        print(Duration.ZERO);
        Date shown = new Date(1_795_231_770_500L);
        shown.toString();
        print("a date that was printed", shown, "2026-11-21T03:29:30.500Z");
        Date changed = new Date(1_795_231_770_500L);
        changed.setHours(5);
        print("a date whose hour was set", changed, "");
        print("Timestamp", java.sql.Timestamp.from(Instant.parse("2026-11-21T03:29:30.123456789Z")), "2026-11-21T03:29:30.123456789Z");
        print(new URL("https://user@example.org:8080/a/b?c=d#e"));
        print(new URL("file:/etc/hosts"));
        print(new Locale("de", "AT"));
        print(new Locale("de"));
        print(new Locale("", "AT"));
        print("no language", new Locale(""), "");
        print("unresolved", InetSocketAddress.createUnresolved("example.org", 80), "example.org:80");
        print("resolved", new InetSocketAddress(InetAddress.getByAddress("name", new byte[] {10, 0, 0, (byte) 200}), 81), "name/10.0.0.200:81");
        print("frame", new StackTraceElement("Lines", "main", "Lines.java", 7), "Lines.main(Lines.java:7)");
        print("frame without a line", new StackTraceElement("Lines", "main", "Lines.java", -2), "Lines.main(Lines.java)");
        print("frame without a file", new StackTraceElement("Lines", "main", null, 7), "Lines.main");
        print("exception", new IllegalStateException("out of\tcheese\n"), "out of\\tcheese\\n");
        print("exception without a message", new IllegalStateException(), "");
        print("thread", new Thread("not started"), "not started");
        print("method", Lines.class.getDeclaredMethod("main", String[].class), "Lines.main");
        print("field", Lines.class.getDeclaredField("all"), "Lines.all");
        print("optional", Optional.of("what it holds"), "what it holds");
        print("optional number", Optional.of(12), "12");
        print("optional date", Optional.of(LocalDate.of(2026, 2, 3)), "2026-02-03");
        print("nothing", Optional.empty(), "");
        print("optional object", Optional.of(new Object()), "");
        print("reference", new AtomicReference<>(new AtomicReference<>("held")), "held");
        var itself = new AtomicReference<Object>();
        itself.set(itself);
        print("reference to itself", itself, "");
        print("zone", ZoneId.of("Europe/Paris"), "Europe/Paris");
        print("charset", StandardCharsets.UTF_8, "UTF-8");
        print("currency", Currency.getInstance("EUR"), "EUR");
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
