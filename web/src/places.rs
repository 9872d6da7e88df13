//! Places in which questions are answered. Those that take long leave the places of those that do not.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use barrow_query::Watcher;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::reporter::Reporter;

/// Questions that are answered at a time and have not taken long yet; others wait.
const MOST_NEW: usize = 16;
/// Questions that are answered at a time and take long; others wait.
const MOST_LONG: usize = 16;
/// All of them.
pub(crate) const MOST_QUESTIONS: usize = MOST_NEW + MOST_LONG;
/// A question that has taken this time takes long. Most are answered sooner once the index of their file exists.
const LONG: Duration = Duration::from_millis(500);

/// Which questions take about as long as each other: those of one verb about one file.
pub(crate) type Kind = (usize, &'static str);

/// The places of a server.
#[derive(Clone)]
pub(crate) struct Places {
    new: Arc<Semaphore>,
    long: Arc<Semaphore>,
    /// Kinds of which the last question took long: further ones wait for the places of these at once.
    long_kinds: Arc<Mutex<HashSet<Kind>>>,
}

/// A place, until it is dropped.
pub(crate) struct Place {
    #[expect(dead_code, reason = "the place is free when it is dropped")]
    permit: Arc<Mutex<OwnedSemaphorePermit>>,
}

impl Places {
    pub(crate) fn new() -> Self {
        let [new, long] = [MOST_NEW, MOST_LONG].map(|most| Arc::new(Semaphore::new(most)));
        Places { new, long, long_kinds: Arc::default() }
    }

    /// Waits for a place, and tells so; `None` if nobody waits for the answer any more.
    pub(crate) async fn take(&self, kind: Kind, reporter: &Reporter) -> Option<Place> {
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
            // What takes long may have become known meanwhile.
            if Arc::ptr_eq(places, self.places_of(kind)) {
                return Some(self.watched(kind, permit));
            }
        }
    }

    fn places_of(&self, kind: Kind) -> &Arc<Semaphore> {
        if self.long_kinds().contains(&kind) { &self.long } else { &self.new }
    }

    fn long_kinds(&self) -> MutexGuard<'_, HashSet<Kind>> {
        self.long_kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place whose question moves to another if it takes long.
    fn watched(&self, kind: Kind, permit: OwnedSemaphorePermit) -> Place {
        let permit = Arc::new(Mutex::new(permit));
        let (places, place) = (self.clone(), Arc::downgrade(&permit));
        tokio::spawn(async move {
            tokio::time::sleep(LONG).await;
            let Some(held) = place.upgrade() else {
                places.long_kinds().remove(&kind);
                return;
            };
            places.long_kinds().insert(kind);
            if Arc::ptr_eq(lock(&held).semaphore(), &places.long) {
                return;
            }
            // The question may end while it waits for the other place.
            drop(held);
            let Ok(permit) = Arc::clone(&places.long).acquire_owned().await else { return };
            if let Some(place) = place.upgrade() {
                *lock(&place) = permit;
            }
        });
        Place { permit }
    }
}

fn lock(permit: &Mutex<OwnedSemaphorePermit>) -> MutexGuard<'_, OwnedSemaphorePermit> {
    permit.lock().unwrap_or_else(PoisonError::into_inner)
}
