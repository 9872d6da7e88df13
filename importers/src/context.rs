//! The context that every importer works with.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use barrow_writer::{
    Encoding, FieldId, KindId, KindRole, MAX_TEXT_BYTES, MetricDescription, MetricId, Shortened, SiteDescription,
    SiteId, SnapshotInfo, StrengthClass, StrengthId, StringId, Totals, TypeDescription, TypeId, VariantDescription,
    VariantId, Word, Writer,
};
use parking_lot::Mutex;

use crate::error::{Damage, ImportError, Stop};
use crate::options::ImportOptions;
use barrow_progress::Progress;

/// Maximum number of remembered sites, about 80 bytes each: as many as a hash table holds before it grows. Above it,
/// all are forgotten. Equal sites that come later get new numbers, which costs space in the file and makes their
/// objects look changed from one dump to the next.
const MAX_SITES: usize = (1 << 20) / 8 * 7;

/// The pages of a mapped dump.
pub(crate) trait Pages: Sync {
    /// Gives back the memory of bytes that were read; other threads keep theirs.
    fn release(&self, bytes: Range<usize>);
}

/// The context that every importer works with: the recording, the options of the user, and the declarations of
/// earlier dumps of the same series.
#[derive(Clone)]
pub(crate) struct Context<'w> {
    pub(crate) writer: &'w Writer,
    pub(crate) progress: &'w dyn Progress,
    /// The file of the dump, if it has one.
    pub(crate) source: Option<&'w Path>,
    /// The pages of the dump, if it is mapped.
    pub(crate) pages: Option<&'w dyn Pages>,
    pub(crate) options: &'w ImportOptions,
    /// The dump is truncated, according to the stream that it was unpacked from.
    pub(crate) is_cut: bool,
    /// The label and time of the snapshot, for a dump that holds one snapshot.
    pub(crate) info: SnapshotInfo,
    pub(crate) vocabulary: &'w Vocabulary<'w>,
}

impl Context<'_> {
    /// Ends the import if the user cancelled it.
    pub(crate) fn check_cancelled(&self) -> Result<(), ImportError> {
        check_cancelled(self.progress)
    }

    /// Threads that read the dump.
    pub(crate) fn pool(&self) -> Result<rayon::ThreadPool, ImportError> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.options.threads.get()).build();
        threads.map_err(|error| ImportError::Threads { message: error.to_string() })
    }

    /// Gives the memory of these bytes of the dump back to the system. They can be read again.
    pub(crate) fn release(&self, bytes: Range<usize>) {
        if let Some(pages) = self.pages {
            pages.release(bytes);
        }
    }
}

/// Ends the import if the user cancelled it.
pub(crate) fn check_cancelled(progress: &dyn Progress) -> Result<(), ImportError> {
    if progress.cancelled() { Err(ImportError::Cancelled) } else { Ok(()) }
}

/// The result of importing one dump.
pub(crate) struct Outcome {
    /// The snapshots that were committed.
    pub(crate) snapshots: Vec<Totals>,
    /// Number of announced processes.
    pub(crate) processes: u64,
    /// Number of announced measured values.
    pub(crate) values: u64,
    /// Number of runs that these values belong to.
    pub(crate) runs: u64,
    /// Sentences for the user.
    pub(crate) notes: Vec<String>,
    /// `Ok` if the import reached the end of the dump.
    pub(crate) end: Result<(), Stop>,
}

impl Default for Outcome {
    fn default() -> Self {
        Outcome { snapshots: Vec::new(), processes: 0, values: 0, runs: 0, notes: Vec::new(), end: Ok(()) }
    }
}

impl Outcome {
    /// The [`Stop`] of an importer whose only snapshot holds everything before the damage.
    pub(crate) fn cut(&self, damage: Damage) -> Stop {
        if self.snapshots.is_empty() { damage.into() } else { Stop::Partial(damage) }
    }
}

/// Kinds, strengths, types and sites, metrics and variants that were already declared. Equal ones are declared once, so
/// that the snapshots and runs of several dumps can be compared.
pub(crate) struct Vocabulary<'w> {
    writer: &'w Writer,
    declared: Mutex<DeclaredRows>,
}

#[derive(Default)]
struct DeclaredRows {
    /// The texts in the keys of types, each once.
    texts: HashSet<Arc<str>>,
    /// Texts that importers shortened before they reached the writer.
    shortened: Shortened,
    kinds: HashMap<String, KindId>,
    strengths: HashMap<String, StrengthId>,
    types: HashMap<TypeKey, TypeId>,
    fields: HashMap<(TypeId, String, Encoding, bool), FieldId>,
    sites: HashMap<SiteKey, SiteId>,
    /// By name and unit.
    metrics: HashMap<(String, String), MetricId>,
    variants: HashMap<VariantKey, VariantId>,
}

/// The name of a variant, and its attributes: keys and values.
type VariantKey = (String, Vec<(String, String)>);

#[derive(PartialEq, Eq, Hash)]
struct TypeKey {
    kind: KindId,
    name: Arc<str>,
    layout: Option<Arc<str>>,
    base: Option<TypeId>,
    file: Option<Arc<str>>,
    line: Option<u32>,
    attributes: Vec<(Arc<str>, Arc<str>)>,
}

#[derive(PartialEq, Eq, Hash)]
struct SiteKey {
    function: Option<StringId>,
    file: Option<StringId>,
    line: Option<u32>,
    column: Option<u32>,
    caller: Option<SiteId>,
    attributes: Vec<(StringId, StringId)>,
}

impl DeclaredRows {
    /// Returns the shared copy of a text, as the recording stores it.
    fn text(&mut self, text: &str) -> Arc<str> {
        let text = Shortened::default().shorten(text, MAX_TEXT_BYTES);
        if let Some(known) = self.texts.get(&*text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&text));
        text
    }

    /// The key by which equal types are found.
    fn type_key(&mut self, description: &TypeDescription<'_>) -> TypeKey {
        let attributes = description.attributes.iter();
        TypeKey {
            kind: description.kind,
            name: self.text(description.name),
            layout: description.layout.map(|layout| self.text(layout)),
            base: description.base,
            file: description.file.map(|file| self.text(file)),
            line: description.line,
            attributes: attributes.map(|&(key, value)| (self.text(key), self.text(value))).collect(),
        }
    }
}

impl<'w> Vocabulary<'w> {
    pub(crate) fn new(writer: &'w Writer) -> Self {
        Vocabulary { writer, declared: Mutex::default() }
    }

    /// The kind of a name that is the importer's own.
    pub(crate) fn own_kind(&self, name: &'static str, role: KindRole) -> Result<KindId, ImportError> {
        self.kind(self.marked(Word::of_kind(name))?, role)
    }

    /// The kind of this name.
    pub(crate) fn kind(&self, name: &str, role: KindRole) -> Result<KindId, ImportError> {
        let kinds = &mut self.declared.lock().kinds;
        if let Some(&kind) = kinds.get(name) {
            return Ok(kind);
        }
        let kind = self.writer.kind(name, role)?;
        kinds.insert(name.to_owned(), kind);
        Ok(kind)
    }

    /// The kind of a name that the dump says. It is marked if it is one of those that `known` lists.
    pub(crate) fn known_kind(&self, name: &str, known: &[&'static str], role: KindRole) -> Result<KindId, ImportError> {
        if let Some(known) = known.iter().find(|&&known| known == name) {
            self.word(Word::of_kind(known))?;
        }
        self.kind(name, role)
    }

    /// The strength of this name, which is the importer's own.
    pub(crate) fn strength(&self, name: &'static str, class: StrengthClass) -> Result<StrengthId, ImportError> {
        let strengths = &mut self.declared.lock().strengths;
        if let Some(&strength) = strengths.get(name) {
            return Ok(strength);
        }
        let strength = self.writer.strength(self.marked(Word::of_kind(name))?, class)?;
        strengths.insert(name.to_owned(), strength);
        Ok(strength)
    }

    /// Declares the type of this description. Each takes some memory: meant for types, not for objects.
    pub(crate) fn declare_type(&self, description: &TypeDescription<'_>) -> Result<TypeId, ImportError> {
        let declared = &mut *self.declared.lock();
        let key = declared.type_key(description);
        if let Some(&type_id) = declared.types.get(&key) {
            return Ok(type_id);
        }
        let type_id = self.writer.declare_type(description)?;
        declared.types.insert(key, type_id);
        Ok(type_id)
    }

    /// The field of this name that the type declares, see [`Writer::field`].
    pub(crate) fn field(
        &self,
        type_id: TypeId,
        name: &str,
        encoding: Encoding,
        is_optional: bool,
    ) -> Result<FieldId, ImportError> {
        let fields = &mut self.declared.lock().fields;
        let key = (type_id, name.to_owned(), encoding, is_optional);
        if let Some(&field) = fields.get(&key) {
            return Ok(field);
        }
        let field = self.writer.field(type_id, name, encoding, is_optional)?;
        fields.insert(key, field);
        Ok(field)
    }

    /// The site of this description.
    pub(crate) fn site(&self, description: &SiteDescription<'_>) -> Result<SiteId, ImportError> {
        let attributes = description.attributes.iter();
        let attributes = attributes.map(|&(key, value)| Ok((self.string(key)?, self.string(value)?)));
        let key = SiteKey {
            function: self.optional_string(description.function)?,
            file: self.optional_string(description.file)?,
            line: description.line,
            column: description.column,
            caller: description.caller,
            attributes: attributes.collect::<Result<_, ImportError>>()?,
        };
        let sites = &mut self.declared.lock().sites;
        if let Some(&site) = sites.get(&key) {
            return Ok(site);
        }
        let site = self.writer.site(description)?;
        if sites.len() == MAX_SITES {
            sites.clear();
        }
        sites.insert(key, site);
        Ok(site)
    }

    /// The metric of this description. The first description of a name and unit counts.
    pub(crate) fn metric(&self, described: &MetricDescription<'_>) -> Result<MetricId, ImportError> {
        let metrics = &mut self.declared.lock().metrics;
        let key = (described.name.to_owned(), described.unit.to_owned());
        if let Some(&metric) = metrics.get(&key) {
            return Ok(metric);
        }
        let metric = self.writer.metric(described)?;
        metrics.insert(key, metric);
        Ok(metric)
    }

    /// The variant of this name and these attributes.
    pub(crate) fn variant(&self, name: &str, attributes: &[(&str, &str)]) -> Result<VariantId, ImportError> {
        let variants = &mut self.declared.lock().variants;
        let owned = attributes.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let key = (name.to_owned(), owned);
        if let Some(&variant) = variants.get(&key) {
            return Ok(variant);
        }
        let variant = self.writer.variant(&VariantDescription { name, attributes, ..VariantDescription::default() })?;
        variants.insert(key, variant);
        Ok(variant)
    }

    /// Counts texts that were shortened before the writer saw them.
    pub(crate) fn count_shortened(&self, shortened: Shortened) {
        self.declared.lock().shortened.add(shortened);
    }

    /// The texts that were too long so far.
    pub(crate) fn shortened(&self) -> Shortened {
        let mut shortened = self.writer.shortened();
        shortened.add(self.declared.lock().shortened);
        shortened
    }

    /// The number of a string.
    pub(crate) fn string(&self, text: &str) -> Result<StringId, ImportError> {
        Ok(self.writer.string(text)?)
    }

    fn optional_string(&self, text: Option<&str>) -> Result<Option<StringId>, ImportError> {
        text.map(|text| self.string(text)).transpose()
    }

    /// The number of a word of the importer, which a redaction keeps.
    pub(crate) fn word(&self, word: impl Into<Word>) -> Result<StringId, ImportError> {
        Ok(self.writer.word(word)?)
    }

    /// Marks a word of the importer, which a redaction keeps, and returns its text.
    pub(crate) fn marked(&self, word: impl Into<Word>) -> Result<&'static str, ImportError> {
        Ok(self.writer.marked(word)?)
    }

    /// Marks a text that the dump says, if it is one of the words that `known` lists.
    pub(crate) fn mark_known(&self, text: &str, known: &[&'static str]) -> Result<(), ImportError> {
        known.iter().find(|&&known| known == text).map_or(Ok(()), |&known| self.word(known).map(drop))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use barrow_progress::Silent;
    use barrow_writer::Options;

    /// Declares a site of `main.rb`.
    fn site(context: &Context<'_>, line: u32, caller: Option<SiteId>, generation: &str) -> SiteId {
        let attributes = [("generation", generation)];
        let (function, file, line) = (Some("run"), Some("main.rb"), Some(line));
        let description = SiteDescription { function, file, line, column: None, caller, attributes: &attributes };
        context.vocabulary.site(&description).unwrap()
    }

    #[test]
    fn equal_sites_are_declared_once() {
        with_context(|context| {
            let first = site(context, 1, None, "1");
            let others = [site(context, 2, None, "1"), site(context, 1, Some(first), "1"), site(context, 1, None, "2")];
            assert!(!others.contains(&first));
            assert_eq!(site(context, 1, None, "1"), first);
            assert_eq!(site(context, 1, Some(first), "1"), others[1]);
        });
    }

    /// Calls `test` with a context whose recording goes nowhere.
    pub(crate) fn with_context<T>(test: impl FnOnce(&Context<'_>) -> T) -> T {
        let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("writing to nowhere");
        let (options, vocabulary) = (&ImportOptions::default(), &Vocabulary::new(&writer));
        let info = SnapshotInfo::default();
        test(&Context {
            writer: &writer,
            progress: &Silent,
            source: None,
            pages: None,
            options,
            info,
            is_cut: false,
            vocabulary,
        })
    }
}
