//! Tables of what a setting chooses by name: ways to break, to find contacts, to answer them.
//!
//! A setting holds the name alone, so that plain parameters need nothing of what carries them out. A name is read only
//! where a table has it, and no entry ever leaves its table.

use std::sync::{PoisonError, RwLock};

/// One line of a table.
pub trait Entry: Sync + 'static {
    /// The word that settings, scene files and arguments name it by: small letters, digits and hyphens.
    fn name(&self) -> &'static str;
}

/// What a message says of a name of the crate kintsugi-papers in a build without that crate; begins with a space.
pub const LEFT_OUT: &str = " in this build: it comes with the crate kintsugi-papers, which was left out (cargo build --release \
                            takes it in)";

/// All that can be chosen for one thing.
pub struct Table<E: 'static> {
    what: &'static str,
    built_in: &'static [E],
    optional: &'static [&'static str],
    added: RwLock<Vec<&'static E>>,
}

/// Two entries cannot have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is a {what} of the name {name} already")]
pub struct NameTaken {
    /// What the table's entries are.
    pub what: &'static str,
    /// The name.
    pub name: &'static str,
}

/// A setting names what its table does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} {name}{why}; there are {known}")]
pub struct UnknownName {
    /// What the table's entries are.
    pub what: &'static str,
    /// The name that was given.
    pub name: String,
    /// Why it is missing, where the table can tell; begins with a space.
    pub why: &'static str,
    /// The names that the table has.
    pub known: String,
}

impl<E: Entry> Table<E> {
    /// A table of `built_in` entries, the first of which is the default. `what` they are, for messages: "method". Names in
    /// `optional` belong to the crate kintsugi-papers, which a build may leave out.
    #[must_use]
    pub const fn new(what: &'static str, built_in: &'static [E], optional: &'static [&'static str]) -> Self {
        assert!(!built_in.is_empty(), "a table needs a default");
        Self { what, built_in, optional, added: RwLock::new(Vec::new()) }
    }

    /// All entries: the built-in ones first, then the others in the order in which they were added.
    #[must_use]
    pub fn all(&self) -> Vec<&'static E> {
        // A thread that panicked while it added an entry left the list whole.
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        self.built_in.iter().chain(added.iter().copied()).collect()
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`NameTaken`]; adding the same entry again is no error and changes nothing.
    pub fn add(&self, entry: &'static E) -> Result<(), NameTaken> {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let of_that_name = |other: &&E| other.name() == entry.name();
        match self.built_in.iter().chain(added.iter().copied()).find(of_that_name) {
            Some(other) if std::ptr::eq(other, entry) => Ok(()),
            Some(_) => Err(NameTaken { what: self.what, name: entry.name() }),
            None => {
                added.push(entry);
                Ok(())
            }
        }
    }

    /// Built-in entries are found without the lock.
    fn find(&self, name: &str) -> Option<&'static E> {
        let added = || {
            let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
            added.iter().copied().find(|entry| entry.name() == name)
        };
        self.built_in.iter().find(|entry| entry.name() == name).or_else(added)
    }

    /// The entry of that name.
    ///
    /// # Errors
    /// [`UnknownName`], which lists the names that the table has.
    pub fn named(&self, name: &str) -> Result<&'static E, UnknownName> {
        self.find(name).ok_or_else(|| UnknownName {
            what: self.what,
            name: name.to_owned(),
            why: match self.optional.contains(&name) {
                true => LEFT_OUT,
                false => "",
            },
            known: self.all().iter().map(|entry| entry.name()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The entry of a name that was read from this table, and so is still there.
    #[must_use]
    pub fn known(&self, name: &'static str) -> &'static E {
        self.find(name).unwrap_or(&self.built_in[0])
    }

    /// The name of the default.
    #[must_use]
    pub fn default_name(&self) -> &'static str {
        self.built_in[0].name()
    }
}

/// Makes a setting of a struct that holds a `&'static str`: it is read, written and shown as a name of `table`.
#[macro_export]
macro_rules! setting {
    ($setting:ident, $entry:ty, $table:path) => {
        impl $setting {
            /// The setting of that name.
            ///
            /// # Errors
            /// Where the table has no such name; the error lists those that it has.
            pub fn named(name: &str) -> Result<Self, $crate::registry::UnknownName> {
                $table.named(name).map(|entry| Self($crate::registry::Entry::name(entry)))
            }

            /// The name.
            #[must_use]
            pub fn name(self) -> &'static str {
                self.0
            }

            /// What the table says of it.
            #[must_use]
            pub fn entry(self) -> &'static $entry {
                $table.known(self.0)
            }
        }

        impl Default for $setting {
            fn default() -> Self {
                Self($table.default_name())
            }
        }

        impl std::fmt::Display for $setting {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.0)
            }
        }

        impl std::str::FromStr for $setting {
            type Err = $crate::registry::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::named(name)
            }
        }

        impl serde::Serialize for $setting {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $setting {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'_, str> as serde::Deserialize>::deserialize(deserializer)?;
                Self::named(&name).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub use setting;

#[cfg(test)]
mod tests {
    use super::*;

    struct Toy(&'static str);

    impl Entry for Toy {
        fn name(&self) -> &'static str {
            self.0
        }
    }

    #[test]
    fn a_name_is_one_entry() {
        static TABLE: Table<Toy> = Table::new("toy", &[Toy("first"), Toy("second")], &["third", "fourth"]);
        static THIRD: Toy = Toy("third");
        static TWIN: Toy = Toy("second");
        let names = || TABLE.all().iter().map(|toy| toy.0).collect::<Vec<_>>();
        assert_eq!(TABLE.add(&THIRD), Ok(()));
        assert_eq!(TABLE.add(&THIRD), Ok(()), "the same one again");
        assert_eq!(names(), ["first", "second", "third"]);
        let taken = TABLE.add(&TWIN).map_err(|e| e.to_string());
        assert_eq!(taken, Err("there is a toy of the name second already".to_owned()));
        assert_eq!(names().len(), 3);
        assert!(TABLE.named("third").is_ok_and(|toy| std::ptr::eq(toy, &THIRD)));
        assert_eq!((TABLE.default_name(), TABLE.known("second").0), ("first", "second"));
        let unknown = |name| TABLE.named(name).err().unwrap().to_string();
        assert_eq!(unknown("Third"), "there is no toy Third; there are first, second, third");
        let missing = unknown("fourth");
        assert!(missing.starts_with("there is no toy fourth in this build: it comes with"), "{missing}");
        assert!(missing.contains("kintsugi-papers") && missing.ends_with("third"), "{missing}");
    }
}
