//! Formats as arguments.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::export::{Format, FormatEntry};

/// Parses the name of a format that passes `wanted`.
pub fn formats(wanted: fn(&FormatEntry) -> bool) -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.into_iter().filter(move |format| wanted(format)).map(|format| format.name);
    PossibleValuesParser::new(names).try_map(|name| Format::named(&name).ok_or("there is no such format"))
}
