//! Names addresses of a program: function, file and line, from the debug information in its file.
//!
//! ```text
//!   app, 0x3ee1c ──▶ alloc::vec::Vec<T>::push   …/alloc/src/vec/mod.rs:2608    innermost, inlined
//!                    shop::remember             src/shop.rs:41                 the function itself
//! ```
//!
//! It knows files with code, not recordings. It names several million addresses in a few seconds: parsed parts of a
//! file are kept as long as its [`Symbols`].
//!
//! ```
//! use barrow_symbols::Symbols;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let own = Symbols::open(&std::env::current_exe()?)?;
//! // An address in no function has no frames.
//! assert!(own.frames(u64::MAX).is_empty());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::read::ReadCache;
use object::{Object, ObjectKind};

/// The reason why a file has no names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file has no supported code.
    #[error("{path}: {cause}")]
    NoCode {
        /// The file.
        path: PathBuf,
        /// A clause.
        cause: String,
    },
}

/// A call in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// The function, demangled, without the hash that Rust adds.
    pub function: Option<String>,
    /// The file of the source.
    pub file: Option<String>,
    /// The line of the call.
    pub line: Option<u32>,
    /// The column of that line.
    pub column: Option<u32>,
}

/// The debug information of one file.
pub struct Symbols {
    loader: Loader,
    build_id: Vec<u8>,
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbols").field("build_id", &self.build_id()).finish_non_exhaustive()
    }
}

impl Symbols {
    /// Opens an executable or a shared library. Names are read on demand.
    ///
    /// # Errors
    /// [`SymbolError::Io`], [`SymbolError::NoCode`].
    pub fn open(path: &Path) -> Result<Self, SymbolError> {
        let file = File::open(path).map_err(|source| SymbolError::Io { path: path.to_owned(), source })?;
        let no_code = |cause: String| SymbolError::NoCode { path: path.to_owned(), cause };
        let cache = ReadCache::new(file);
        let object = object::File::parse(&cache).map_err(|error| no_code(error.to_string()))?;
        if !matches!(object.kind(), ObjectKind::Executable | ObjectKind::Dynamic) {
            return Err(no_code("it is no program and no shared library".to_owned()));
        }
        let build_id = object.build_id().map_err(|error| no_code(error.to_string()))?.unwrap_or_default().to_vec();
        let loader = Loader::new(path).map_err(|error| no_code(error.to_string()))?;
        Ok(Symbols { loader, build_id })
    }

    /// The build id in hexadecimal digits; empty if the linker left none.
    #[must_use]
    pub fn build_id(&self) -> String {
        self.build_id.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The calls at an address of the file, the innermost first: inlined calls, then the function itself. Damaged
    /// information yields no names.
    #[must_use]
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        if address == u64::MAX {
            // The library asks for the range up to the next address.
            return Vec::new();
        }
        let mut frames = self.described(address).unwrap_or_default();
        // Without debug information there may still be a symbol.
        if let Some(outermost) = frames.last_mut().filter(|frame| frame.function.is_none()) {
            outermost.function = self.symbol(address);
        } else if frames.is_empty()
            && let Some(function) = self.symbol(address)
        {
            frames.push(Frame { function: Some(function), file: None, line: None, column: None });
        }
        frames
    }

    fn described(&self, address: u64) -> Option<Vec<Frame>> {
        let mut found = self.loader.find_frames(address).ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.and_then(|name| name.demangle().ok().map(|name| without_hash(&name)));
            let location = frame.location;
            frames.push(Frame {
                function,
                file: location.as_ref().and_then(|location| location.file).map(str::to_owned),
                line: location.as_ref().and_then(|location| location.line).filter(|&line| line > 0),
                column: location.as_ref().and_then(|location| location.column).filter(|&column| column > 0),
            });
        }
        Some(frames)
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let name = self.loader.find_symbol(address)?;
        Some(without_hash(&addr2line::demangle_auto(name.into(), None)))
    }
}

/// A demangled name without the hash at the end of a legacy one: `::h` and sixteen digits.
fn without_hash(name: &str) -> String {
    let is_hash =
        |end: &str| end.len() == 17 && end.starts_with('h') && end[1..].bytes().all(|b| b.is_ascii_hexdigit());
    match name.rsplit_once("::") {
        Some((name, end)) if is_hash(end) => name.to_owned(),
        _ => name.to_owned(),
    }
}

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_go() {
        assert_eq!(without_hash("shop::remember::h0123456789abcdef"), "shop::remember");
        assert_eq!(without_hash("shop::remember::hello"), "shop::remember::hello");
        assert_eq!(without_hash("main"), "main");
    }

    #[test]
    fn this_test_has_a_name() {
        let path = std::env::current_exe().unwrap();
        let own = Symbols::open(&path).unwrap();
        // Where the file's symbol table says this function is.
        let bytes = std::fs::read(&path).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        let here = object::Object::symbols(&object)
            .find(|symbol| object::ObjectSymbol::name(symbol).is_ok_and(|name| name.contains("this_test_has_a_name")))
            .unwrap();
        let frames = own.frames(object::ObjectSymbol::address(&here));
        let last = frames.last().unwrap();
        assert!(last.function.as_ref().unwrap().contains("tests::this_test_has_a_name"), "{frames:?}");
        assert!(last.line.is_some());
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(matches!(Symbols::open(&text), Err(SymbolError::NoCode { .. })));
        assert!(matches!(Symbols::open(Path::new("nowhere")), Err(SymbolError::Io { .. })));
    }
}
