import java.math.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;

/** Objects with numbers and dates; prints questions about them, each with the answer of the runtime itself. */
public class Values {
    static class Case {
        BigDecimal amount;
        BigInteger count;
        Object boxed;
        double real;
        LocalDate day;
        LocalDateTime local;
        LocalTime clock;
        Instant instant;
        ZonedDateTime zoned;
        OffsetDateTime offset;
        Date date;
        Calendar calendar;
        Optional<BigDecimal> maybe;
        Class<?> kind;
        Class<?> basic;
        Map<Object, String> names;
    }

    static final ArrayList<Case> all = new ArrayList<>();

    static void count(String test, Predicate<Case> holds) {
        System.out.println("count\t" + test + "\t" + all.stream().filter(holds).count());
    }

    /** Counts with each operator the cases whose value compares so with a typed one. */
    static <T> void compare(String field, String typed, Function<Case, T> value, ToIntFunction<T> order) {
        Map<String, IntPredicate> operators = new TreeMap<>(Map.of("=", o -> o == 0, "!=", o -> o != 0, "<", o -> o < 0,
            "<=", o -> o <= 0, ">", o -> o > 0, ">=", o -> o >= 0));
        operators.forEach((operator, holds) -> count("." + field + " " + operator + " " + typed,
            c -> value.apply(c) != null && holds.test(order.applyAsInt(value.apply(c)))));
    }

    static void amounts(String typed, BigDecimal number) {
        compare("amount", typed, c -> c.amount, amount -> amount.compareTo(number));
    }

    static void counts(String typed) {
        compare("count", typed, c -> c.count, count -> count.compareTo(new BigInteger(typed)));
    }

    static void instants(String typed, Instant first, Instant last) {
        ToIntFunction<Instant> order = time -> time.isBefore(first) ? -1 : time.isAfter(last) ? 1 : 0;
        compare("instant", typed, c -> c.instant, order);
        compare("zoned", typed, c -> c.zoned == null ? null : c.zoned.toInstant(), order);
        compare("offset", typed, c -> c.offset == null ? null : c.offset.toInstant(), order);
        compare("date", typed, c -> c.date == null ? null : c.date.toInstant(), order);
        // Whether its time was computed is not public, but cloning and asking the clone says what it would be.
        compare("calendar", typed, c -> c.calendar == null || isStale(c.calendar) ? null : c.calendar.toInstant(), order);
    }

    static final Set<Calendar> stale = Collections.newSetFromMap(new IdentityHashMap<>());

    static boolean isStale(Calendar calendar) {
        return stale.contains(calendar);
    }

    static void fill(Random random, Case c, int i) {
        // Few digits, so that many are equal; others only with digits that no binary number has.
        c.amount = switch (i % 5) {
            case 0 -> null;
            case 1 -> new BigDecimal(BigInteger.valueOf(random.nextInt(20, 30)), 1).setScale(1 + random.nextInt(4));
            case 2 -> BigDecimal.valueOf(random.nextInt(-90_000, 90_000), 2);
            case 3 -> new BigDecimal(new BigInteger(random.nextInt(120), random), random.nextInt(20, 40));
            default -> new BigDecimal(random.nextInt(3) + "." + "0".repeat(random.nextInt(30)) + "1");
        };
        c.count = switch (i % 4) {
            case 0 -> null;
            case 1 -> new BigInteger(random.nextInt(300), random);
            case 2 -> BigInteger.valueOf(random.nextInt(-5, 5));
            default -> BigInteger.ONE.shiftLeft(32 * random.nextInt(1, 5)).subtract(BigInteger.ONE).negate();
        };
        int small = random.nextInt(-100, 100);
        c.boxed = switch (i % 9) {
            case 0 -> small;
            case 1 -> (long) small;
            case 2 -> (short) small;
            case 3 -> (byte) small;
            case 4 -> small / 4.0;
            case 5 -> small / 4f;
            case 6 -> new AtomicInteger(small);
            case 7 -> new AtomicLong(small);
            default -> new BigDecimal(small).divide(new BigDecimal(4));
        };
        c.real = random.nextInt(20) / 10.0;
        long second = Instant.parse("2020-02-01T00:00:00Z").getEpochSecond() + random.nextInt(20 * 24) * 3600L;
        c.instant = Instant.ofEpochSecond(second, random.nextInt(2) * random.nextInt(1_000_000_000));
        c.local = LocalDateTime.ofInstant(c.instant, ZoneOffset.UTC);
        c.day = i % 50 == 0 ? LocalDate.MAX : i % 51 == 0 ? LocalDate.MIN : c.local.toLocalDate();
        c.clock = c.local.toLocalTime();
        c.zoned = c.instant.atZone(ZoneId.of(i % 2 == 0 ? "Asia/Kolkata" : "America/New_York"));
        c.offset = c.instant.atOffset(ZoneOffset.ofHours(random.nextInt(-12, 13)));
        c.date = i % 3 == 0 ? java.sql.Timestamp.from(c.instant) : Date.from(c.instant);
        c.calendar = GregorianCalendar.from(c.zoned);
        c.calendar.getTime();
        if (i % 7 == 0) {
            c.calendar.set(Calendar.HOUR_OF_DAY, 5);
            stale.add(c.calendar);
        }
        c.maybe = Optional.ofNullable(c.amount);
        c.kind = i % 4 == 0 ? null : i % 4 == 1 ? String.class : i % 4 == 2 ? Case.class : int[].class;
        c.basic = i % 2 == 0 ? int.class : String.class;
        c.names = i % 2 == 0 ? Map.of(String.class, "text", new BigDecimal("2.50"), "few") : Map.of(Case.class, "case");
    }

    public static void main(String[] arguments) throws Exception {
        var random = new Random(7);
        for (int i = 0; i < 600; i++) {
            var c = new Case();
            fill(random, c, i);
            all.add(c);
        }
        // The dump does not say which primitive type a class is of.
        count(".basic = java.lang.String", c -> c.basic == String.class);
        count(".basic = int", c -> false);
        count("not .basic = int", c -> c.basic == String.class);
        count(".kind = java.lang.String", c -> c.kind == String.class);
        count(".kind ~ *Case", c -> c.kind == Case.class);
        count("not .kind = \"Values$Case\"", c -> c.kind != Case.class);
        count(".kind != java.lang.String", c -> c.kind != null && c.kind != String.class);
        count(".names[\"java.lang.String\"] = text", c -> "text".equals(c.names.get(String.class)));
        count(".names[\"Values$Case\"] = case", c -> "case".equals(c.names.get(Case.class)));
        count(".names[2.5] = few", c -> "few".equals(c.names.get(new BigDecimal("2.50"))));
        count(".names[\"2.50\"] = few", c -> "few".equals(c.names.get("2.50")));
        amounts("2.5", new BigDecimal("2.5"));
        amounts("412.50", new BigDecimal("412.50"));
        amounts("0.1", new BigDecimal("0.1"));
        amounts("1.0000000000000000000000001", new BigDecimal("1.0000000000000000000000001"));
        amounts("-3", new BigDecimal(-3));
        amounts("1e3", new BigDecimal(1000));
        counts("0");
        counts("-4294967295");
        counts("-18446744073709551615");
        counts("100000000000000000000000000000");
        ToDoubleFunction<Object> real = o -> ((Number) o).doubleValue();
        compare("boxed", "7", c -> c.boxed, o -> Double.compare(real.applyAsDouble(o), 7));
        compare("boxed", "-2.25", c -> c.boxed, o -> Double.compare(real.applyAsDouble(o), -2.25));
        count(".boxed in -10..10.5", c -> Math.abs(real.applyAsDouble(c.boxed) - 0.25) <= 10.25);
        compare("real", "0.3", c -> c.real, o -> Double.compare(o, 0.3));
        count(".maybe > 100", c -> c.amount != null && c.amount.compareTo(new BigDecimal(100)) > 0);
        count("not (.amount > 100)", c -> c.amount == null || c.amount.compareTo(new BigDecimal(100)) <= 0);
        var tenth = LocalDate.parse("2020-02-10");
        compare("day", "2020-02-10", c -> c.day, day -> day.compareTo(tenth));
        count(".day in 2020-02-05..2020-02-10", c -> !c.day.isBefore(LocalDate.parse("2020-02-05")) && !c.day.isAfter(tenth));
        compare("local", "2020-02-10", c -> c.local, time -> time.toLocalDate().compareTo(tenth));
        var noon = LocalDateTime.parse("2020-02-10T12:00");
        compare("local", "2020-02-10T12:00", c -> c.local, time -> time.compareTo(noon));
        compare("clock", "12:00", c -> c.clock, time -> time.compareTo(LocalTime.NOON));
        count(".local >= 2020-02-10T12:00Z", c -> false);
        var start = Instant.parse("2020-02-10T00:00:00Z");
        instants("2020-02-10", start, start.plusSeconds(86_400).minusNanos(1));
        var time = start.plusSeconds(12 * 3600);
        instants("2020-02-10T12:00", time, time);
        compare("zoned", "2020-02-10T13:30+01:30", c -> c.zoned, zoned -> zoned.toInstant().compareTo(time));
        for (var field : Map.<String, Function<Case, BigDecimal>>of("amount", c -> c.amount,
            "count", c -> c.count == null ? null : new BigDecimal(c.count)).entrySet()) {
            var values = all.stream().map(field.getValue()).filter(Objects::nonNull).toList();
            var sum = values.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
            System.out.println("sum\t." + field.getKey() + "\t" + sum.stripTrailingZeros().toPlainString());
            System.out.println("min\t." + field.getKey() + "\t" + Collections.min(values).stripTrailingZeros().toPlainString());
            System.out.println("max\t." + field.getKey() + "\t" + Collections.max(values).stripTrailingZeros().toPlainString());
        }
        var days = new TreeMap<String, Integer>();
        all.forEach(c -> days.merge(c.day.toString(), 1, Integer::sum));
        days.forEach((day, number) -> System.out.println("group\t.day\t" + day + "\t" + number));
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
