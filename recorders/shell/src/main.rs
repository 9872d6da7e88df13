//! `barrow-sh`: has the effect of `/bin/sh`, and logs what it ran.
//!
//! ```text
//!   no BARROW_SH_LOG ──▶ exec /bin/sh
//!   otherwise            log "begins" ──▶ fork ──▶ exec /bin/sh
//!                        log "ends"   ◀── wait4 ◀──┘                 then end as it ended
//! ```
//!
//! Under another name it runs the next program of that name in PATH instead of the shell. It is silent; what goes wrong with
//! the log stops the logging and nothing else.

#[cfg(unix)]
mod log;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod record;
#[cfg(unix)]
mod system;

#[cfg(unix)]
fn main() {
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let Some(program) = program::wanted(words.first()) else {
        eprintln!("barrow-sh: there is no such program in PATH besides barrow-sh itself");
        std::process::exit(127);
    };
    let command = system::Command::new(&program, &words);
    let Some(log) = log::Log::of_environment() else { command.execute() };
    let before = record::Before::now(&words, &log);
    // If the beginning cannot be logged, the end is not logged either.
    if log.append(&before.text()).is_err() {
        command.execute();
    }
    log.tell_children(before.pid());
    let Ok(ended) = command.run() else { command.execute() };
    let _ = log.append(&before.end(&ended));
    ended.end_likewise();
}

#[cfg(not(unix))]
fn main() {
    eprintln!("barrow-sh: there is no /bin/sh on this system");
    std::process::exit(127);
}
