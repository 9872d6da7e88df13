//! Which modules are loaded, and where: the executable and its shared libraries.
//!
//! Unsafe code is needed here to read what the dynamic loader tells of them.

use std::ffi::{CStr, c_int, c_void};
use std::path::PathBuf;

/// A file whose code is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    /// The file.
    pub(crate) path: PathBuf,
    /// The difference between an address in memory and in the file.
    pub(crate) base: u64,
    /// The id of the build, if the linker left one.
    pub(crate) build_id: Vec<u8>,
    /// The ranges of its code in memory: from, to.
    code: Vec<(u64, u64)>,
}

impl Module {
    /// Whether the address lies in its code.
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.code.iter().any(|&(start, end)| (start..end).contains(&address))
    }

    /// The build id in hexadecimal digits.
    pub(crate) fn build_id_digits(&self) -> String {
        self.build_id.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The number of loads of modules so far: while it stays the same, there are no new modules.
pub(crate) fn loads() -> u64 {
    extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, loads: *mut c_void) -> c_int {
        // SAFETY: the loader passes a description, and our own variable back.
        unsafe { *loads.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut loads = 0u64;
    // SAFETY: the callback gets our variable, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loads).cast()) };
    loads
}

/// All modules that are loaded.
pub(crate) fn modules() -> Vec<Module> {
    extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, modules: *mut c_void) -> c_int {
        // SAFETY: the loader passes a description that holds during the call.
        let info = unsafe { &*info };
        // SAFETY: our own list comes back, and nothing else uses it during the call.
        let modules = unsafe { &mut *modules.cast::<Vec<Module>>() };
        modules.extend(module(info));
        0
    }
    let mut modules: Vec<Module> = Vec::new();
    // SAFETY: the callback gets our list, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut modules).cast()) };
    modules
}

/// A module as the loader describes it; `None` for one without a file.
fn module(info: &libc::dl_phdr_info) -> Option<Module> {
    let name = if info.dlpi_name.is_null() {
        Vec::new()
    } else {
        // SAFETY: the loader's names end with a zero, and stay during the callback.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes().to_vec()
    };
    let path = match String::from_utf8(name).ok()? {
        // The executable has no name here.
        name if name.is_empty() => std::fs::read_link("/proc/self/exe").ok()?,
        name if name.starts_with('/') => PathBuf::from(name),
        // The kernel's own page.
        _ => return None,
    };
    // SAFETY: the loader gives the number of headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let mut module = Module { path, base: info.dlpi_addr, build_id: Vec::new(), code: Vec::new() };
    for header in headers {
        let start = info.dlpi_addr.wrapping_add(header.p_vaddr);
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            module.code.push((start, start + header.p_memsz));
        }
        if header.p_type == libc::PT_NOTE && module.build_id.is_empty() {
            // SAFETY: a segment of notes is mapped to be read, at this place and of this length.
            let notes = unsafe { std::slice::from_raw_parts(start as *const u8, header.p_memsz as usize) };
            module.build_id = build_id(notes).unwrap_or_default();
        }
    }
    Some(module)
}

/// The build id among ELF notes: each has three numbers, a name and a description, filled up to four bytes.
fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    const GNU_BUILD_ID: u32 = 3;
    while let Some((numbers, rest)) = notes.split_first_chunk::<12>() {
        let number = |at: usize| u32::from_ne_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]);
        let (name_length, length, kind) = (number(0) as usize, number(4) as usize, number(8));
        let name = rest.get(..name_length)?;
        let rest = rest.get(name_length.next_multiple_of(4)..)?;
        let description = rest.get(..length)?;
        if kind == GNU_BUILD_ID && name == b"GNU\0" {
            return Some(description.to_vec());
        }
        notes = rest.get(length.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_a_module() {
        let here = this_test_is_a_module as fn() as usize as u64;
        let modules = modules();
        let own: Vec<&Module> = modules.iter().filter(|module| module.contains(here)).collect();
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].path, std::env::current_exe().unwrap());
        assert!(!modules.iter().any(|module| module.contains(&raw const here as u64)), "a stack is no code");
        assert!(loads() > 0);
    }

    #[test]
    fn a_build_id_is_found_among_notes() {
        let mut notes = Vec::new();
        for (kind, name, text) in [(1u32, &b"GNU\0"[..], &b"abcde"[..]), (3, b"GNU\0", b"\x01\x02\x03")] {
            notes.extend((name.len() as u32).to_ne_bytes());
            notes.extend((text.len() as u32).to_ne_bytes());
            notes.extend(kind.to_ne_bytes());
            notes.extend(name);
            notes.extend(text);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(build_id(&notes), Some(vec![1, 2, 3]));
        for cut in 0..notes.len() {
            let _ = build_id(&notes[..cut]);
        }
    }
}
