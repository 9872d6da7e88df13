//! One newtype per table, so that an id of one table cannot index another.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as a position in its table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A snapshot of a recording, counted from 0 in the order of their commits.
    SnapshotId
}
id! {
    /// An object of one snapshot, counted from 0: a dense index, not an address.
    ObjectId
}
id! {
    /// A row of the string table.
    StringId
}
id! {
    /// A row of the kind table.
    KindId
}
id! {
    /// A row of the type table.
    TypeId
}
id! {
    /// A row of the shape table.
    ShapeId
}
id! {
    /// A row of the field table.
    FieldId
}
id! {
    /// A row of the strength table.
    StrengthId
}
id! {
    /// A process of a recorded tree, counted from 0 in order of start.
    ProcessId
}
id! {
    /// A metric, counted from 0.
    MetricId
}
id! {
    /// A measured program, counted from 0.
    VariantId
}
id! {
    /// A run of a measured program, counted from 0 in order of start.
    RunId
}
id! {
    /// An allocation site: a row of the site table counted from 1. 0 means that none was recorded.
    SiteId
}

impl StrengthId {
    /// Row 0 of every strength table: an ordinary reference, which keeps its target alive.
    pub const STRONG: StrengthId = StrengthId(0);
}
