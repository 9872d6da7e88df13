//! The output of a program, read while it runs, from pipes that all runs share.
//!
//! This process keeps both ends of each pipe, so that none is ever closed: what is in a pipe when the program has ended is
//! read then, and what a process that outlives the run prints later belongs to no run.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::ends::Ends;
use crate::finder::Finder;
use crate::pattern::ValuePattern;
use crate::plan::OutputTo;
use crate::system;

/// The bytes that are read at a time.
const READ_BYTES: usize = 64 << 10;
/// Reads before something else is looked at: a program may print faster than it is read.
const READS: usize = 16;
/// The largest output that is kept as a whole.
const MOST_BYTES: usize = 64 << 20;

/// Takes what programs print.
pub(crate) struct Output {
    /// The standard output, where it is read.
    out: Stream,
    /// The standard error.
    err: Stream,
    null: File,
    /// The file of [`OutputTo::File`].
    file: Option<File>,
    buffer: Vec<u8>,
}

/// The destination of the standard output of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// To nothing.
    Null,
    /// To this process.
    Pipe,
    /// To the file of the plan.
    File,
    /// To that of this process, and so does the standard error if it is shown.
    Inherit,
}

/// A pipe, and what was read from it.
struct Stream {
    read: File,
    write: File,
    ends: Ends,
    finder: Finder,
    /// The most bytes that the pipe holds.
    full: usize,
    /// All of it, if it is wanted.
    whole: Option<Vec<u8>>,
    is_too_long: bool,
}

/// The part of a run's output that is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    /// Both ends of the standard output.
    pub(crate) out: String,
    /// Both ends of the standard error.
    pub(crate) err: String,
    /// The standard output went to nothing.
    pub(crate) is_discarded: bool,
    /// It was more than is searched at a time.
    pub(crate) is_long: bool,
}

/// Opens the file that programs print to. A pipe that nobody reads is an error, and not waited for.
fn created(path: &Path) -> io::Result<File> {
    let mut how = File::options();
    let file = how.write(true).create(true).truncate(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    // Programs wait if a reader is slow, as ever.
    system::block(&file)?;
    Ok(file)
}

impl Output {
    /// Pipes, and the file where the standard output goes.
    pub(crate) fn new(to: &OutputTo) -> io::Result<Self> {
        let file = match to {
            OutputTo::File(path) => Some(created(path)?),
            _ => None,
        };
        let null = File::options().write(true).open("/dev/null")?;
        Ok(Output { out: Stream::new()?, err: Stream::new()?, null, file, buffer: vec![0; READ_BYTES] })
    }

    /// A run begins: forgets what was printed, and looks for these patterns. `keeps_all` is about the standard output.
    pub(crate) fn begin(&mut self, route: Route, patterns: &[ValuePattern], keeps_all: bool) -> io::Result<()> {
        if let (Route::File, Some(file)) = (route, &mut self.file)
            && file.metadata()?.is_file()
        {
            // Each run writes it anew, as the shell's `>` does.
            file.set_len(0)?;
            file.rewind()?;
        }
        for stream in [&mut self.out, &mut self.err] {
            stream.drain(&mut self.buffer)?;
            stream.ends.clear();
            stream.finder.begin(patterns);
            (stream.whole, stream.is_too_long) = (None, false);
        }
        self.out.whole = keeps_all.then(Vec::new);
        Ok(())
    }

    /// The standard output for a child; `None` to inherit it.
    pub(crate) fn descriptor(&self, route: Route) -> Option<RawFd> {
        match (route, &self.file) {
            (Route::Pipe, _) => Some(self.out.write.as_raw_fd()),
            (Route::File, Some(file)) => Some(file.as_raw_fd()),
            (Route::Null | Route::File, _) => Some(self.null.as_raw_fd()),
            (Route::Inherit, _) => None,
        }
    }

    /// The standard error for a child, unless it is shown.
    pub(crate) fn errors(&self) -> RawFd {
        self.err.write.as_raw_fd()
    }

    /// The descriptors that become readable when a program prints.
    pub(crate) fn readers(&self) -> [RawFd; 2] {
        [self.out.read.as_raw_fd(), self.err.read.as_raw_fd()]
    }

    /// Reads what is there now, or a part of it.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        self.out.read(&mut self.buffer, READS)?;
        self.err.read(&mut self.buffer, READS).map(drop)
    }

    /// The program has ended: reads what it left in the pipes.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.drain(&mut self.buffer)?;
        self.err.drain(&mut self.buffer)
    }

    /// The matches of each pattern in the standard output, and then in the standard error; or why there is no number.
    pub(crate) fn found(&mut self) -> Vec<Result<Vec<f64>, String>> {
        let (out, err) = (self.out.finder.finish(), self.err.finder.finish());
        out.into_iter().zip(err).map(|(out, err)| Ok([out?, err?].concat())).collect()
    }

    /// The whole standard output.
    ///
    /// # Errors
    /// It was not kept, or is too long: a clause.
    pub(crate) fn whole(&self) -> Result<&[u8], String> {
        match &self.out.whole {
            Some(_) if self.out.is_too_long => Err(format!("it is larger than {} MiB", MOST_BYTES >> 20)),
            Some(whole) => Ok(whole),
            None => Err("the standard output is not read".to_owned()),
        }
    }

    /// The ends of what was printed.
    pub(crate) fn printed(&mut self, route: Route) -> Printed {
        let is_long = self.out.finder.was_cut() || self.err.finder.was_cut();
        Printed { out: self.out.ends.text(), err: self.err.ends.text(), is_discarded: route == Route::Null, is_long }
    }
}

impl Stream {
    fn new() -> io::Result<Self> {
        let [read, write] = system::pipe()?;
        system::read_without_waiting(&read)?;
        let (ends, finder, full) = (Ends::default(), Finder::default(), system::pipe_bytes(&read));
        Ok(Stream { read, write, ends, finder, full, whole: None, is_too_long: false })
    }

    /// Reads so often at most. Returns how many bytes came.
    fn read(&mut self, buffer: &mut [u8], times: usize) -> io::Result<usize> {
        let mut bytes = 0;
        for _ in 0..times {
            match self.read.read(buffer) {
                Ok(read) => {
                    self.take(&buffer[..read]);
                    bytes += read;
                    if read < buffer.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
    }

    /// Reads what is in the pipe. What others write meanwhile may be left: a process that outlives a run may write on and
    /// on.
    fn drain(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut read = 0;
        while read < self.full {
            match self.read(buffer, 1)? {
                0 => break,
                more => read += more,
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) {
        self.ends.take(bytes);
        self.finder.take(bytes);
        if let Some(whole) = &mut self.whole {
            self.is_too_long |= whole.len() + bytes.len() > MOST_BYTES;
            if !self.is_too_long {
                whole.extend_from_slice(bytes);
            }
        }
    }
}

impl Printed {
    /// All that is kept.
    pub(crate) fn text(&self) -> String {
        match self.out.is_empty() || self.out.ends_with('\n') || self.err.is_empty() {
            true => format!("{}{}", self.out, self.err),
            false => format!("{}\n{}", self.out, self.err),
        }
    }

    /// Its first and its last line, as the end of a sentence about a failure: those of the standard error, if there are any.
    pub(crate) fn said(&self) -> String {
        let text = if self.err.trim().is_empty() { &self.out } else { &self.err };
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let said = match (lines.next(), lines.next_back()) {
            (None, _) => String::new(),
            (Some(only), None) => format!("; it printed: {}", clipped(only)),
            (Some(first), Some(last)) => format!("; it printed first: {}; and last: {}", clipped(first), clipped(last)),
        };
        let discarded = "; its standard output was discarded, and `--output pipe` keeps it";
        if self.is_discarded { said + discarded } else { said }
    }
}

/// A line that is not too long for a sentence.
fn clipped(line: &str) -> String {
    const MOST_CHARS: usize = 200;
    match line.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_printed_is_told_by_its_first_and_last_lines() {
        let printed =
            |out: &str, err: &str| Printed { out: out.into(), err: err.into(), is_discarded: false, is_long: false };
        assert_eq!(printed("", " \n").said(), "");
        assert_eq!(printed("a\n", "").said(), "; it printed: a");
        assert_eq!(printed("a\n", "b\n\nc\n d \n").said(), "; it printed first: b; and last: d");
        assert_eq!(printed("a", "b\n").text(), "a\nb\n");
        let discarded = Printed { is_discarded: true, ..printed("", "b") };
        assert!(discarded.said().contains("b; its standard output was discarded, and `--output pipe`"));
        assert_eq!(printed(&"x".repeat(500), "").said().chars().filter(|c| *c == 'x').count(), 200);
    }

    #[test]
    fn no_run_has_what_another_printed() {
        let mut output = Output::new(&OutputTo::Pipe).unwrap();
        for text in ["one", "two"] {
            output.begin(Route::Pipe, &[], true).unwrap();
            output.out.write.write_all(text.as_bytes()).unwrap();
            output.err.write.write_all(b"err").unwrap();
            output.finish().unwrap();
            assert_eq!(output.whole().unwrap(), text.as_bytes());
            assert_eq!(
                output.printed(Route::Pipe),
                Printed { out: text.into(), err: "err".into(), is_discarded: false, is_long: false }
            );
            output.out.write.write_all(b"late").unwrap();
        }
    }
}
