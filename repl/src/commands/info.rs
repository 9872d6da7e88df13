//! `info`: one object, or the file.

use barrow_analyzer::{ObjectDetails, SnapshotId, Tables};

use crate::answer::{Answer, Column, Unit, Value};
use crate::error::ReplError;
use crate::session::{Arguments, Session};
use crate::units;

use super::snapshot::with_pairs;
use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "info",
    aliases: &["inspect", "p"],
    group: Group::Objects,
    arguments: "[ID]",
    about: "One object: type, sizes, references; without ID, the file",
    details: "ID is 123 or @123 in the selected snapshot, 2:@123 in snapshot 2, 0x7f00 by address, \
              %3 in row 3 of the last table.",
    example: "info @123",
    flags: &[],
    subject: Subject::Recording,
    completion: Completion::Nothing,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, ReplError> {
    match &arguments.words()[..] {
        [] => of_file(session),
        [name] => {
            let (snapshot, id) = session.object(name)?;
            let recording = session.recording()?;
            let details = barrow_analyzer::object(&recording, snapshot, id)?;
            Ok(of_object(recording.tables()?, snapshot, &details))
        }
        [_, word, ..] => Err(COMMAND.refuses(word)),
    }
}

fn of_object(tables: &Tables, snapshot: SnapshotId, object: &ObjectDetails) -> Answer {
    let type_id = object.type_id;
    Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0)
        .fact(Column::new("object", "object", Unit::Object), object.id.0)
        .fact(Column::new("type", "type", Unit::Text), tables.type_name(type_id))
        .fact(Column::new("kind", "kind", Unit::Text), tables.kind_name(tables.type_kind(type_id)))
        .fact(Column::new("layout", "layout", Unit::Text), tables.type_layout(type_id))
        .fact(Column::new("source_file", "file", Unit::Text), tables.type_file(type_id))
        .fact(Column::new("source_line", "line", Unit::Number), tables.type_line(type_id))
        .fact(Column::new("shallow_bytes", "shallow", Unit::Bytes), object.shallow_bytes)
        .fact(Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes), object.unmanaged_bytes)
        .fact(Column::new("references", "references", Unit::Count), object.references)
        .fact(Column::new("address", "address", Unit::Address), object.address)
        .fact(Column::new("serial", "serial", Unit::Number), object.serial)
        .fact(Column::new("site", "site", Unit::Number), object.site.map(|site| site.0))
        .exact()
}

fn of_file(session: &Session) -> Result<Answer, ReplError> {
    let recording = session.recording()?;
    let file = session.file();
    let (major, minor) = recording.version();
    let created = Some(recording.created_ns()).filter(|&created| created > 0);
    let uuid: String = recording.uuid().iter().map(|byte| format!("{byte:02x}")).collect();
    let damage = file.map(|file| file.damage.as_deref().unwrap_or("none").to_owned());
    let answer = Answer::default()
        .fact(Column::new("", "file", Unit::Text).for_people(), file.map(|file| file.name.clone()))
        .fact(Column::new("format_version", "format version", Unit::Text), format!("{major}.{minor}"))
        .fact(Column::new("uuid", "uuid", Unit::Text), uuid)
        .fact(Column::new("created_ns", "", Unit::Number).for_machines(), created)
        .fact(Column::new("", "created", Unit::Text).for_people(), created.map(units::date))
        .fact(Column::new("length_bytes", "length", Unit::Bytes), recording.length_bytes())
        .fact(Column::new("snapshots", "snapshots", Unit::Count), recording.snapshot_count())
        .fact(Column::new("", "damage", Unit::Text).for_people(), Value::from(damage));
    Ok(with_pairs(answer, "facts", recording.facts()?).exact())
}
