// A freight company's quotes with a leak, for docs/guides/leaks.md: has its heap dumped after each hour of business.
//
//     javac Quotes.java
//     java -XX:+UseSerialGC -Xshare:off -Xmx32m Quotes          quotes-1.hprof to quotes-5.hprof
//     java -XX:+UseSerialGC -Xshare:off -Xmx32m Quotes fixed    fixed-1.hprof to fixed-5.hprof, without the leak

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

public class Quotes {
    /** From where to where. */
    static class Route {
        final int from;
        final int to;

        Route(int from, int to) {
            this.from = from;
            this.to = to;
        }
    }

    /** A route as a key should be. */
    static final class ComparedRoute extends Route {
        ComparedRoute(int from, int to) {
            super(from, to);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof ComparedRoute route && route.from == from && route.to == to;
        }

        @Override
        public int hashCode() {
            return Objects.hash(from, to);
        }
    }

    /** What it costs to carry something there, by weight. */
    static class Quote {
        final String label;
        final List<Long> cents = new ArrayList<>();

        Quote(Route route) {
            label = "from " + route.from + " to " + route.to;
            for (int weight = 0; weight < 12; weight++) cents.add(1000L * weight + 10L * route.from + route.to);
        }
    }

    /** Who asked last; the oldest are forgotten. */
    final Deque<String> recent = new ArrayDeque<>();
    final Map<Integer, String> ports = new HashMap<>();
    final Map<Route, Quote> known = new HashMap<>();

    Quote quote(Route route) {
        // A cache: it grows in the beginning, and then no more.
        for (int port : new int[] {route.from, route.to}) {
            ports.computeIfAbsent(port, number -> "port " + number + ", " + "x".repeat(200));
        }
        recent.addLast("customer for " + route.to);
        if (recent.size() > 100) recent.removeFirst();
        return known.computeIfAbsent(route, Quote::new);
    }

    static Quotes quotes = new Quotes();

    public static void main(String[] arguments) throws Exception {
        boolean fixed = arguments.length > 0;
        String name = fixed ? "fixed" : "quotes";
        Random random = new Random(1);
        for (int hour = 1; hour <= 5; hour++) {
            for (int asked = 0; asked < 150; asked++) {
                int from = random.nextInt(8), to = random.nextInt(8);
                quotes.quote(fixed ? new ComparedRoute(from, to) : new Route(from, to));
            }
            String pid = Long.toString(ProcessHandle.current().pid());
            String file = Path.of(name + "-" + hour + ".hprof").toAbsolutePath().toString();
            new ProcessBuilder("jcmd", pid, "GC.heap_dump", file).start().waitFor();
        }
    }
}
