//! The two records of a run, in Kleknev's format.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::log::Log;
use crate::system::Ended;

/// The facts known before a command runs.
pub(crate) struct Before {
    pid: u32,
    host: String,
    parent: Option<u32>,
    directory: Option<OsString>,
    words: Vec<OsString>,
    wall: String,
}

impl Before {
    pub(crate) fn now(words: &[OsString], log: &Log) -> Self {
        let directory = std::env::current_dir().ok().map(Into::into);
        let mut words = words.to_vec();
        // The log shows the shell, as if it had been invoked itself.
        if let Some(first) = words.first_mut().filter(|first| Path::new(first).ends_with("barrow-sh")) {
            *first = "/bin/sh".into();
        }
        let host = log.host().to_owned();
        Before { pid: std::process::id(), host, parent: log.parent(), directory, words, wall: wall_time() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The record of the beginning.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = format!("<e>\n  <pid value=\"{}\" />\n{}", self.pid, self.wall);
        let _ = writeln!(text, "  <hostName name=\"{}\" />", escaped(self.host.as_bytes()));
        if let Some(parent) = self.parent {
            let _ = writeln!(text, "  <parentPid value=\"{parent}\" />");
        }
        if let Some(directory) = &self.directory {
            let _ = writeln!(text, "  <workingDir path=\"{}\" />", escaped(directory.as_bytes()));
        }
        text.push_str("  <argv>\n");
        for word in &self.words {
            let _ = writeln!(text, "    <a>{}</a>", escaped(word.as_bytes()));
        }
        text.push_str("  </argv>\n</e>\n");
        text.into_bytes()
    }

    /// The record of the end.
    pub(crate) fn end(&self, ended: &Ended) -> Vec<u8> {
        let mut text = format!("<e>\n  <pid value=\"{}\" />\n{}", self.pid, wall_time());
        let _ = writeln!(text, "  <hostName name=\"{}\" />", escaped(self.host.as_bytes()));
        let _ = writeln!(text, "  <exitStatus value=\"{}\" />", ended.status.unwrap_or(0));
        if let Some(signal) = ended.signal {
            let _ = writeln!(text, "  <signal value=\"{signal}\" />");
        }
        let used = &ended.used;
        let _ = writeln!(
            text,
            "  <resourceUsage userSec=\"{}\" userUSec=\"{}\" systemSec=\"{}\" systemUSec=\"{}\" maxRSS=\"{}\" \
             dataMemUsed=\"{}\" stackMemUsed=\"{}\" minorFaults=\"{}\" majorFaults=\"{}\" nSwaps=\"{}\" blocksIn=\"{}\" \
             blocksOut=\"{}\" msgSent=\"{}\" msgReceived=\"{}\" signals=\"{}\" voluntarySwitches=\"{}\" \
             involuntarySwitches=\"{}\" />",
            used.ru_utime.tv_sec,
            used.ru_utime.tv_usec,
            used.ru_stime.tv_sec,
            used.ru_stime.tv_usec,
            used.ru_maxrss,
            used.ru_idrss,
            used.ru_isrss,
            used.ru_minflt,
            used.ru_majflt,
            used.ru_nswap,
            used.ru_inblock,
            used.ru_oublock,
            used.ru_msgsnd,
            used.ru_msgrcv,
            used.ru_nsignals,
            used.ru_nvcsw,
            used.ru_nivcsw
        );
        text.push_str("</e>\n");
        text.into_bytes()
    }
}

fn wall_time() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("  <wallTime sec=\"{}\" nSec=\"{}\" />\n", since.as_secs(), since.subsec_nanos())
}

/// Bytes as XML: of a run of blanks all but the first, controls, quotes and what is not ASCII are numbers.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut before = 0;
    for &byte in bytes {
        match byte {
            b'&' => text.push_str("&amp;"),
            b'<' => text.push_str("&lt;"),
            b'>' => text.push_str("&gt;"),
            b' ' if before != b' ' => text.push(' '),
            b'"' | 0..=32 | 127..=255 => {
                let _ = write!(text, "&#{byte};");
            }
            _ => text.push(char::from(byte)),
        }
        before = byte;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_escaped_as_the_format_wants_it() {
        assert_eq!(escaped(b"a  b   c"), "a &#32;b &#32;&#32;c");
        assert_eq!(escaped(b"<a href=\"x\">&\n\xc3\xa9"), "&lt;a href=&#34;x&#34;&gt;&amp;&#10;&#195;&#169;");
    }
}
