// Collections that say nowhere how many elements they have: around others, views of maps, chains, bits. Each prints
// what `size()` returns.
import java.util.*;
import java.util.concurrent.*;

public class Sizes {
    enum Day { MON, TUE, WED, THU }

    static class Case {
        String name;
        Object held;
    }

    static final List<Case> ALL = new ArrayList<>();

    static void add(String name, Object held, int size) {
        Case one = new Case();
        one.name = name;
        one.held = held;
        ALL.add(one);
        System.out.println(name + "\t" + size);
    }

    static void add(String name, Collection<?> held) {
        add(name, held, held.size());
    }

    static void add(String name, Map<?, ?> held) {
        add(name, held, held.size());
    }

    static void around() {
        List<Integer> list = new ArrayList<>(Arrays.asList(1, null, 3, null));
        Map<Integer, String> map = seven(new HashMap<>());
        add("unmodifiableList", Collections.unmodifiableList(list));
        add("synchronizedList", Collections.synchronizedList(list));
        add("unmodifiableMap", Collections.unmodifiableMap(map));
        add("synchronizedMap", Collections.synchronizedMap(new TreeMap<>(map)));
        add("checkedList", Collections.checkedList(new LinkedList<>(list), Integer.class));
        List<Integer> fixed = Collections.unmodifiableList(list);
        add("three around", Collections.unmodifiableCollection(Collections.synchronizedCollection(fixed)));
        add("asLifoQueue", Collections.asLifoQueue(new ArrayDeque<>(List.of(1, 2, 3))));
        Set<String> set = Collections.newSetFromMap(new ConcurrentHashMap<>());
        Collections.addAll(set, "a", "b");
        add("newSetFromMap", set);
    }

    static void constant() {
        add("emptyList", Collections.emptyList());
        add("singleton", Collections.singleton(null));
        add("singletonMap", Collections.singletonMap(1, 2));
        add("List.of one", List.of("x"));
        add("List.of two", List.of("x", "y"));
        add("Set.of one", Set.of("x"));
        add("Set.of two", Set.of("x", "y"));
        add("Map.of one", Map.of(1, 2));
        add("EnumSet", EnumSet.of(Day.MON, Day.THU));
        add("EnumSet without", EnumSet.noneOf(Day.class));
    }

    static void concurrent() {
        ConcurrentSkipListMap<Integer, String> skip = new ConcurrentSkipListMap<>();
        for (int i = 0; i < 500; i++) skip.put(i, "s" + i);
        for (int i = 0; i < 100; i++) skip.remove(i * 3);
        add("skip list", skip);
        add("keys of the skip list", skip.keySet());
        add("skip list set", new ConcurrentSkipListSet<>(List.of("p", "q", "r")));
        add("empty skip list", new ConcurrentSkipListMap<Integer, Integer>());
        Queue<Object> queue = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 20; i++) queue.add("q" + i);
        for (int i = 0; i < 5; i++) queue.poll();
        queue.remove("q9");
        add("linked queue", queue);
        add("empty linked queue", new ConcurrentLinkedQueue<>());
        ConcurrentLinkedDeque<Object> deque = new ConcurrentLinkedDeque<>();
        for (int i = 0; i < 20; i++) deque.addFirst("d" + i);
        deque.pollLast();
        deque.pollFirst();
        add("linked deque", deque);
        add("blocking queue", new LinkedBlockingQueue<>(List.of(1, 2, 3)));
        add("blocking deque", new LinkedBlockingDeque<>(List.of(1, 2)));
        LinkedTransferQueue<Object> transfer = new LinkedTransferQueue<>(List.of(1, 2, 3, 4));
        transfer.poll();
        add("transfer queue", transfer);
    }

    static void views() {
        Map<Integer, String> map = seven(new HashMap<>());
        add("keys", map.keySet());
        add("values", map.values());
        add("entries", map.entrySet());
        TreeMap<Integer, String> tree = new TreeMap<>(map);
        add("keys of a tree", tree.navigableKeySet());
        add("entries of a tree", tree.entrySet());
        add("tail of a tree", tree.tailMap(3));
        add("keys of a concurrent map", new ConcurrentHashMap<>(map).keySet());
        add("values of a concurrent map", new ConcurrentHashMap<>(map).values());
        add("keys of a linked map", new LinkedHashMap<>(map).keySet());
        add("keys of a weak map", seven(new WeakHashMap<>()).keySet());
    }

    static Map<Integer, String> seven(Map<Integer, String> map) {
        for (int i = 0; i < 7; i++) map.put(i, "v" + i);
        return map;
    }

    public static void main(String[] arguments) throws Exception {
        around();
        constant();
        concurrent();
        views();
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
