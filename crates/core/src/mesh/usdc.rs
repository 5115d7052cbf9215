//! Binary USD (`.usdc`, a "crate file"): the same tree of prims as text of the layer would be read as.
//!
//! In: bytes of a layer of version 0.4 to 0.16. Out: its tables, of which `tree` makes the prims. Versions before 0.4 (2017) lay
//! their tables out otherwise, and `OpenUSD` itself reads them no more. Layout: pxr/usd/sdf/crateFile.cpp of `OpenUSD`.

mod bytes;
mod tables;
#[cfg(test)]
pub(super) mod tests;
mod tree;
mod values;

pub(super) use tables::{Binary, MARK};

/// A field: its name, the word of its value, and the text where that is one.
#[cfg(any(test, feature = "testing"))]
pub type UsdField = (String, u64, String);

/// The fields at each path of a binary layer, in the order of the file, for tests of what is written; `None` where it is damaged.
#[cfg(any(test, feature = "testing"))]
#[must_use]
pub fn usd_fields(bytes: &[u8]) -> Option<Vec<(String, Vec<UsdField>)>> {
    let binary = Binary::open(bytes, &mut super::unchecked::Pace::default()).ok()?;
    let mut budget = binary.budget.clone();
    let field = |number: &u32| {
        let (name, word) = *binary.fields.get(*number as usize)?;
        let text = match (word >> 48, word as u32) {
            (0x400a, number) => binary.string(number).ok()?,
            (0x400b, number) => binary.token(number).ok()?,
            _ => "",
        };
        Some((binary.token(name).ok()?.to_owned(), word, text.to_owned()))
    };
    let mut all = Vec::new();
    for spec in &binary.specs {
        let set =
            binary.sets.get(spec.fields as usize..)?.iter().take_while(|number| **number != tables::NONE);
        let path = binary.path(spec.path, &mut budget).ok()??;
        all.push((path, set.map(field).collect::<Option<_>>()?));
    }
    Some(all)
}
