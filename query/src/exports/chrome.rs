//! The Trace Event Format of Chrome: JSON that `chrome://tracing`, Perfetto, Speedscope and others read.
//!
//! A process is a complete event (`X`) on the thread of its track; memory is a counter (`C`); names are metadata (`M`).
//! Times are in microseconds.

use std::io::{self, Write};

use crate::answer::json::string;

use super::trace::{Bar, Detail, Trace};

/// Writes a tree.
///
/// # Errors
/// Those of `out`; the question was stopped.
pub(crate) fn write(trace: &Trace<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
    write!(
        out,
        "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{{\"name\":{}}}}}",
        string(&trace.title())
    )?;
    for (tid, track) in (1..).zip(trace.tracks().iter()) {
        write!(
            out,
            ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":{tid},\"args\":{{\"name\":\"track {tid}\"}}}}"
        )?;
        for &id in track {
            (trace.check)()?;
            out.write_all(b",\n")?;
            event(&trace.bar(id), tid, out)?;
        }
    }
    for (time_ns, bytes) in trace.memory() {
        write!(
            out,
            ",\n{{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"tid\":0,\"ts\":{},\"args\":{{\"bytes\":{bytes}}}}}",
            microseconds(time_ns)
        )?;
    }
    out.write_all(b"\n]}\n")
}

fn event(bar: &Bar, tid: u64, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "{{\"ph\":\"X\",\"name\":{},\"cat\":{},\"pid\":1,\"tid\":{tid},\"ts\":{},\"dur\":{},\"args\":{{\"class\":{}",
        string(&bar.name),
        string(&bar.class),
        microseconds(bar.began_ns),
        microseconds(bar.ended_ns - bar.began_ns),
        string(&bar.class)
    )?;
    for (key, detail) in &bar.details {
        match detail {
            Detail::Text(text) => write!(out, ",{}:{}", string(key), string(text))?,
            Detail::Number(number) => write!(out, ",{}:{number}", string(key))?,
        }
    }
    out.write_all(b"}}")
}

fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}
