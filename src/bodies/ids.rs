//! Names of the methods that settings choose. What has a name is in the table of its kind: [`super::finders`],
//! [`super::responses`], which is also where names are read.

/// Names the finder that looks at all pairs of kinds that it accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ContactsId(pub(super) &'static str);

impl ContactsId {
    /// Hulls where they say the same as octrees, octrees elsewhere: the default.
    pub const MIXED: Self = Self("mixed");

    /// Whether it is the default.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for ContactsId {
    fn default() -> Self {
        Self::MIXED
    }
}

/// Names a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResponseId(pub(super) &'static str);

impl ResponseId {
    /// Soft constraints in substeps, the default.
    pub const SOFT: Self = Self("soft");
    /// Sequential impulses.
    pub const IMPULSE: Self = Self("impulse");
}

impl Default for ResponseId {
    fn default() -> Self {
        Self::SOFT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_its_table() {
        for id in [ContactsId::MIXED, ContactsId::default()] {
            assert_eq!(ContactsId::named(id.name()), Ok(id));
            assert_eq!(id.entry().name, id.name());
        }
        for id in [ResponseId::SOFT, ResponseId::IMPULSE, ResponseId::default()] {
            assert_eq!(ResponseId::named(id.name()), Ok(id));
            assert_eq!(id.entry().name, id.name());
        }
    }
}
