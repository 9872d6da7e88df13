//! Programs that trace processes themselves, recognised by their files. Only one program can trace a process, so these run
//! untraced; otherwise they would fail inside a recording.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;

use object::read::elf::{Dyn, ElfFile32, ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, ReadCache, ReadRef};

/// A cache of results by device, inode, size and time of last change.
#[derive(Default)]
pub(crate) struct Tracers {
    known: HashMap<[u64; 4], Option<&'static str>>,
}

/// Reasons for which a program is not traced.
const CALLS: &str = "it traces processes itself";
const CHECKS: &str = "it has a leak checker, which traces its own process when it ends";

/// Largest number of cached files.
const MOST: usize = 10_000;

impl Tracers {
    /// The reason for which a program must run untraced; `None` for most.
    pub(crate) fn reason(&mut self, executable: &str) -> Option<&'static str> {
        // For a script, `executable` is its interpreter.
        let file = File::open(executable).ok()?;
        let facts = file.metadata().ok()?;
        let key =
            [facts.dev(), facts.ino(), facts.size(), facts.mtime_nsec().unsigned_abs() ^ facts.mtime().unsigned_abs()];
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        let cache = ReadCache::new(file);
        // A nested `barrow record` falls back to notify.
        let is_this = std::fs::metadata("/proc/self/exe").is_ok_and(|own| (own.dev(), own.ino()) == (key[0], key[1]));
        let reason = if is_this { None } else { look(&cache) };
        self.known.insert(key, reason);
        reason
    }
}

fn look<'d, R: ReadRef<'d>>(file: R) -> Option<&'static str> {
    if let Ok(program) = ElfFile64::<Endianness, R>::parse(file) {
        let needed = needed(program.elf_header(), program.endian(), file).unwrap_or_default();
        return by_symbols(program.dynamic_symbols(), &needed);
    }
    let program = ElfFile32::<Endianness, R>::parse(file).ok()?;
    let needed = self::needed(program.elf_header(), program.endian(), file).unwrap_or_default();
    by_symbols(program.dynamic_symbols(), &needed)
}

/// The libraries that a program needs; `None` if it has no dynamic section.
fn needed<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    header: &H,
    endian: Endianness,
    file: R,
) -> Option<Vec<String>> {
    let sections = header.sections(endian, file).ok()?;
    let dynamic =
        header.program_headers(endian, file).ok()?.iter().find_map(|part| part.dynamic(endian, file).ok()?)?;
    let (_, link) = sections.dynamic(endian, file).ok()??;
    let strings = sections.strings(endian, file, link).ok()?;
    let names = dynamic
        .iter()
        .filter(|entry| entry.tag(endian) == object::elf::DT_NEEDED)
        .filter_map(|entry| Some(String::from_utf8_lossy(entry.string(endian, strings).ok()?).into_owned()));
    Some(names.collect())
}

fn by_symbols<'d>(symbols: impl Iterator<Item = impl ObjectSymbol<'d>>, needed: &[String]) -> Option<&'static str> {
    if needed.iter().any(|library| library.starts_with("libasan.so") || library.starts_with("liblsan.so")) {
        return Some(CHECKS);
    }
    for symbol in symbols {
        match symbol.name_bytes() {
            Ok(b"ptrace") if symbol.is_undefined() => return Some(CALLS),
            Ok(b"__lsan_init" | b"__lsan_do_leak_check") if !symbol.is_undefined() => return Some(CHECKS),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_what_their_programs_do() {
        let mut tracers = Tracers::default();
        assert_eq!(tracers.reason("/bin/sh"), None);
        assert_eq!(tracers.reason("/no/such/file"), None);
        assert_eq!(tracers.reason("/etc/passwd"), None);
        // Programs that are known to do so, where they are installed.
        for tracer in ["/usr/bin/strace", "/usr/bin/gdb"].into_iter().filter(|path| std::path::Path::new(path).exists())
        {
            // The second time from what is remembered.
            assert_eq!([tracers.reason(tracer), tracers.reason(tracer)], [Some(CALLS); 2], "{tracer}");
        }
    }
}
