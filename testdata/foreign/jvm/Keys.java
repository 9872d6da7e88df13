import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.util.*;

/**
 * Maps with keys of many classes; prints the name of each map, and what it holds: keys as people type them, each with its
 * value, `Missing` or `Unknown`.
 */
public class Keys {
    record Case(String name, Object held) {}

    record Own(String name) {}

    enum Color { RED, GREEN, BLUE }

    static final List<Case> all = new ArrayList<>();

    static void tell(String name, Map<?, ?> map, Object... answers) {
        all.add(new Case(name, map));
        var line = new StringBuilder(name);
        for (int i = 0; i < answers.length; i += 2) {
            line.append("\t.[").append(answers[i]).append("]\t").append(answers[i + 1]);
        }
        System.out.println(line);
    }

    public static void main(String[] args) throws Exception {
        Map<Object, Object> large = new LinkedHashMap<>();
        large.put(9007199254740992.0, "double");
        large.put(9007199254740993L, "long");
        large.put(9007199254740994L, "next");
        tell("large", large,
            "9007199254740993", large.get(9007199254740993L), "9007199254740992", large.get(9007199254740992.0),
            "9007199254740995", "Missing");

        Map<Object, Object> decimals = new HashMap<>();
        decimals.put(new BigDecimal("2.5"), "two and a half");
        decimals.put(new BigDecimal("1.10"), "eleven tenths");
        decimals.put(new BigInteger("77"), "seventy-seven");
        decimals.put(new BigInteger("123456789012345678901234567890"), "many");
        decimals.put("text", "a text");
        tell("decimals", decimals,
            "2.5", decimals.get(new BigDecimal("2.5")), "1.10", decimals.get(new BigDecimal("1.10")),
            "77", decimals.get(new BigInteger("77")),
            "123456789012345678901234567890", decimals.get(new BigInteger("123456789012345678901234567890")),
            "123456789012345678901234567891", "Missing", "78", "Missing", "\"2.5\"", "Missing", "\"77\"", "Missing",
            "\"text\"", "a text");

        Map<Object, Object> equal = new HashMap<>();
        equal.put(new BigDecimal("1.1"), "one digit");
        equal.put(new BigDecimal("1.10"), "two digits");
        tell("equal", equal, "1.1", "Unknown", "1.2", "Missing");

        Map<Object, Object> others = new HashMap<>();
        UUID id = UUID.fromString("12345678-9abc-def0-8123-456789abcdef");
        others.put(id, "id");
        others.put(Locale.US, "locale");
        others.put(LocalDate.of(2020, 2, 10), "date");
        tell("others", others,
            "\"" + id + "\"", others.get(id), "\"" + Locale.US + "\"", others.get(Locale.US),
            "\"" + LocalDate.of(2020, 2, 10) + "\"", others.get(LocalDate.of(2020, 2, 10)),
            "\"2020-02-11\"", "Missing", "5", "Missing", "null", "Missing");

        Map<Object, Object> own = new HashMap<>();
        own.put(new Own("tenant"), 1);
        own.put("user", 2);
        tell("own", own, "\"user\"", own.get("user"), "\"tenant\"", "Unknown", "7", "Unknown", "null", "Missing",
            "true", "Missing");

        Map<Object, Object> lists = new HashMap<>();
        lists.put(List.of("a", "b"), 1);
        lists.put(new ArrayList<>(List.of("c")), 2);
        tell("lists", lists, "\"a\"", "Missing");

        Map<Object, Object> alike = new LinkedHashMap<>();
        alike.put(Color.RED, "constant");
        alike.put(new java.io.File("/a"), "file");
        alike.put('x', "character");
        alike.put(new StringBuilder("tag"), "builder");
        alike.put("RED", "R");
        alike.put("/a", "A");
        alike.put("x", "X");
        alike.put("tag", "T");
        tell("alike", alike, "\"RED\"", alike.get("RED"), "\"/a\"", alike.get("/a"), "\"x\"", alike.get("x"),
            "\"tag\"", alike.get("tag"));

        Map<String, Object> ordered = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        ordered.put("Host", "h");
        tell("ordered", ordered, "\"Host\"", ordered.get("Host"), "\"host\"", "Unknown");
        tell("around", Collections.unmodifiableMap(ordered), "\"Host\"", ordered.get("Host"), "\"host\"", "Unknown");
        tell("plain", new TreeMap<>(Map.of("Host", "h")), "\"Host\"", "h", "\"host\"", "Missing");

        Map<Object, Object> colors = new EnumMap<>((Class) Color.class);
        colors.put(Color.RED, 1);
        colors.put(Color.BLUE, null);
        tell("colors", colors, "\"RED\"", colors.get(Color.RED), "\"BLUE\"", colors.get(Color.BLUE), "\"GREEN\"", "Missing");

        Map<Object, Object> identical = new IdentityHashMap<>();
        identical.put(null, "of null");
        identical.put("z", null);
        tell("identical", identical, "null", identical.get(null), "\"z\"", identical.get("z"), "\"null\"", "Missing");

        Map<Object, Object> weak = new WeakHashMap<>();
        weak.put(null, "of null");
        weak.put("kept", "x");
        tell("weak", weak, "null", weak.get(null), "\"kept\"", weak.get("kept"));

        Map<Object, Object> freed = new WeakHashMap<>();
        freed.put(new Own("freed"), "of freed");
        freed.put("kept", "y");
        System.gc();
        tell("freed", freed, "null", "Missing", "\"kept\"", "y");

        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
