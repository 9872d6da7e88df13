//! The server: a socket, a thread that speaks HTTP, and threads that answer questions.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use barrow_query::{Settings, Workspace};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::body::HeldBody;
use crate::connection::Connection;
use crate::connections::{Connections, Seated};
use crate::error::WebError;
use crate::files::Files;
use crate::guard::Guard;
use crate::places::{MOST_QUESTIONS, QuestionSlots};
use crate::requests::{App, respond};
use crate::templates::Templates;

/// Maximum number of concurrent CSV files; others wait. Each occupies a thread for as long as its browser reads.
const MOST_DOWNLOADS: usize = 8;
/// Threads that answer questions, make CSV files, look at files, and wait for disks.
const MOST_THREADS: usize = MOST_QUESTIONS + MOST_DOWNLOADS + 8;
/// Maximum time for the head of a request, and maximum idle time of a connection: the number of connections is limited,
/// so silent ones must end.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of the head of a request: twice the longest address that the HTTP library accepts.
const HEAD_BYTES: usize = 128 << 10;
/// Interval at which the server checks whether it should end: people notice no delay.
const NAP: Duration = Duration::from_millis(50);

/// Options of a server.
pub struct Options {
    /// Recordings, dumps, and folders of them.
    pub operands: Vec<PathBuf>,
    /// The port; `None` is any that is free.
    pub port: Option<u16>,
    /// The part of the address after `#`: the question that the page begins with.
    pub fragment: String,
    /// The version of the program, which the page shows.
    pub version: String,
    /// The state shared by the sessions of all pages.
    pub workspace: Arc<Workspace>,
    /// Settings for opening files.
    pub settings: Settings,
}

/// A listening server.
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
    fragment: String,
}

impl Server {
    /// Opens the files and listens, on this machine only.
    ///
    /// # Errors
    /// A file that cannot be read, or a port that is in use.
    pub fn new(options: Options) -> Result<Self, WebError> {
        let settings = Settings { is_abridged: false, ..options.settings };
        let templates = Templates::new(options.workspace, settings);
        let files = Files::new(&options.operands, options.version, &templates)?;
        let port = options.port.unwrap_or(0);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|source| WebError::Port { port, source })?;
        let guard = Guard::new(listener.local_addr()?.port())?;
        let downloads = Arc::new(Semaphore::new(MOST_DOWNLOADS));
        let app = Arc::new(App { guard, files, templates, places: QuestionSlots::new(), downloads });
        Ok(Server { listener, app, fragment: options.fragment })
    }

    /// The address that opens the page, with its token.
    #[must_use]
    pub fn address(&self) -> String {
        self.app.guard.address(&self.fragment)
    }

    /// Answers requests until `is_over`.
    ///
    /// # Errors
    /// The system gives no threads or no sockets.
    pub fn run(self, is_over: impl Fn() -> bool) -> Result<(), WebError> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_io().enable_time().max_blocking_threads(MOST_THREADS).build()?;
        let Server { listener, app, .. } = self;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let connections = Connections::new();
            let mut nap = tokio::time::interval(NAP);
            let mut next = None;
            while !is_over() {
                tokio::select! {
                    biased;
                    accepted = listener.accept(), if next.is_none() => match accepted {
                        Ok((stream, _)) => next = Some(stream),
                        // Too many open files, or a disconnected browser: later ones may succeed.
                        Err(_) => tokio::time::sleep(NAP).await,
                    },
                    seated = connections.seat(), if next.is_some() => {
                        drop(next.take().map(|stream| tokio::spawn(serve(stream, Arc::clone(&app), seated))));
                    }
                    _ = nap.tick() => {}
                }
            }
            Ok::<(), std::io::Error>(())
        })?;
        // Running questions notice that they were abandoned.
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }
}

/// Answers the requests of one connection.
async fn serve(stream: TcpStream, app: Arc<App>, seated: Seated) {
    // Small answers are sent at once.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request: Request<Incoming>| {
        let (app, busy) = (Arc::clone(&app), seated.request());
        async move { Ok::<_, Infallible>(respond(&app, &request).await.map(|body| HeldBody { body, busy })) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES);
    tokio::select! {
        biased;
        // A broken connection is not an error of the server.
        _ = http.serve_connection(TokioIo::new(Connection::new(stream)), service) => {}
        () = seated.gives_way() => {}
    }
}
