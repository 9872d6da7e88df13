// The sessions of a shop, with a leak, for docs/guides/sessions.md: has its heap dumped after each hour of business.
//
//     javac Storefront.java
//     java -XX:+UseSerialGC -Xshare:off -Xmx32m Storefront          storefront-1.hprof to storefront-8.hprof
//     java -XX:+UseSerialGC -Xshare:off -Xmx32m Storefront fixed    fixed-1.hprof to fixed-8.hprof, without the leak

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

public class Storefront {
    /** A company whose staff shop here. */
    static final class Customer {
        final String name;
        /** Whether its staff log in and out through the company's own server. */
        final boolean usesSingleSignOn;

        Customer(String name, boolean usesSingleSignOn) {
            this.name = name;
            this.usesSingleSignOn = usesSingleSignOn;
        }
    }

    enum State { OPEN, CLOSED }

    /** What the shop remembers of a visitor. */
    static final class Session {
        final long number;
        final Customer customer;
        State state = State.OPEN;
        int requests;
        /** Minutes since the shop opened. */
        int lastSeen;
        /** Set when the visitor pays. */
        String order;
        final List<String> cart = new ArrayList<>();

        Session(long number, Customer customer) {
            this.number = number;
            this.customer = customer;
        }
    }

    final Map<Long, Session> sessions = new HashMap<>();
    long lastNumber;

    Session login(Customer customer) {
        Session session = new Session(++lastNumber, customer);
        sessions.put(session.number, session);
        return session;
    }

    void logout(long number) {
        sessions.remove(number).state = State.CLOSED;
    }

    /** What a company's server calls: it knows the number of a session as text. */
    void logoutBySingleSignOn(String number, boolean fixed) {
        Session session = sessions.get(Long.valueOf(number));
        session.state = State.CLOSED;
        // `remove` takes any object. No key of this map is a String, so it removes nothing.
        if (fixed) sessions.remove(session.number);
        else sessions.remove(number);
    }

    static final Storefront shop = new Storefront();

    public static void main(String[] arguments) throws Exception {
        boolean fixed = arguments.length > 0;
        String[] names = {"Aldermoor", "Bellwether", "Castellan", "Dunmore", "Elmhurst"};
        List<Customer> customers = new ArrayList<>();
        for (String name : names) customers.add(new Customer(name, name.equals("Castellan")));
        Random random = new Random(1);
        List<Session> open = new ArrayList<>();
        for (int minute = 1; minute <= 8 * 60; minute++) {
            for (int visitor = 0; visitor < 5; visitor++) open.add(shop.login(customers.get(visitor)));
            for (Session session : open) {
                session.requests++;
                session.lastSeen = minute;
                session.cart.add("article " + random.nextInt(1000));
            }
            for (int visitor = open.size() - 1; visitor >= 0; visitor--) {
                if (random.nextInt(4) > 0) continue;
                Session session = open.remove(visitor);
                if (random.nextBoolean()) session.order = "order " + session.number;
                if (session.customer.usesSingleSignOn) shop.logoutBySingleSignOn(Long.toString(session.number), fixed);
                else shop.logout(session.number);
            }
            if (minute % 60 == 0) dump((fixed ? "fixed-" : "storefront-") + minute / 60);
        }
    }

    static void dump(String name) throws Exception {
        String pid = Long.toString(ProcessHandle.current().pid());
        String file = Path.of(name + ".hprof").toAbsolutePath().toString();
        new ProcessBuilder("jcmd", pid, "GC.heap_dump", file).start().waitFor();
    }
}
