import java.util.*;

/** Objects of classes for which a file of rules has lines; prints what each of them says of itself. */
public class OwnLines {
    record Case(String name, Object held) {}

    static class Key {
        final String name;
        final int id;
        Key(String name, int id) { this.name = name; this.id = id; }
        public String toString() { return name + "#" + id; }
    }

    /** It has no rule of its own. */
    static class SubKey extends Key {
        SubKey(String name, int id) { super(name, id); }
    }

    /** It has one. */
    static class NamedKey extends Key {
        final String title;
        NamedKey(String title) { super("unused", 0); this.title = title; }
        public String toString() { return "key " + title; }
    }

    static class Order {
        final long no;
        final Key of;
        final String note;
        Order(long no, Key of, String note) { this.no = no; this.of = of; this.note = note; }
        public String toString() { return "order " + no + " of " + of + (note == null ? "" : " (" + note + ")"); }
    }

    static class Session {
        final Map<String, Object> attributes = new HashMap<>();
        public String toString() { return attributes.get("tenant") + ": " + attributes.get("key"); }
    }

    static class Basket extends ArrayList<Object> {
        public String toString() { return "basket of " + size(); }
    }

    static class Point {
        final double x;
        final boolean isSet;
        Point(double x, boolean isSet) { this.x = x; this.isSet = isSet; }
        public String toString() { return "{" + x + "|" + isSet + "}"; }
    }

    static final ArrayList<Case> all = new ArrayList<>();

    static void print(Object held) {
        String name = held.getClass().getSimpleName() + " " + all.size();
        all.add(new Case(name, held));
        System.out.println(name + "\t" + held);
    }

    public static void main(String[] arguments) throws Exception {
        var random = new Random(4);
        for (int i = 0; i < 60; i++) {
            Key key = new Key(i % 7 == 0 ? null : "key " + i, random.nextInt());
            Key named = new NamedKey("n" + i);
            print(key);
            print(named);
            print(new SubKey("sub " + i, i));
            print(new Order(random.nextLong(), i % 2 == 0 ? key : named, i % 3 == 0 ? null : "note " + i));
            Session session = new Session();
            session.attributes.put("tenant", i % 2 == 0 ? "Umbrella" : "Acme");
            session.attributes.put("key", i % 5 == 0 ? null : key);
            for (int k = 0; k < i; k++) session.attributes.put("other " + k, k);
            print(session);
            Basket basket = new Basket();
            for (int k = 0; k < i; k++) basket.add(key);
            print(basket);
            print(new Point(i / 4.0 + 0.125, i % 2 == 0));
        }
        System.out.println("ready");
        Thread.sleep(1_000_000);
    }
}
