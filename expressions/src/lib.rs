//! Predicates over rows, as users type them: `class = "cc1" and memory > 500M`.
//!
//! ```text
//!   any   := all { ("or" | "|") all }
//!   all   := one { ("and" | "&") one | "-" one }         a - b: a and not b
//!   one   := ("not" | "!") one | "(" any ")" | comparison | property | rows
//!   text attributes      = != ~ !~         "text"  word  Glob*  /regex/
//!   is                   `is Map`: like a text attribute, without an operator
//!   number attributes    = != < <= > >=    12  1.5M  64KiB  0x7f00   of a time: 10min  1.5s  200ms  0
//!                        in                1K..2M  1K..  ..2M
//!   lengths of texts     as numbers        length(text) > 1K   length(.name) = 0
//!   measures             as numbers        1.5  25%
//!   fields               .count > -3   .open   .name = "x"   .rate in 0.5..2   .next = null   .owner.name ~ a*
//!   times                as numbers        .since >= 2020-02-10   .at < 2020-02-10T12:00Z   .opens in 08:00..12:00
//!   keys of maps         as fields         .attributes["tenant"] = "acme"   .items[42].name = "x"   .["tenant"] = null
//!   rows                 $name and $_ (a named set)   @123 (that row)   %3 (row 3 of the last table)
//! ```
//!
//! `not` binds tightest, then `and`, `&` and `-` from left to right, then `or` and `|`. `-` needs blanks around it,
//! because names may contain it. A word ends at a blank or at one of `( ) " ' = ! ~ < > & |`.
//!
//! `=` compares whole texts. `~` takes a glob pattern for a whole text, or a regular expression that matches anywhere.
//! A range includes both ends.
//!
//! This crate knows the syntax. A [`Language`] defines the attributes of rows, and makes a term of each comparison;
//! [`parse()`] makes a tree of such terms, a [`Node`]. Evaluating it is left to the crate that knows the rows.
//!
//! Expressions may be parts of statements such as `count(class = "cc1") <= 100`. A [`Reader`] reads their words, signs
//! and parentheses, [`Amount`] their numbers.

#![deny(unsafe_code)]

mod decimal;
mod delimited;
mod error;
mod field;
mod language;
mod lexer;
mod moment;
mod nearest;
mod number;
mod parse;
mod path;
mod pattern;
mod range;
mod reader;
mod tree;

pub use decimal::Decimal;
pub use error::ExpressionError;
pub use field::{Bound, FieldTest, Number, NumberTest};
pub use language::{Attribute, Language, Unit};
pub use moment::{Moment, TimeTest, Zone};
pub use nearest::nearest;
pub use number::{Amount, AmountUnit, parse_duration, parse_size};
pub use parse::parse;
pub use path::{MapKey, PathStep, parse_path, path_text, quoted_name};
pub use pattern::{Beginning, Pattern, TextTest, name_pattern};
pub use range::Range;
pub use reader::Reader;
pub use tree::Node;
