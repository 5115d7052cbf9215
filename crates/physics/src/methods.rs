//! Tables of methods that a setting names: those that are built in, and those that were added at start-up.

use std::sync::{PoisonError, RwLock};

/// What a table says of a method.
pub trait Entry: Sync + 'static {
    /// The word that settings, scene files and arguments name it by: lower case, no spaces.
    fn name(&self) -> &'static str;
}

/// The methods that there are for one thing.
pub struct Table<E: 'static> {
    /// What they do, for messages.
    what: &'static str,
    built_in: &'static [E],
    added: RwLock<Vec<&'static E>>,
}

/// Two methods cannot have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is a {what} of the name `{name}` already")]
pub struct NameTaken {
    /// What the methods of the table do.
    pub what: &'static str,
    /// The name.
    pub name: &'static str,
}

/// A setting names a method that no table has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}`, expected one of {known}")]
pub struct UnknownMethod {
    /// What the methods of the table do.
    pub what: &'static str,
    /// What was asked for.
    pub name: String,
    /// What there is, in quotes.
    pub known: String,
}

impl<E: Entry> Table<E> {
    /// A table of `built_in`, which do `what` ("response").
    #[must_use]
    pub const fn new(what: &'static str, built_in: &'static [E]) -> Self {
        Self { what, built_in, added: RwLock::new(Vec::new()) }
    }

    /// All methods: those that are built in first, then in the order in which they were added.
    #[must_use]
    pub fn all(&self) -> Vec<&'static E> {
        // A thread that panicked while it added one has left the list whole.
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        self.built_in.iter().chain(added.iter().copied()).collect()
    }

    /// Adds a method.
    ///
    /// # Errors
    /// [`NameTaken`]; adding the same entry again is no error and changes nothing.
    pub fn add(&self, entry: &'static E) -> Result<(), NameTaken> {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let same = |other: &&'static E| other.name() == entry.name();
        match self.built_in.iter().chain(added.iter().copied()).find(same) {
            Some(other) if std::ptr::eq(other, entry) => Ok(()),
            Some(_) => Err(NameTaken { what: self.what, name: entry.name() }),
            None => {
                added.push(entry);
                Ok(())
            }
        }
    }

    /// The method of that name.
    ///
    /// # Errors
    /// [`UnknownMethod`], which lists those that there are.
    pub fn named(&self, name: &str) -> Result<&'static E, UnknownMethod> {
        let all = self.all();
        all.iter().copied().find(|entry| entry.name() == name).ok_or_else(|| UnknownMethod {
            what: self.what,
            name: name.to_owned(),
            known: all.iter().map(|entry| format!("`{}`", entry.name())).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Makes a setting of a method: it is compared, written and read as the method's name, and a name that no
/// table has is an error.
macro_rules! setting {
    ($setting:ident, $entry:ty, $table:path) => {
        impl $setting {
            /// The method of that name.
            ///
            /// # Errors
            /// [`UnknownMethod`](crate::UnknownMethod), which lists those that there are.
            pub fn named(name: &str) -> Result<Self, $crate::UnknownMethod> {
                $table.named(name).map(Self)
            }

            /// What the table says of it.
            #[must_use]
            pub fn entry(&self) -> &'static $entry {
                self.0
            }
        }

        impl PartialEq for $setting {
            fn eq(&self, other: &Self) -> bool {
                self.0.name == other.0.name
            }
        }

        impl Eq for $setting {}

        impl std::fmt::Debug for $setting {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($setting), self.0.name)
            }
        }

        impl std::fmt::Display for $setting {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.0.name)
            }
        }

        impl std::str::FromStr for $setting {
            type Err = $crate::UnknownMethod;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::named(name)
            }
        }

        impl serde::Serialize for $setting {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.name)
            }
        }

        impl<'de> serde::Deserialize<'de> for $setting {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::named(&name).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use setting;

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
    fn a_name_is_one_method() {
        static TABLE: Table<Toy> = Table::new("toy", &[Toy("first"), Toy("second")]);
        static THIRD: Toy = Toy("third");
        static TWIN: Toy = Toy("second");
        let names = || TABLE.all().iter().map(|toy| toy.0).collect::<Vec<_>>();
        assert_eq!(TABLE.add(&THIRD), Ok(()));
        assert_eq!(TABLE.add(&THIRD), Ok(()), "the same one again");
        assert_eq!(names(), ["first", "second", "third"]);
        let taken = TABLE.add(&TWIN).map_err(|e| e.to_string());
        assert_eq!(taken, Err("there is a toy of the name `second` already".to_owned()));
        assert_eq!(names().len(), 3);
        assert!(TABLE.named("third").is_ok_and(|toy| std::ptr::eq(toy, &THIRD)));
        let unknown = TABLE.named("Third").map(|toy| toy.0).map_err(|e| e.to_string());
        let message = "unknown toy `Third`, expected one of `first`, `second`, `third`";
        assert_eq!(unknown, Err(message.to_owned()));
    }
}
