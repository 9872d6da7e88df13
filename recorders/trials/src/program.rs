//! Kinds of program files, which determine the knobs that move their memory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};

use crate::error::TrialError;
use crate::system;

/// Scripts that run scripts that run scripts.
const MOST_INTERPRETERS: usize = 5;
/// Bytes that are read of a program: its header and what follows it.
const READ_BYTES: u64 = 1 << 20;
const SETUID_OR_SETGID: u32 = 0o6000;

/// A program as it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// The path of its file.
    pub(crate) path: PathBuf,
    /// The kind of its file, or for a script of its interpreter.
    pub(crate) kind: Kind,
    /// The system forgets what was asked of its addresses, because it gains rights.
    pub(crate) has_own_addresses: bool,
}

/// The kind of a program file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is linked with glibc when it starts.
    Dynamic,
    /// It loads nothing, so no shim.
    Static,
    /// It is linked with another library than glibc.
    OtherLibrary,
    /// It has the rights of its owner, and takes no shim.
    Privileged,
    /// It is for another processor than barrow, or of no known format.
    Foreign,
}

impl Kind {
    /// Why it cannot have the shim.
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            Kind::Dynamic => None,
            Kind::Static => Some("is linked statically"),
            Kind::OtherLibrary => Some("does not use glibc"),
            Kind::Privileged => Some("has the rights of its owner"),
            Kind::Foreign => Some("is of a format or for a processor that barrow does not know"),
        }
    }
}

impl Program {
    /// Finds a program as a shell does.
    pub(crate) fn find(name: &OsStr) -> Result<Self, TrialError> {
        let path = located(name).ok_or_else(|| TrialError::NotFound(name.to_string_lossy().into_owned()))?;
        let cannot = |cause| TrialError::CannotRun { program: path.display().to_string(), cause };
        let details = path.metadata().map_err(cannot)?;
        if details.is_dir() || details.permissions().mode() & 0o111 == 0 {
            let program = path.display().to_string();
            return Err(TrialError::CannotRun { program, cause: io::ErrorKind::PermissionDenied.into() });
        }
        let (kind, file) = kind(&path, MOST_INTERPRETERS);
        let has_own_addresses = kind == Kind::Privileged && gains_rights(&file) && system::randomises_addresses();
        Ok(Program { path, kind, has_own_addresses })
    }
}

/// Whether there is a file of this name: a path, or in a folder of PATH.
#[must_use]
pub fn is_program(name: &str) -> bool {
    located(OsStr::new(name)).is_some()
}

/// The file of this name: a path, or in a folder of PATH.
fn located(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Path::new(name).exists().then(|| PathBuf::from(name));
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let candidates: Vec<PathBuf> = std::env::split_paths(&folders).map(|folder| folder.join(name)).collect();
    let is_executable =
        |path: &&PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    candidates.iter().find(is_executable).or_else(|| candidates.iter().find(|path| path.is_file())).cloned()
}

/// The kind of a program file, and the file that is executed in the end.
fn kind(path: &Path, interpreters: usize) -> (Kind, PathBuf) {
    let Ok(bytes) = beginning(path, READ_BYTES) else { return (Kind::Foreign, path.to_owned()) };
    let kind = match interpreter_of_script(&bytes) {
        Some(_) if interpreters == 0 => Kind::Foreign,
        Some(interpreter) => return kind(&interpreter, interpreters - 1),
        None if path.metadata().is_ok_and(|file| file.mode() & SETUID_OR_SETGID != 0) => Kind::Privileged,
        None if system::has_capabilities(path) => Kind::Privileged,
        None => kind_of_elf(&bytes),
    };
    (kind, path.to_owned())
}

/// Whether a program with the rights of its owner really gets them, so that the system resets its personality.
fn gains_rights(path: &Path) -> bool {
    const SETUID: u32 = 0o4000;
    const SETGID_AND_EXECUTED_BY_GROUP: u32 = 0o2010;
    let mode = path.metadata().map_or(0, |file| file.mode());
    let has_bits = mode & SETUID != 0 || mode & SETGID_AND_EXECUTED_BY_GROUP == SETGID_AND_EXECUTED_BY_GROUP;
    (has_bits || system::has_capabilities(path)) && !system::forbids_new_rights(path)
}

fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The program after `#!`.
fn interpreter_of_script(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let interpreter = words.next()?;
    // `env` executes the word after its flags and variables.
    if interpreter.ends_with(b"/env") {
        let program = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
        return located(OsStr::from_bytes(program));
    }
    Some(PathBuf::from(OsString::from_vec(interpreter.to_vec())))
}

fn kind_of_elf(bytes: &[u8]) -> Kind {
    let loader = match object::FileKind::parse(bytes) {
        Ok(object::FileKind::Elf64) => loader::<elf::FileHeader64<Endianness>>(bytes),
        Ok(object::FileKind::Elf32) => loader::<elf::FileHeader32<Endianness>>(bytes),
        _ => None,
    };
    let processor = 18..20;
    let own = beginning(Path::new("/proc/self/exe"), processor.end as u64).ok();
    let is_ours = bytes.get(processor.clone()) == own.as_deref().and_then(|own| own.get(processor));
    match loader {
        None => Kind::Foreign,
        Some(_) if !is_ours => Kind::Foreign,
        Some(None) => Kind::Static,
        Some(Some(loader)) if contains(&loader, b"/ld-linux") => Kind::Dynamic,
        Some(Some(_)) => Kind::OtherLibrary,
    }
}

/// Whether a text has a part.
pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The path of the loader that a program names, or none if it names none. `None` for bytes that are no program. Its
/// sections are not looked at: they may be behind the bytes that were read.
fn loader<E: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Option<Vec<u8>>> {
    let header = E::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?;
    let Some(segment) = segments.iter().find(|segment| segment.p_type(endian) == elf::PT_INTERP) else {
        return Some(None);
    };
    let path = segment.data(endian, bytes).ok()?;
    Some(Some(path.iter().copied().take_while(|&byte| byte != 0).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let sh = Program::find(OsStr::new("sh")).unwrap();
        assert!(sh.path.is_absolute());
        assert!(matches!(Program::find(OsStr::new("no-such-program")), Err(TrialError::NotFound(_))));
        assert!(matches!(Program::find(OsStr::new("/etc")), Err(TrialError::CannotRun { .. })));
        assert!(matches!(Program::find(OsStr::new("/etc/passwd")), Err(TrialError::CannotRun { .. })));
    }

    #[test]
    fn a_long_program_is_known_by_its_beginning() {
        let own = beginning(Path::new("/proc/self/exe"), READ_BYTES).unwrap();
        assert_eq!(kind_of_elf(&own), Kind::Dynamic);
        assert_eq!(kind_of_elf(&own[..4096]), Kind::Dynamic);
        assert_eq!(kind_of_elf(&own[..80]), Kind::Foreign);
    }

    #[test]
    fn a_script_is_what_its_interpreter_is() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        let of = |text: &str| {
            std::fs::write(&script, text).unwrap();
            kind(&script, MOST_INTERPRETERS).0
        };
        let shell = kind(Path::new("/bin/sh"), 0).0;
        assert_eq!([of("#!/bin/sh\n"), of("#! /usr/bin/env sh\n"), of("#!/usr/bin/env -S A=1 sh -e\n")], [shell; 3]);
        assert_eq!([of(""), of("text"), of("#!/no/such\n"), of("\x7fELF\x02\x01")], [Kind::Foreign; 4]);
        let itself = format!("#!{}\n", script.display());
        assert_eq!(of(&itself), Kind::Foreign);
    }
}
