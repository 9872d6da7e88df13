//! A shop that serves customers on several threads, and forgets nothing that it should forget: every order
//! stays in a journal that is never read.
//!
//! ```sh
//! BARROW_OUT=orders.barrow RUSTFLAGS="-C force-frame-pointers=yes" cargo run --release -p barrow-alloc \
//!     --features record --example orders
//! ```

use std::alloc::System;
use std::collections::HashMap;
use std::sync::Mutex;

#[global_allocator]
static ALLOC: barrow_alloc::Recorder<System> = barrow_alloc::Recorder::system();

/// What a customer ordered.
struct Order {
    /// Who ordered.
    customer: String,
    /// What, and how many.
    lines: Vec<(String, u32)>,
}

/// The shop.
#[derive(Default)]
struct Shop {
    /// Prices, looked up once and then kept: this fills up and stays as it is.
    prices: Mutex<HashMap<String, u64>>,
    /// Every order that was served: this is the leak.
    journal: Mutex<Vec<Order>>,
}

impl Shop {
    /// Serves one customer. Returns the price.
    #[inline(never)]
    fn serve(&self, customer: u32) -> u64 {
        let order = read_order(customer);
        let total = order.lines.iter().map(|(article, count)| self.price(article) * u64::from(*count)).sum();
        self.remember(order);
        total
    }

    #[inline(never)]
    fn price(&self, article: &str) -> u64 {
        let mut prices = self.prices.lock().expect("no customer panics");
        *prices.entry(article.to_owned()).or_insert(article.len() as u64 * 99)
    }

    /// Should have kept the total only.
    #[inline(never)]
    fn remember(&self, order: Order) {
        self.journal.lock().expect("no customer panics").push(order);
    }
}

#[inline(never)]
fn read_order(customer: u32) -> Order {
    let article = |n: u32| (format!("article {}", (customer * 7 + n) % 500), 1 + n % 3);
    Order { customer: format!("customer {customer}"), lines: (0..4).map(article).collect() }
}

/// One hour of business: four counters, each with its own thread.
fn business_hour(shop: &Shop, hour: u32) -> u64 {
    std::thread::scope(|scope| {
        let counter = |counter: u32| {
            scope.spawn(move || (0..250).map(|n| shop.serve(hour * 1000 + counter * 250 + n)).sum::<u64>())
        };
        let counters: Vec<_> = (0..4).map(counter).collect();
        counters.into_iter().map(|counter| counter.join().expect("no customer panics")).sum()
    })
}

fn main() -> Result<(), barrow_alloc::RecordError> {
    let shop = Shop::default();
    let mut earned = 0;
    for hour in 1..=8 {
        earned += business_hour(&shop, hour);
        barrow_alloc::snapshot(&format!("hour {hour}"))?;
    }
    let journal = shop.journal.lock().expect("no customer panics");
    let longest = journal.iter().map(|order| order.customer.len()).max();
    println!("earned {earned}; {} orders remembered, the longest name has {longest:?} letters", journal.len());
    Ok(())
}
