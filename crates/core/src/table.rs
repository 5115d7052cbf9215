//! Fixed tables: an enum whose variants are the lines, each with an entry that says everything about it, or with a name
//! alone.

/// Makes an enum of the lines of a table: `table! { pub enum Fruit: FruitEntry { Apple = apple::ENTRY, ... } }`, where
/// every entry is a static with a field `name`. The enum derefs to the entry and has the order of the lines.
#[macro_export]
macro_rules! table {
    ($(#[$about:meta])* $vis:vis enum $table:ident: $entry:ident {
        $($(#[$when:meta])* $line:ident = $at:path,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the entry says what a line is")]
        $vis enum $table {
            $($(#[$when])* $line,)+
        }

        impl $table {
            /// All lines, in the order of the table.
            $vis const ALL: [Self; [$($(#[$when])* stringify!($line)),+].len()] =
                [$($(#[$when])* Self::$line),+];

            /// The line of that name.
            #[must_use]
            $vis fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|line| line.name == name)
            }
        }

        impl std::ops::Deref for $table {
            type Target = $entry;

            fn deref(&self) -> &$entry {
                match self {
                    $($(#[$when])* Self::$line => &$at,)+
                }
            }
        }
    };
}

/// Names the variants of an enum, in the order of lists: `names! { Fruit: Apple = "apple", Pear = "pear" }`.
#[macro_export]
macro_rules! names {
    ($kind:ident: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $kind {
            /// All of them, in the order of lists.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name in files, options, reports and lists.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}
