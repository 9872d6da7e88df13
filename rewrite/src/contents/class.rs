//! The classes of strings.

/// What is done with the strings of a class when a recording is redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Treatment {
    /// Replaced as a whole.
    Text,
    /// Replaced identifier by identifier, unless it is kept.
    Name,
    /// Kept.
    Word,
}

macro_rules! classes {
    ($($class:ident $treatment:ident $key:literal $title:literal,)*) => {
        /// What a string is used as.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Class { $(#[doc = $title] $class,)* }

        impl Class {
            /// All of them.
            pub(crate) const ALL: &[Class] = &[$(Class::$class,)*];

            /// What happens to it.
            pub(crate) const fn treatment(self) -> Treatment {
                match self { $(Class::$class => Treatment::$treatment,)* }
            }

            /// Its name for programs.
            pub(crate) fn key(self) -> &'static str {
                match self { $(Class::$class => $key,)* }
            }

            /// Its name for people.
            pub(crate) fn title(self) -> &'static str {
                match self { $(Class::$class => $title,)* }
            }
        }
    };
}

classes! {
    ObjectTexts Text "object_texts" "texts of objects",
    FieldTexts Text "field_texts" "texts in fields",
    Arguments Text "arguments" "arguments of programs",
    Outputs Text "outputs" "outputs of failed runs",
    AttributeTexts Text "attribute_texts" "facts and attributes",
    ObjectNames Name "object_names" "classes and frames",
    TypeNames Name "type_names" "types and layouts",
    References Name "references" "fields and references",
    Functions Name "functions" "functions",
    Files Name "files" "files with code",
    Roots Name "roots" "roots",
    Threads Name "threads" "threads and their states",
    Snapshots Name "snapshots" "labels of snapshots",
    Programs Name "programs" "programs and folders",
    Trials Name "trials" "metrics and variants",
    AttributeNames Name "attribute_names" "names in attributes",
    Keys Name "keys" "keys unknown to barrow",
    Kinds Word "kinds" "kinds and strengths",
    Words Word "words" "keys known to barrow",
    Settings Word "settings" "versions and settings",
    Marked Word "marked" "words of the recorder",
}

impl Class {
    /// Its bit in a set of classes.
    pub(crate) const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl Treatment {
    /// All of them.
    pub(crate) const ALL: [Treatment; 3] = [Treatment::Text, Treatment::Name, Treatment::Word];

    /// The bits of all classes that are treated so.
    pub(crate) const fn classes(self) -> u32 {
        let (mut bits, mut at) = (0, 0);
        while at < Class::ALL.len() {
            if Class::ALL[at].treatment() as u8 == self as u8 {
                bits |= Class::ALL[at].bit();
            }
            at += 1;
        }
        bits
    }
}
