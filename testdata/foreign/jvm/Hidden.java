import java.math.BigDecimal;
import java.util.*;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Classes derived from those of the JDK, with fields of the same names; prints the name of each object, and what it
 * holds: questions, each with its answer.
 */
public class Hidden {
    record Case(String name, Object held) {}

    static class Recent extends LinkedHashMap<String, Integer> {
        private final int size;
        private final String head = "head", tail = "tail";

        Recent(int size) {
            this.size = size;
        }
    }

    static class Row extends ArrayList<String> {
        int size = 5;
        Object elementData = "data";
    }

    static class Table extends HashMap<String, Integer> {
        Object[] table = {"a", "b"};
        int size = 99;
    }

    static class Deeper extends Table {
        Object table = "shadow";
    }

    static class Tree extends TreeMap<String, Integer> {
        Object root = "root";
        int size = -1;
    }

    static class Names extends TreeSet<String> {
        Object m = "m";
    }

    static class Day extends Date {
        long fastTime = 5;

        Day(long time) {
            super(time);
        }
    }

    static class Amount extends BigDecimal {
        int scale = 7;
        long intCompact = 1;

        Amount(String digits) {
            super(digits);
        }
    }

    static class Counter extends AtomicLong {
        long value = 3;

        Counter(long start) {
            super(start);
        }
    }

    static class Worker extends Thread {
        String name = "mine";

        Worker(String name) {
            super(name);
        }
    }

    enum Planet {
        EARTH("the earth");

        final String name;

        Planet(String name) {
            this.name = name;
        }
    }

    static final List<Case> all = new ArrayList<>();

    static void tell(String name, Object held, Object... answers) {
        all.add(new Case(name, held));
        var line = new StringBuilder(name);
        for (Object word : answers) {
            line.append('\t').append(word);
        }
        System.out.println(line);
    }

    static void map(String name, Map<String, Integer> map) {
        for (int i = 0; i < 20; i++) {
            map.put("k" + i * i, i);
        }
        tell(name, map, "elements", map.size(), ".[\"k49\"]", map.get("k49"), ".[\"k50\"]", "Missing");
    }

    public static void main(String[] args) throws Exception {
        map("recent", new Recent(100));
        map("table", new Table());
        map("deeper", new Deeper());
        map("tree", new Tree());
        var row = new Row();
        for (int i = 0; i < 12; i++) {
            row.add("e" + i);
        }
        tell("row", row, "elements", row.size(), "entries", row.size(), ".size", row.size);
        var names = new Names();
        names.addAll(List.of("a", "b", "c"));
        tell("names", names, "elements", names.size(), "entries", names.size());
        var day = new Day(1_581_292_800_000L);
        tell("day", day, "line", day.toInstant());
        var amount = new Amount("12.5");
        tell("amount", amount, "line", amount);
        var counter = new Counter(1L << 60);
        tell("counter", counter, "value", counter.get(), ".value", counter.value);
        tell("worker", new Worker("worker 1"), "line", "worker 1", ".name", "mine");
        tell("planet", Planet.EARTH, "value", Planet.EARTH.name(), ".name", Planet.EARTH.name);
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
