//! The table of methods. Scene files (`method`), commands (`--method`), the fracture panel and docs/fracture.md are
//! made from it.
//!
//! To add one: a folder beside `voronoi/` with a [`Breaker`], and a line in `BUILT_IN`. A program that uses this
//! library adds its own with [`register`] before it opens a scene.

use std::{
    fmt,
    sync::{PoisonError, RwLock},
};

use super::{Breaker, box_cut, planes, voronoi};

/// A number that a method lets its user choose, beyond the parameters that all share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodOption {
    /// As scene files and `--option NAME=VALUE` name it.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Where nobody says.
    pub default: f64,
    /// Least and greatest.
    pub range: (f64, f64),
    /// Whether only whole numbers mean something.
    pub whole: bool,
}

/// A line of the table.
pub struct MethodEntry {
    /// As scene files and commands name it: small letters and hyphens.
    pub name: &'static str,
    /// As the panel names it.
    pub label: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// The paper that it is from.
    pub source: &'static str,
    /// Whether it breaks along Voronoi cells of the seeds that [`cells_of`](super::voronoi::cells_of) draws. Where it does
    /// not, the panel leaves out what is said of seeds, and no cells can be chosen to stay.
    pub by_seeds: bool,
    /// Whether it breaks voxels: cracks can be rough and dusty, and islands are told apart at a level. Where it does not,
    /// the panel leaves that out.
    pub of_voxels: bool,
    /// Its own parameters.
    pub options: &'static [MethodOption],
    /// The method itself.
    pub breaker: &'static dyn Breaker,
}

/// The methods that the program has of itself; the first is the default.
const BUILT_IN: &[&MethodEntry] = &[&voronoi::METHOD, &box_cut::METHOD, &planes::METHOD];

static REGISTERED: RwLock<Vec<&'static MethodEntry>> = RwLock::new(Vec::new());

/// Adds a method. One whose name is taken already is left out, and the answer is false.
pub fn register(entry: &'static MethodEntry) -> bool {
    if Method::named(entry.name).is_some() {
        return false;
    }
    REGISTERED.write().unwrap_or_else(PoisonError::into_inner).push(entry);
    true
}

/// Every method, the default first.
#[must_use]
pub fn methods() -> Vec<Method> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(registered.iter()).map(|entry| Method(entry)).collect()
}

/// A method that is in the table.
#[derive(Clone, Copy)]
pub struct Method(&'static MethodEntry);

impl Method {
    /// The method of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        methods().into_iter().find(|method| method.0.name == name)
    }
}

impl std::ops::Deref for Method {
    type Target = MethodEntry;

    fn deref(&self) -> &MethodEntry {
        self.0
    }
}

impl Default for Method {
    fn default() -> Self {
        Self(&voronoi::METHOD)
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Method {}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// A name that no method has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method {name}; there {are} {known}")]
pub struct UnknownMethod {
    name: String,
    are: &'static str,
    known: String,
}

impl std::str::FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        Self::named(name).ok_or_else(|| {
            let known: Vec<_> = methods().iter().map(|method| method.0.name).collect();
            let are = if known.len() == 1 { "is only" } else { "are" };
            UnknownMethod { name: name.to_owned(), are, known: known.join(", ") }
        })
    }
}

impl serde::Serialize for Method {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> serde::Deserialize<'de> for Method {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain_and_options_are_sound() {
        let methods = methods();
        assert_eq!(methods[0], Method::default());
        for (i, method) in methods.iter().enumerate() {
            let plain = |name: &str| {
                !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_lowercase() || b"-_0123456789".contains(&b))
            };
            assert!(
                plain(method.name) && !method.label.is_empty() && method.help.ends_with('.'),
                "{method:?}"
            );
            assert!(methods[..i].iter().all(|other| other != method), "{method:?} is there twice");
            for option in method.options {
                let (low, high) = option.range;
                assert!(plain(option.name) && low <= option.default && option.default <= high, "{option:?}");
            }
        }
        assert!(!register(&voronoi::METHOD), "a name is given once");
    }

    #[test]
    fn a_name_is_read_and_written_and_an_unknown_one_is_refused() {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        struct Table {
            method: Method,
        }
        let text = toml::to_string(&Table { method: Method::default() }).unwrap();
        assert_eq!(text, "method = \"octree\"\n");
        assert_eq!(toml::from_str::<Table>(&text).unwrap().method, Method::default());
        let error = toml::from_str::<Table>("method = \"hammer\"").unwrap_err().to_string();
        assert!(error.contains("no method hammer") && error.contains("octree"), "{error}");
    }
}
