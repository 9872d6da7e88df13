import java.util.*;
import java.util.concurrent.*;

/** Maps, sets and lists; prints what each holds: its name, whether its order counts, and its entries. */
public class Entries {
    record Case(String name, Object held) {}

    static final Random random = new Random(7);
    static final ArrayList<Case> all = new ArrayList<>();
    /** Holds the keys of weak maps. */
    static final ArrayList<Object> keys = new ArrayList<>();

    /** Texts with few different hash codes, so that the slots of a table become trees. */
    static String text(boolean collides) {
        if (!collides) {
            return "text " + random.nextInt(500);
        }
        var text = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            text.append(random.nextBoolean() ? "Aa" : "BB");
        }
        return text.toString();
    }

    static void print(String name, boolean isOrdered, Object held, List<String> entries) {
        all.add(new Case(name, held));
        System.out.println(name + "\t" + isOrdered + "\t" + String.join("\t", entries));
    }

    static void map(String name, boolean isOrdered, Map<?, ?> map) {
        var entries = new ArrayList<String>();
        map.forEach((key, value) -> entries.add(key + "=" + value));
        print(name, isOrdered, map, entries);
    }

    static void set(String name, boolean isOrdered, Collection<?> set) {
        print(name, isOrdered, set, set.stream().map(String::valueOf).toList());
    }

    static void list(String name, Collection<?> list) {
        var entries = new ArrayList<String>();
        int index = 0;
        for (Object element : list) {
            entries.add(index++ + "=" + element);
        }
        print(name, true, list, entries);
    }

    static <M extends Map<Object, Object>> M filled(M map, int size, boolean collides) {
        for (int i = 0; i < size; i++) {
            String key = text(collides);
            keys.add(key);
            map.put(key, random.nextBoolean() ? (Object) random.nextInt() : text(false));
            if (random.nextInt(4) == 0) {
                map.remove(text(collides));
            }
        }
        return map;
    }

    static <C extends Collection<Object>> C filled(C elements, int size) {
        for (int i = 0; i < size; i++) {
            elements.add(text(false));
        }
        return elements;
    }

    /** Elements come at one end and go at the other. */
    static <Q extends Queue<Object>> Q turned(Q queue, int size) {
        filled(queue, size);
        for (int i = 0; i < 3 * size; i++) {
            queue.poll();
            queue.add("turned " + i);
        }
        return queue;
    }

    /** The views of a map; that of its values has the keys, too. */
    static void views(String name, boolean isOrdered, Map<Object, Object> map) {
        set(name + ".keySet", isOrdered, map.keySet());
        set(name + ".entrySet", isOrdered, map.entrySet());
        var entries = new ArrayList<String>();
        map.forEach((key, value) -> entries.add(key + "=" + value));
        print(name + ".values", isOrdered, map.values(), entries);
    }

    /** What is due at once, or never. */
    static class Due extends java.util.concurrent.atomic.AtomicInteger implements Delayed {
        Due(int number) {
            super(number);
        }

        public long getDelay(TimeUnit unit) {
            return get() % 2 == 0 ? 0 : Long.MAX_VALUE;
        }

        public int compareTo(Delayed other) {
            return Integer.compare(get(), ((Due) other).get());
        }
    }

    static Object[] array(int size) {
        return filled(new ArrayList<>(), size).toArray();
    }

    public static void main(String[] arguments) throws Exception {
        for (int size : new int[] {0, 3, 200}) {
            for (boolean collides : new boolean[] {false, true}) {
                map("HashMap", false, filled(new HashMap<>(), size, collides));
                map("LinkedHashMap", true, filled(new LinkedHashMap<>(), size, collides));
                map("Hashtable", false, filled(new Hashtable<>(), size, collides));
                map("ConcurrentHashMap", false, filled(new ConcurrentHashMap<>(), size, collides));
                map("WeakHashMap", false, filled(new WeakHashMap<>(), size, collides));
                map("Properties", false, filled(new Properties(), size, collides));
            }
            map("TreeMap", true, filled(new TreeMap<>(), size, false));
            map("ConcurrentSkipListMap", true, filled(new ConcurrentSkipListMap<>(), size, false));
            map("IdentityHashMap", false, filled(new IdentityHashMap<>(), size, false));
            map("Map.copyOf", false, Map.copyOf(filled(new HashMap<>(), size, false)));
            map("unmodifiableMap", true, Collections.unmodifiableMap(filled(new TreeMap<>(), size, false)));
            map("synchronizedMap", false, Collections.synchronizedMap(filled(new HashMap<>(), size, false)));
            set("HashSet", false, filled(new HashSet<>(), size));
            set("LinkedHashSet", true, filled(new LinkedHashSet<>(), size));
            set("TreeSet", true, filled(new TreeSet<>(), size));
            set("ConcurrentSkipListSet", true, filled(new ConcurrentSkipListSet<>(), size));
            set("newKeySet", false, filled(ConcurrentHashMap.newKeySet(), size));
            set("newSetFromMap", false, filled(Collections.newSetFromMap(new ConcurrentHashMap<>()), size));
            set("unmodifiableSet", false, Collections.unmodifiableSet(filled(new HashSet<>(), size)));
            list("ArrayList", filled(new ArrayList<>(), size));
            list("Vector", filled(new Vector<>(), size));
            list("LinkedList", filled(new LinkedList<>(), size));
            list("CopyOnWriteArrayList", filled(new CopyOnWriteArrayList<>(), size));
            list("CopyOnWriteArraySet", filled(new CopyOnWriteArraySet<>(), size));
            list("Arrays.asList", Arrays.asList(array(size)));
            list("synchronizedList", Collections.synchronizedList(filled(new ArrayList<>(), size)));
            list("ArrayDeque", turned(new ArrayDeque<>(), size));
            list("LinkedBlockingQueue", turned(new LinkedBlockingQueue<>(), size));
            list("LinkedBlockingDeque", turned(new LinkedBlockingDeque<>(), size));
            list("ConcurrentLinkedQueue", turned(new ConcurrentLinkedQueue<>(), size));
            list("ArrayBlockingQueue", turned(new ArrayBlockingQueue<>(size + 3), size));
            list("PriorityQueue", filled(new PriorityQueue<>(), size));
            list("ConcurrentLinkedDeque", turned(new ConcurrentLinkedDeque<>(), size));
            list("LinkedTransferQueue", turned(new LinkedTransferQueue<>(), size));
            list("subList", filled(new ArrayList<>(), size + 5).subList(2, size + 4));
            list("subList of a subList", filled(new ArrayList<>(), size + 5).subList(2, size + 4).subList(1, size + 1));
            list("subList of a Vector", filled(new Vector<>(), size + 5).subList(3, size + 4));
            list("subList of Arrays.asList", Arrays.asList(array(size + 5)).subList(1, 3));
            list("subList of CopyOnWriteArrayList", filled(new CopyOnWriteArrayList<>(), size + 5).subList(1, 3));
            list("subList of List.of", List.of(array(size + 5)).subList(1, size + 3));
            list("PriorityBlockingQueue", filled(new PriorityBlockingQueue<>(), size));
        }
        for (int size : new int[] {0, 3, 20}) {
            list("checkedList", Collections.checkedList(filled(new ArrayList<>(), size), Object.class));
            list("nCopies", Collections.nCopies(size, text(false)));
            list("unmodifiable nCopies", Collections.unmodifiableList(Collections.nCopies(size, text(false))));
            list("checkedQueue", Collections.checkedQueue(filled(new LinkedList<>(), size), Object.class));
            set("checkedSet", false, Collections.checkedSet(filled(new HashSet<>(), size), Object.class));
            set("checkedSortedSet", true, Collections.checkedSortedSet(filled(new TreeSet<>(), size), Object.class));
            map("checkedMap", false, Collections.checkedMap(filled(new HashMap<>(), size, false), Object.class, Object.class));
            map("checkedNavigableMap", true, Collections.checkedNavigableMap(filled(new TreeMap<>(), size, false), Object.class, Object.class));
            views("HashMap", false, filled(new HashMap<>(), size, false));
            views("LinkedHashMap", true, filled(new LinkedHashMap<>(), size, false));
            views("TreeMap", true, filled(new TreeMap<>(), size, false));
            views("Hashtable", false, filled(new Hashtable<>(), size, false));
            views("WeakHashMap", false, filled(new WeakHashMap<>(), size, false));
            views("IdentityHashMap", false, filled(new IdentityHashMap<>(), size, false));
            views("ConcurrentHashMap", false, filled(new ConcurrentHashMap<>(), size, false));
            views("ConcurrentSkipListMap", true, filled(new ConcurrentSkipListMap<>(), size, false));
            set("Map.copyOf.keySet", false, Map.copyOf(filled(new HashMap<>(), size, false)).keySet());
            list("asLifoQueue", Collections.asLifoQueue(filled(new ArrayDeque<>(), size)));
        }
        for (int size : new int[] {1, 2, 3, 7, 100}) {
            var deque = new ConcurrentLinkedDeque<Object>();
            for (int i = 0; i < size; i++) {
                deque.addFirst("first " + i);
                deque.addLast("last " + i);
                if (i % 3 == 2) {
                    deque.pollFirst();
                    deque.pollLast();
                    deque.remove("first " + i / 2);
                }
            }
            list("ConcurrentLinkedDeque at both ends", deque);
        }
        for (int size = 0; size < 4; size++) {
            list("List.of", List.of(array(size)));
            set("Set.of", false, Set.of(keys.subList(0, size).toArray()));
        }
        set("EnumSet", false, EnumSet.of(TimeUnit.DAYS, TimeUnit.NANOSECONDS, TimeUnit.HOURS));
        set("no EnumSet", false, EnumSet.noneOf(TimeUnit.class));
        var gaps = new ArrayList<Object>(Arrays.asList(null, "one", null, "three", null));
        gaps.ensureCapacity(100);
        print("ArrayList with null", true, gaps, List.of("1=one", "3=three"));
        print("unmodifiable list with null", true, Collections.unmodifiableList(gaps), List.of("1=one", "3=three"));
        print("subList with null", true, gaps.subList(1, 4), List.of("0=one", "2=three"));
        set("Set.of", false, Set.of(keys.subList(0, 60).stream().distinct().toArray()));
        list("List.of", List.of(array(9)));
        list("singletonList", Collections.singletonList("alone"));
        map("singletonMap", false, Collections.singletonMap("key", null));
        var enums = new EnumMap<TimeUnit, Object>(TimeUnit.class);
        enums.put(TimeUnit.DAYS, "long");
        enums.put(TimeUnit.NANOSECONDS, 1);
        map("EnumMap", true, enums);
        set("EnumMap.keySet", true, enums.keySet());
        print("EnumMap.values", true, enums.values(), List.of("NANOSECONDS=1", "DAYS=long"));
        set("singleton", false, Collections.singleton("alone"));
        list("emptyList", Collections.emptyList());
        set("emptySet", false, Collections.emptySet());
        map("emptyMap", false, Collections.emptyMap());
        set("singletonMap.keySet", false, Collections.singletonMap("key", 7).keySet());
        var due = new DelayQueue<Due>();
        for (int number = 0; number < 9; number++) {
            due.add(new Due(number));
        }
        list("DelayQueue", due);
        map("TreeMap of numbers", true, new TreeMap<>(Map.of(3, 'c', 1, true, 2, 2.5)));
        Object[] array = array(7);
        array[3] = null;
        print("Object[] with null", true, array, List.of("0=" + array[0], "1=" + array[1], "2=" + array[2], "4=" + array[4], "5=" + array[5], "6=" + array[6]));
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
