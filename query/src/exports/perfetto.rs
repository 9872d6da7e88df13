//! The format of Perfetto: packets of Protocol Buffers. Numbers of fields are those of `perfetto_trace.proto`.
//!
//! ```text
//!   TRACK of the command ─┬─ track of processes: slices, from BEGIN to END
//!                         └─ counter of memory
//! ```

use std::io::{self, Write};

use super::protobuf::Message;
use super::trace::{Bar, Detail, Edge, Trace};

/// Fields of `TracePacket`, and that of `Trace` that holds packets.
mod packet {
    pub(super) const OF_TRACE: u64 = 1;
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
}

/// Fields of `TrackDescriptor`.
mod track {
    pub(super) const UUID: u64 = 1;
    pub(super) const NAME: u64 = 2;
    pub(super) const PARENT: u64 = 5;
    pub(super) const COUNTER: u64 = 8;
    pub(super) const CHILD_ORDERING: u64 = 11;
    pub(super) const RANK: u64 = 12;
    /// Children come by their ranks.
    pub(super) const EXPLICIT: u64 = 3;
    /// Field and value of `CounterDescriptor`: it counts bytes.
    pub(super) const UNIT: u64 = 3;
    pub(super) const SIZE_BYTES: u64 = 3;
}

/// Fields of `TrackEvent`.
mod event {
    pub(super) const DETAIL: u64 = 4;
    pub(super) const TYPE: u64 = 9;
    pub(super) const TRACK: u64 = 11;
    pub(super) const CATEGORY: u64 = 22;
    pub(super) const NAME: u64 = 23;
    pub(super) const COUNTER_VALUE: u64 = 30;
    /// Types.
    pub(super) const BEGIN: u64 = 1;
    pub(super) const END: u64 = 2;
    pub(super) const COUNTER: u64 = 4;
}

/// Fields of `DebugAnnotation`.
mod detail {
    pub(super) const NUMBER: u64 = 3;
    pub(super) const TEXT: u64 = 6;
    pub(super) const NAME: u64 = 10;
}

/// The track of the command, that of memory, and the one before the first track.
const COMMAND: u64 = 1;
const MEMORY: u64 = 2;
const LANES: u64 = 2;
/// All packets are of one sequence.
const SEQUENCE: u64 = 1;

/// Writes a tree.
///
/// # Errors
/// Those of `out`; the question was stopped.
pub(crate) fn write(trace: &Trace<'_>, out: &mut dyn Write) -> io::Result<()> {
    let command = Message::default().number(track::UUID, COMMAND).text(track::NAME, &trace.title());
    descriptor(&command.number(track::CHILD_ORDERING, track::EXPLICIT), out)?;
    let bytes = Message::default().number(track::UNIT, track::SIZE_BYTES);
    descriptor(&child(MEMORY, "memory", 0).message(track::COUNTER, &bytes), out)?;
    for (number, track) in (1..).zip(trace.tracks().iter()) {
        let uuid = LANES + number;
        descriptor(&child(uuid, &format!("track {number}"), number), out)?;
        trace.edges(track, |edge| match edge {
            Edge::Begins(bar) => track_event(bar.began_ns, uuid, event::BEGIN, |event| slice(event, &bar), out),
            Edge::Ends(time_ns) => track_event(time_ns, uuid, event::END, |event| event, out),
        })?;
    }
    for (time_ns, bytes) in trace.memory() {
        let value = |event: Message| event.number(event::COUNTER_VALUE, bytes);
        track_event(time_ns, MEMORY, event::COUNTER, value, out)?;
    }
    Ok(())
}

/// A track below that of the command.
fn child(uuid: u64, name: &str, rank: u64) -> Message {
    let track = Message::default().number(track::UUID, uuid).text(track::NAME, name);
    track.number(track::PARENT, COMMAND).number(track::RANK, rank)
}

fn slice(event: Message, bar: &Bar) -> Message {
    let class = if bar.class.is_empty() { "(none)" } else { bar.class.as_str() };
    let event = event.text(event::CATEGORY, class).text(event::NAME, &bar.name);
    bar.details.iter().fold(event, |event, (key, value)| {
        let named = Message::default().text(detail::NAME, key);
        let detail = match value {
            Detail::Text(text) => named.text(detail::TEXT, text),
            Detail::Number(number) => named.number(detail::NUMBER, *number),
        };
        event.message(event::DETAIL, &detail)
    })
}

fn track_event(
    time_ns: u64,
    track: u64,
    kind: u64,
    more: impl FnOnce(Message) -> Message,
    out: &mut dyn Write,
) -> io::Result<()> {
    let event = more(Message::default().number(event::TYPE, kind).number(event::TRACK, track));
    packet(Message::default().number(packet::TIMESTAMP, time_ns), packet::TRACK_EVENT, &event, out)
}

fn descriptor(descriptor: &Message, out: &mut dyn Write) -> io::Result<()> {
    packet(Message::default(), packet::TRACK_DESCRIPTOR, descriptor, out)
}

fn packet(packet: Message, field: u64, content: &Message, out: &mut dyn Write) -> io::Result<()> {
    let packet = packet.number(packet::SEQUENCE, SEQUENCE).message(field, content);
    out.write_all(&Message::default().message(packet::OF_TRACE, &packet).into_bytes())
}
