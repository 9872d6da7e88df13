//! Places in which questions are answered. Slow questions move out of the places of fast ones.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use barrow_query::Watcher;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::reporter::Reporter;

/// Maximum number of concurrent questions that have not taken long yet; others wait. A page asks a few at a time, and
/// more share the same processors.
const MOST_NEW: usize = 16;
/// Maximum number of concurrent slow questions; others wait. Each may hold a heap in memory.
const MOST_LONG: usize = 16;
/// The sum of both.
pub(crate) const MOST_QUESTIONS: usize = MOST_NEW + MOST_LONG;
/// A question that takes longer is slow. Most are answered sooner once the index of their file exists.
const LONG: Duration = Duration::from_millis(500);

/// The kind of a question, which predicts its duration: the verb, and the file.
pub(crate) type Kind = (usize, &'static str);

/// The places of a server.
#[derive(Clone)]
pub(crate) struct QuestionSlots {
    new: Arc<Semaphore>,
    long: Arc<Semaphore>,
    /// Kinds whose last question was slow: further ones wait for the places of these at once.
    long_kinds: Arc<Mutex<HashSet<Kind>>>,
}

/// A place, until it is dropped.
pub(crate) struct QuestionSlot {
    #[expect(dead_code, reason = "the place is free when it is dropped")]
    permit: Arc<Mutex<OwnedSemaphorePermit>>,
}

impl QuestionSlots {
    pub(crate) fn new() -> Self {
        let [new, long] = [MOST_NEW, MOST_LONG].map(|most| Arc::new(Semaphore::new(most)));
        QuestionSlots { new, long, long_kinds: Arc::default() }
    }

    /// Waits for a place, and reports that; `None` if the request was abandoned.
    pub(crate) async fn take(&self, kind: Kind, reporter: &Reporter) -> Option<QuestionSlot> {
        if let Ok(permit) = Arc::clone(self.places_of(kind)).try_acquire_owned() {
            return Some(self.watched(kind, permit));
        }
        reporter.begin("waiting until other questions are answered", 0, "");
        loop {
            let places = self.places_of(kind);
            let permit = Arc::clone(places).acquire_owned().await.ok()?;
            if reporter.is_stopped() {
                return None;
            }
            // The kind may have become known as slow meanwhile.
            if Arc::ptr_eq(places, self.places_of(kind)) {
                return Some(self.watched(kind, permit));
            }
        }
    }

    fn places_of(&self, kind: Kind) -> &Arc<Semaphore> {
        if self.long_kinds.lock().contains(&kind) { &self.long } else { &self.new }
    }

    /// A place whose question moves to another one if it is slow.
    fn watched(&self, kind: Kind, permit: OwnedSemaphorePermit) -> QuestionSlot {
        let permit = Arc::new(Mutex::new(permit));
        let (places, place) = (self.clone(), Arc::downgrade(&permit));
        tokio::spawn(async move {
            tokio::time::sleep(LONG).await;
            let Some(held) = place.upgrade() else {
                places.long_kinds.lock().remove(&kind);
                return;
            };
            places.long_kinds.lock().insert(kind);
            if Arc::ptr_eq(held.lock().semaphore(), &places.long) {
                return;
            }
            // The question may end while it waits for the other place.
            drop(held);
            let Ok(permit) = Arc::clone(&places.long).acquire_owned().await else { return };
            if let Some(place) = place.upgrade() {
                *place.lock() = permit;
            }
        });
        QuestionSlot { permit }
    }
}
