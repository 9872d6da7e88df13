//! The files with code of a recording, and the symbols of their addresses.

use std::collections::HashMap;
use std::path::Path;

use barrow_analyzer::Recording;
use barrow_symbols::{Frame, Symbols};

use crate::error::{Result, RewriteError};

/// The modules of a recording.
pub(super) struct Modules {
    /// Build ids as recorded, by path.
    recorded: HashMap<String, String>,
    /// The program at another location, and its recorded path.
    instead: Option<(String, Symbols)>,
    /// The modules opened so far; `None` for unusable ones.
    opened: HashMap<String, Option<Symbols>>,
    /// The number of requested addresses, and of those that have a name.
    addresses: usize,
    named: usize,
    problems: Vec<String>,
}

impl Modules {
    /// The modules of a recording; `binary` is the present location of one of them.
    ///
    /// # Errors
    /// `binary` cannot be read, or is not one of them.
    pub(super) fn new(recording: &Recording, binary: Option<&Path>) -> Result<Self> {
        let facts = recording.facts()?.into_iter();
        let recorded: HashMap<String, String> =
            facts.filter_map(|(key, id)| Some((key.strip_prefix("module ")?.to_owned(), id))).collect();
        let instead = binary.map(|path| instead(path, &recorded)).transpose()?;
        let (opened, problems) = (HashMap::new(), Vec::new());
        Ok(Modules { recorded, instead, opened, addresses: 0, named: 0, problems })
    }

    /// The calls at a return address of a module, the innermost first; `unknown` if nothing is known of it.
    pub(super) fn frames(&mut self, module: &str, return_address: u64, unknown: &str) -> Vec<Frame> {
        self.addresses += 1;
        // The call lies before the address to which it returns.
        let at = return_address.saturating_sub(1);
        let frames = self.symbols(module).map(|symbols| symbols.frames(at)).unwrap_or_default();
        if frames.iter().any(|frame| frame.function.is_some()) {
            self.named += 1;
            return frames;
        }
        vec![Frame { function: Some(unknown.to_owned()), file: None, line: None, column: None }]
    }

    /// The requested addresses.
    pub(super) fn addresses(&self) -> usize {
        self.addresses
    }

    /// Number of addresses with a name.
    pub(super) fn named(&self) -> usize {
        self.named
    }

    /// The modules that could not be used, a sentence each.
    pub(super) fn problems(self) -> Vec<String> {
        self.problems
    }

    fn symbols(&mut self, module: &str) -> Option<&Symbols> {
        if self.instead.as_ref().is_some_and(|(path, _)| path == module) {
            return self.instead.as_ref().map(|(_, symbols)| symbols);
        }
        if !self.opened.contains_key(module) {
            let opened = self.open(module).map_err(|problem| self.problems.push(problem)).ok();
            self.opened.insert(module.to_owned(), opened);
        }
        self.opened.get(module)?.as_ref()
    }

    fn open(&self, module: &str) -> Result<Symbols, String> {
        if module.is_empty() {
            return Err("some addresses are in no file: code that was made while the program ran".to_owned());
        }
        let symbols =
            Symbols::open(Path::new(module)).map_err(|error| format!("{error}; its addresses are left as they are"))?;
        match self.recorded.get(module) {
            Some(id) if *id != symbols.build_id() => Err(format!(
                "{module} was built anew since it was recorded; `--binary PATH` names a copy of that build"
            )),
            _ => Ok(symbols),
        }
    }
}

/// The program at `path`, and the module of the recording that matches: by build id, or by name if there is none.
fn instead(path: &Path, recorded: &HashMap<String, String>) -> Result<(String, Symbols)> {
    let symbols = Symbols::open(path)?;
    let id = symbols.build_id();
    let is_it = |module: &str, recorded: &str| {
        if id.is_empty() {
            recorded.is_empty() && Path::new(module).file_name() == path.file_name()
        } else {
            recorded == id
        }
    };
    let module = recorded.iter().find(|(module, recorded)| is_it(module, recorded)).map(|(module, _)| module.clone());
    let module = module.ok_or_else(|| RewriteError::OtherProgram { path: path.to_owned(), build_id: id.clone() })?;
    Ok((module, symbols))
}
