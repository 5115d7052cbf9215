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

    /// This crate never has those entries, as little as a build without kintsugi-papers.
    #[test]
    fn finders_and_responses_of_the_papers_are_refused_with_the_way_to_get_them() {
        let finder = ContactsId::named("field").unwrap_err().to_string();
        assert!(finder.starts_with("there is no contact finder field in this build"), "{finder}");
        assert!(finder.ends_with("there are mixed, octree, hull"), "{finder}");
        let response = ResponseId::named("penalty").unwrap_err().to_string();
        assert!(response.starts_with("there is no response penalty in this build"), "{response}");
        assert!(response.ends_with("there are soft, impulse"), "{response}");
        for message in [finder, response] {
            assert!(message.contains("kintsugi-papers") && message.contains("cargo build"), "{message}");
        }
    }
}
