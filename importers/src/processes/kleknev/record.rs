//! A record that a wrapper wrote before or after the program that it ran.

use super::elements::{Element, Elements};
use super::escapes::unescape;
use super::usage::Inclusive;
use crate::processes::process_logs::{readable, text};

/// The unit in which the system counts bytes read and written.
const BLOCK_BYTES: u64 = 512;

/// A record of a wrapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) pid: u64,
    /// In nanoseconds since 1970.
    pub(super) wall_ns: i128,
    pub(super) host: Option<String>,
    pub(super) event: Event,
}

/// The beginning or the end of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Begin { parent: Option<u64>, directory: Option<String>, arguments: Vec<String> },
    End { exit_status: Option<u64>, signal: Option<u64>, used: Option<Inclusive> },
}

/// The elements of a record; missing ones are `None`.
#[derive(Default)]
struct Fields<'d> {
    pid: Option<u64>,
    wall_ns: Option<i128>,
    host: Option<&'d [u8]>,
    parent: Option<u64>,
    directory: Option<&'d [u8]>,
    arguments: Option<Vec<String>>,
    exit_status: Option<u64>,
    signal: Option<u64>,
    used: Option<Inclusive>,
}

impl Record {
    /// Parses the text between the tags of a record.
    ///
    /// # Errors
    /// The defect of the record.
    pub(super) fn parse(body: &[u8]) -> Result<Record, String> {
        let mut fields = Fields::default();
        for element in Elements::new(body) {
            fields.take(&element.map_err(|text| format!("{} is no element", readable(text)))?)?;
        }
        let pid = fields.pid.ok_or("a record without a pid")?;
        let wall_ns = fields.wall_ns.ok_or("a record without a wallTime")?;
        let host = fields.host.map(decode);
        let Fields { parent, directory, exit_status, signal, used, .. } = fields;
        let event = match fields.arguments {
            Some(arguments) => Event::Begin { parent, directory: directory.map(decode), arguments },
            None if exit_status.is_some() || signal.is_some() || used.is_some() => {
                // A wrapper that does not know the status writes 0.
                let exit_status = exit_status.filter(|_| signal.is_none());
                Event::End { exit_status, signal, used }
            }
            None => return Err("a record without argv and without exitStatus".to_owned()),
        };
        Ok(Record { pid, wall_ns, host, event })
    }
}

impl<'d> Fields<'d> {
    /// Takes the value of an element. Unknown elements are skipped.
    fn take(&mut self, element: &Element<'d>) -> Result<(), String> {
        match element.name {
            b"pid" => self.pid = Some(number(element, b"value")?),
            b"wallTime" => self.wall_ns = Some(wall_ns(element).ok_or_else(|| wrong(element)).map(i128::from)?),
            b"hostName" => self.host = element.attribute(b"name"),
            b"parentPid" => self.parent = Some(number(element, b"value")?),
            b"workingDir" => self.directory = element.attribute(b"path"),
            b"argv" => self.arguments = Some(arguments(element)?),
            b"exitStatus" => self.exit_status = Some(number(element, b"value")?),
            b"signal" => self.signal = Some(number(element, b"value")?),
            b"resourceUsage" => self.used = Some(used(element)?),
            _ => {}
        }
        Ok(())
    }
}

/// The time of an element, in nanoseconds since 1970, if it is a time.
pub(super) fn wall_ns(element: &Element<'_>) -> Option<u64> {
    if element.name != b"wallTime" {
        return None;
    }
    let (seconds, ns) = (number(element, b"sec").ok()?, number(element, b"nSec").ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// The host in an element.
pub(super) fn host(element: &Element<'_>) -> Option<String> {
    let is_host = element.name == b"hostName";
    element.attribute(b"name").filter(|_| is_host).map(decode)
}

fn decode(value: &[u8]) -> String {
    text(&unescape(value)).into_owned()
}

fn arguments(argv: &Element<'_>) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    for element in Elements::new(argv.content) {
        match element {
            Ok(element) if element.name == b"a" => arguments.push(decode(element.content)),
            Ok(_) => {}
            Err(text) => return Err(format!("{} is no argument", readable(text))),
        }
    }
    Ok(arguments)
}

fn number(element: &Element<'_>, name: &[u8]) -> Result<u64, String> {
    let value = element.attribute(name).and_then(|value| str::from_utf8(value).ok()?.trim().parse().ok());
    value.filter(|&value| value < u64::MAX).ok_or_else(|| wrong(element))
}

fn wrong(element: &Element<'_>) -> String {
    format!("{} without the number it should have", readable(&[b"<", element.name, b">"].concat()))
}

fn used(element: &Element<'_>) -> Result<Inclusive, String> {
    let mut values = [0; 11];
    const NAMES: [&[u8]; 11] = [
        b"userSec",
        b"userUSec",
        b"systemSec",
        b"systemUSec",
        b"maxRSS",
        b"minorFaults",
        b"majorFaults",
        b"blocksIn",
        b"blocksOut",
        b"voluntarySwitches",
        b"involuntarySwitches",
    ];
    for (name, value) in element.attributes() {
        if let Some(at) = NAMES.iter().position(|known| *known == name) {
            let value = str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok());
            values[at] = value.ok_or_else(|| wrong(element))?;
        }
    }
    Ok(Inclusive {
        user_ns: nanoseconds(values[0], values[1]),
        system_ns: nanoseconds(values[2], values[3]),
        peak_bytes: values[4].saturating_mul(1024),
        minor_faults: values[5],
        major_faults: values[6],
        read_bytes: values[7].saturating_mul(BLOCK_BYTES),
        written_bytes: values[8].saturating_mul(BLOCK_BYTES),
        voluntary_switches: values[9],
        involuntary_switches: values[10],
    })
}

fn nanoseconds(seconds: u64, us: u64) -> u64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(us.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: &str = "<pid value=\"7\" /><wallTime sec=\"2\" nSec=\"30\" /><hostName name=\"a\" />";

    fn parse(rest: &str) -> Result<Record, String> {
        Record::parse(format!("{WHO}{rest}").as_bytes())
    }

    #[test]
    fn a_record_says_who_began_or_ended() {
        let begun =
            parse("<parentPid value=\"3\" /><workingDir path=\"/b\" /><argv><a>sh</a>\n<a></a></argv>").unwrap();
        assert_eq!((begun.pid, begun.wall_ns, begun.host.as_deref()), (7, 2_000_000_030, Some("a")));
        let arguments = vec!["sh".to_owned(), String::new()];
        assert_eq!(begun.event, Event::Begin { parent: Some(3), directory: Some("/b".to_owned()), arguments });

        let usage = "<resourceUsage userSec=\"1\" userUSec=\"2\" maxRSS=\"3\" blocksIn=\"4\" new=\"x\" />";
        let used = Inclusive { user_ns: 1_000_002_000, peak_bytes: 3072, read_bytes: 2048, ..Inclusive::default() };
        let ended = parse(&format!("<exitStatus value=\"2\" /><later />{usage}")).unwrap();
        assert_eq!(ended.event, Event::End { exit_status: Some(2), signal: None, used: Some(used) });
        let killed = parse("<exitStatus value=\"0\" /><signal value=\"9\"/>").unwrap();
        assert_eq!(killed.event, Event::End { exit_status: None, signal: Some(9), used: None });
    }

    #[test]
    fn a_wrong_record_has_a_reason() {
        for (rest, reason) in [
            ("", "a record without argv and without exitStatus"),
            ("x", "`x` is no element"),
            ("<exitStatus value=\"-\" />", "`<exitStatus>` without the number it should have"),
            ("<resourceUsage userSec=\"\" />", "`<resourceUsage>` without the number it should have"),
            ("<argv>x</argv>", "`x` is no argument"),
        ] {
            assert_eq!(parse(rest).unwrap_err(), reason);
        }
        assert_eq!(Record::parse(b"<pid value=\"1\" />").unwrap_err(), "a record without a wallTime");
        assert_eq!(Record::parse(b"").unwrap_err(), "a record without a pid");
    }
}
