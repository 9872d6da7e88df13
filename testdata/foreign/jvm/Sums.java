import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** Orders with numbers and days; prints their sums, the first and the last day. */
public class Sums {
    static class Order {
        final float part;
        final double tenth = 0.1;
        final double quarters;
        final LocalDate day;

        Order(Random random) {
            part = 0.1f * (1 + random.nextInt(1000));
            quarters = random.nextInt(1000) / 4.0;
            day = LocalDate.of(2020, 1, 1).plusDays(random.nextInt(2000) - 1000);
        }
    }

    static final List<Order> all = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(31);
        double parts = 0;
        double quarters = 0;
        BigDecimal tenths = BigDecimal.ZERO;
        LocalDate first = LocalDate.MAX;
        LocalDate last = LocalDate.MIN;
        for (int at = 0; at < 1000; at++) {
            Order order = new Order(random);
            all.add(order);
            // 24 bits of each and 10 for their number: nothing is rounded.
            parts += order.part;
            quarters += order.quarters;
            tenths = tenths.add(new BigDecimal(order.tenth));
            first = order.day.isBefore(first) ? order.day : first;
            last = order.day.isAfter(last) ? order.day : last;
        }
        System.out.println("parts " + parts);
        System.out.println("quarters " + quarters);
        System.out.println("tenths " + tenths.doubleValue());
        System.out.println("days " + first + " " + last);
        System.out.println("ready");
        new CountDownLatch(1).await();
    }
}
