//! The number of connections. If there are too many, the one that has waited longest for a request yields.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Maximum number of connections. A browser has six. Systems allow 256 files and more.
const MOST_CONNECTIONS: usize = 100;
/// One in this many of the files that the process may open is a connection. Questions need the others, and a connection
/// that yields stays open until it has ended.
const FILES: usize = 3;
/// Minimum number of connections for serving a page.
const FEWEST_CONNECTIONS: usize = 6;

/// The connections of a server.
#[derive(Clone)]
pub(crate) struct Connections {
    most: usize,
    open: Arc<Mutex<Vec<Arc<Seat>>>>,
    ended: Arc<Notify>,
}

/// One of them, until it is dropped.
pub(crate) struct Seated {
    seat: Arc<Seat>,
    connections: Connections,
}

struct Seat {
    state: Mutex<State>,
    gives_way: Notify,
}

struct State {
    /// Requests whose responses have not been sent.
    requests: usize,
    /// The time when the last response was sent, or the connection began.
    idle_since: Instant,
}

/// A request being answered: its connection does not yield.
pub(crate) struct Busy(Arc<Seat>);

impl Connections {
    /// No connection yet, with the maximum that the system allows.
    pub(crate) fn new() -> Self {
        let most = (files() / FILES).clamp(FEWEST_CONNECTIONS, MOST_CONNECTIONS);
        Connections { most, open: Arc::default(), ended: Arc::default() }
    }

    /// A place for one more connection. Waits only while all others are answering a request.
    pub(crate) async fn seat(&self) -> Seated {
        loop {
            let ended = self.ended.notified();
            if let Some(seat) = self.try_seat() {
                return Seated { seat, connections: self.clone() };
            }
            ended.await;
        }
    }

    fn try_seat(&self) -> Option<Arc<Seat>> {
        let mut open = self.open.lock();
        if open.len() >= self.most {
            let idle = open.iter().enumerate().filter_map(|(at, seat)| {
                let state = seat.state.lock();
                (state.requests == 0).then_some((state.idle_since, at))
            });
            let (_, longest) = idle.min()?;
            open.swap_remove(longest).gives_way.notify_one();
        }
        let state = Mutex::new(State { requests: 0, idle_since: Instant::now() });
        let seat = Arc::new(Seat { state, gives_way: Notify::new() });
        open.push(Arc::clone(&seat));
        Some(seat)
    }
}

impl Seated {
    /// Completes when this connection yields to another.
    pub(crate) async fn gives_way(&self) {
        self.seat.gives_way.notified().await;
    }

    /// Begins a request.
    pub(crate) fn request(&self) -> Busy {
        self.seat.state.lock().requests += 1;
        Busy(Arc::clone(&self.seat))
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.connections.open.lock().retain(|seat| !Arc::ptr_eq(seat, &self.seat));
        self.connections.ended.notify_one();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.requests -= 1;
        state.idle_since = Instant::now();
    }
}

/// Number of files that the process may have open.
#[cfg(unix)]
fn files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
fn files() -> usize {
    usize::MAX
}
