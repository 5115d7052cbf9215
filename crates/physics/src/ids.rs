//! Names of the generator and the response that settings choose. [`super::generators`] and [`super::solvers`] are the
//! tables that the names are read from.

/// Names the generator that looks at all pairs of kinds that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactsId(pub(super) &'static str);

impl ContactsId {
    /// Whether it names the default.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Names a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseId(pub(super) &'static str);

impl ResponseId {
    /// Soft constraints in substeps, the default.
    pub const SOFT: Self = Self("soft");
    /// Sequential impulses.
    pub const IMPULSE: Self = Self("impulse");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_its_table() {
        assert_eq!(ResponseId::default(), ResponseId::SOFT);
        for id in [ResponseId::SOFT, ResponseId::IMPULSE] {
            assert_eq!(ResponseId::named(id.name()), Ok(id));
        }
    }
}
