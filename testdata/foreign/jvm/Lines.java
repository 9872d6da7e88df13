import java.math.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.atomic.*;

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
            print(local.atZone(ZoneId.of(i % 2 == 0 ? "UTC" : "Asia/Kolkata")));
            print(local.atZone(ZoneOffset.UTC));
            var number = new BigInteger(random.nextInt(200), random);
            number = i % 2 == 0 ? number : number.negate();
            print(number);
            print(new BigDecimal(number, random.nextInt(-9, 90)));
            print(BigDecimal.valueOf(random.nextLong() >> random.nextInt(64), random.nextInt(-5, 25)));
            print(Period.of(random.nextInt(-3, 4), random.nextInt(-1, 2), random.nextInt(-1, 2)));
            print(YearMonth.from(local));
            print(MonthDay.from(local));
            print(Year.from(local));
        }
        for (var locale : Locale.getAvailableLocales()) {
            print(locale);
        }
        print(Duration.ZERO);
        print(BigInteger.ZERO);
        print(BigInteger.TWO.pow(64));
        print("two equal words", BigInteger.TWO.pow(32).add(BigInteger.ONE), "4294967297");
        print(new BigDecimal("0.00"));
        print(new BigDecimal("1E+400"));
        print(Year.of(-44));
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
        print(new Locale("de", "", "POSIX"));
        print(Locale.forLanguageTag("zh-Hans-CN-u-nu-hans-x-own"));
        print(Locale.forLanguageTag("th-u-nu-thai"));
        print(Locale.forLanguageTag("th-TH-u-nu-thai"));
        print(new Locale.Builder().setLanguage("sl").setScript("Latn").setVariant("NEDIS").build());
        print("no language", new Locale(""), "");
        print("unresolved", InetSocketAddress.createUnresolved("example.org", 80), "example.org:80");
        print("resolved", new InetSocketAddress(InetAddress.getByAddress("name", new byte[] {10, 0, 0, (byte) 200}), 81), "name/10.0.0.200:81");
        byte[] address = new byte[16];
        print("no address", InetAddress.getByAddress(address), "::");
        address[0] = (byte) 0xfe;
        address[1] = (byte) 0x80;
        address[15] = 1;
        print("link-local", Inet6Address.getByAddress("name", address, 3), "name/fe80::1%3");
        print("resolved, 6", new InetSocketAddress(InetAddress.getByAddress(address), 443), "fe80::1:443");
        print("frame", new StackTraceElement("Lines", "main", "Lines.java", 7), "Lines.main(Lines.java:7)");
        print(new StackTraceElement("Lines", "main", "Lines.java", -1));
        print(new StackTraceElement("Lines", "main", "Lines.java", -2));
        print("frame without a file", new StackTraceElement("Lines", "main", null, 7), "Lines.main(Unknown Source)");
        print(new StackTraceElement("Lines", "main", null, -2));
        print(new StackTraceElement("loader", "module", "1.2", "Lines", "main", "Lines.java", 7));
        print(new StackTraceElement("loader", null, null, "Lines", "main", "Lines.java", 7));
        print(new StackTraceElement("loader", "module", null, "Lines", "main", "Lines.java", 7));
        print(new StackTraceElement(null, "module", "1.2", "Lines", "main", "Lines.java", 7));
        var traces = new ArrayList<StackTraceElement>();
        try {
            List.of(3, 2, 1).stream().map(i -> Lines.class.getDeclaredMethods()[-i]).sorted().toList();
        } catch (ArrayIndexOutOfBoundsException e) {
            traces.addAll(List.of(e.getStackTrace()));
        }
        Thread.getAllStackTraces().values().forEach(trace -> traces.addAll(List.of(trace)));
        traces.forEach(Lines::print);
        print("exception", new IllegalStateException("out of\tcheese\n"), "out of\\tcheese\\n");
        print("exception without a message", new IllegalStateException(), "");
        print("thread", new Thread("not started"), "not started");
        print("method", Lines.class.getDeclaredMethod("main", String[].class), "Lines.main");
        print("field", Lines.class.getDeclaredField("all"), "Lines.all");
        print("optional", Optional.of("what it holds"), "what it holds");
        print("optional number", Optional.of(12), "12");
        print("optional date", Optional.of(LocalDate.of(2026, 2, 3)), "2026-02-03");
        print("nothing", Optional.empty(), "Optional.empty");
        print("an empty text", Optional.of(""), "");
        print("int", OptionalInt.of(-7), "-7");
        print("no int", OptionalInt.empty(), "OptionalInt.empty");
        print("long", OptionalLong.of(1L << 40), "1099511627776");
        print("no long", OptionalLong.empty(), "OptionalLong.empty");
        print("double", OptionalDouble.of(2.5), "2.5");
        print("no double", OptionalDouble.empty(), "OptionalDouble.empty");
        // The bytes of the other one are those of the string, which has the text.
        print("path", Path.of("/etc").resolve("hosts"), "/etc/hosts");
        print("path with the bytes of a string", Path.of("/etc/services"), "");
        Path path = Path.of("/var/log/messages");
        print("path that was printed", path, path.toString());
        print("sql.Date", new java.sql.Date(1_795_231_770_500L), "2026-11-21T03:29:30.500Z");
        print("sql.Time", new java.sql.Time(1_000L), "1970-01-01T00:00:01Z");
        print("true", new AtomicReference<>(new AtomicBoolean(true)), "true");
        print("false", new AtomicReference<>(new AtomicBoolean()), "false");
        print("builder", new AtomicReference<>(new StringBuilder("what it has").append(' ')), "what it has ");
        print("wide builder", new AtomicReference<>(new StringBuilder("αβγ").append(7)), "αβγ7");
        print("buffer", new AtomicReference<>(new StringBuffer("what it hü")), "what it hü");
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
