//! Macros for named numbers of the file: one table for the constants, their names and their order.

/// An enum of which each variant has a number in the file.
///
/// An unknown number is [`FormatError::OutOfRange`](crate::FormatError::OutOfRange), which names it `$what`.
macro_rules! numbered_enum {
    (
        $(#[$doc:meta])* pub enum $name:ident($what:literal, up to $limit:literal) {
            $($(#[$variant_doc:meta])* $variant:ident = $number:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $number,)*
        }

        impl $name {
            /// The number in the file.
            #[must_use]
            pub const fn number(self) -> u64 {
                self as u64
            }

            /// The variant with this number in the file.
            ///
            /// # Errors
            /// [`FormatError::OutOfRange`](crate::FormatError::OutOfRange) if there is none.
            pub fn from_number(number: u64) -> crate::Result<Self> {
                match number {
                    $($number => Ok($name::$variant),)*
                    value => Err(crate::FormatError::OutOfRange { what: $what, value, limit: $limit }),
                }
            }
        }
    };
}

/// Constants of a type that wraps a number of the file, and their names. Other numbers are valid values without a name.
macro_rules! named_numbers {
    ($type:ident, $prefix:literal { $($(#[$doc:meta])* $name:ident = $number:literal,)* }) => {
        impl $type {
            $($(#[$doc])* pub const $name: $type = $type($number);)*

            /// Its name, if this crate knows the number.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(concat!($prefix, stringify!($name))),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {named_numbers, numbered_enum};
