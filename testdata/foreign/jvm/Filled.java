import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;

/** Collections of classes of its own; prints what they hold: class, objects, empty ones, those of one, elements, shared slots. */
public class Filled {
    static class List extends ArrayList<Object> {}
    static class Ring extends ArrayDeque<Object> {}
    static class Table extends HashMap<Object, Object> {}
    static class Shared extends ConcurrentHashMap<Object, Object> {}
    static class Ordered extends TreeMap<Object, Object> {}
    static class Set extends LinkedHashSet<Object> {}
    static class Heap extends PriorityQueue<Object> {}
    static class Old extends Vector<Object> {}

    /** Its hash code tells in which slot of a table it is. */
    record Key(int number) implements Comparable<Key> {
        public int hashCode() {
            return number % 50;
        }

        public int compareTo(Key other) {
            return Integer.compare(number, other.number);
        }
    }

    static final Random random = new Random(24);
    static final ArrayList<Object> all = new ArrayList<>();

    static int elements() {
        return random.nextInt(3) == 0 ? random.nextInt(2) : random.nextInt(200);
    }

    interface Make<T> {
        T make();
    }

    /** The slots of a table of so many keys, by the documented rule: a power of two, doubled when it is three quarters full. */
    static int shared(Collection<Integer> keys, int slots) {
        var used = new java.util.HashSet<Integer>();
        keys.forEach(key -> used.add((key % 50) & (slots - 1)));
        return keys.size() - used.size();
    }

    static int slots(int elements) {
        int slots = 16;
        while (elements > slots * 3 / 4) {
            slots *= 2;
        }
        return slots;
    }

    static void print(String name, int[] sizes, long shared) {
        int empty = 0, single = 0, sum = 0;
        for (int size : sizes) {
            empty += size == 0 ? 1 : 0;
            single += size == 1 ? 1 : 0;
            sum += size;
        }
        System.out.println("Filled$" + name + " " + sizes.length + " " + empty + " " + single + " " + sum + " " + shared);
    }

    static <T extends Collection<Object>> void collections(String name, Make<T> make) {
        int[] sizes = new int[200];
        for (int i = 0; i < sizes.length; i++) {
            T one = make.make();
            for (int k = elements(); k > 0; k--) {
                one.add(new Key(k));
            }
            if (one instanceof Ring ring) {
                // Head and tail are anywhere, and the elements may go around the end.
                for (int k = random.nextInt(150); k > 0; k--) {
                    ring.addLast(new Key(k));
                    if (random.nextInt(4) > 0) {
                        ring.pollFirst();
                    }
                }
            }
            sizes[i] = one.size();
            all.add(one);
        }
        print(name, sizes, -1);
    }

    static <T extends Map<Object, Object>> void maps(String name, Make<T> make, boolean isHashed) {
        int[] sizes = new int[200];
        long shared = 0;
        for (int i = 0; i < sizes.length; i++) {
            T one = make.make();
            // Few enough that no slot becomes a tree and makes the table grow early.
            ArrayList<Integer> keys = new ArrayList<>();
            for (int k = elements(); k > 0; k--) {
                keys.add(k);
                one.put(new Key(k), "value");
            }
            sizes[i] = one.size();
            shared += keys.isEmpty() ? 0 : shared(keys, slots(keys.size()));
            all.add(one);
        }
        print(name, sizes, isHashed ? shared : -1);
    }

    public static void main(String[] arguments) throws Exception {
        collections("List", List::new);
        collections("Ring", Ring::new);
        collections("Set", Set::new);
        collections("Heap", Heap::new);
        collections("Old", Old::new);
        maps("Table", Table::new, true);
        maps("Shared", Shared::new, true);
        maps("Ordered", Ordered::new, false);
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
