//! Parameters that a user can set, each described once: name, unit, range, slider, help.
//!
//! In: a table of [`Row`]s beside the values that the rows describe. Out: what panels, commands, checks of files, undo
//! and documents need. A [`Parameter`] is the description alone; a row also reads and writes the value in its owner.

use serde_json::Value;

/// Whether a value is left out of files because it is the default.
#[must_use]
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Description of a parameter. Of those that are no numbers, `range` and `slider` are not used.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name in scene files, with the tables that it is in: `crack.noise.octaves`.
    pub path: &'static str,
    /// Label in a panel.
    pub label: &'static str,
    /// Name of a step of undo.
    pub undo: &'static str,
    /// Name of the option of commands without `--`; empty: none.
    pub option: &'static str,
    /// Unit, as panels and documents show it.
    pub unit: &'static str,
    /// Least and greatest value that files, commands and typed numbers may give.
    pub range: (f64, f64),
    /// Least and greatest value of the slider, within `range` or beyond it.
    pub slider: (f64, f64),
    /// Digits that a panel shows after the decimal point.
    pub decimals: usize,
    /// Whether the slider is logarithmic.
    pub logarithmic: bool,
    /// Whether the value is a whole number.
    pub whole: bool,
    /// What the value does: the tooltip, the help of the option and the document.
    pub help: &'static str,
    /// What the document says beside `help`.
    pub more: &'static str,
    /// What holds where no value is set, for values that have no default number.
    pub unset: &'static str,
}

impl Parameter {
    /// A parameter that is no number.
    #[must_use]
    pub const fn new(label: &'static str, help: &'static str) -> Self {
        Self {
            path: "",
            label,
            undo: label,
            option: "",
            unit: "",
            range: (0.0, 0.0),
            slider: (0.0, 0.0),
            decimals: 2,
            logarithmic: false,
            whole: false,
            help,
            more: "",
            unset: "none",
        }
    }

    /// A value with nothing but a name in steps of undo.
    #[must_use]
    pub const fn named(undo: &'static str) -> Self {
        Self::new(undo, "")
    }

    /// A number from `low` to `high`.
    #[must_use]
    pub const fn number(label: &'static str, (low, high): (f64, f64), help: &'static str) -> Self {
        Self { range: (low, high), slider: (low, high), ..Self::new(label, help) }
    }

    /// A whole number from `low` to `high`.
    #[must_use]
    pub const fn whole(label: &'static str, range: (f64, f64), help: &'static str) -> Self {
        Self { whole: true, decimals: 0, ..Self::number(label, range, help) }
    }

    /// The same with a path, if the parameter has none.
    #[must_use]
    pub const fn at(self, path: &'static str) -> Self {
        if self.path.is_empty() { Self { path, ..self } } else { self }
    }

    /// The same with a slider between other ends.
    #[must_use]
    pub const fn slider(self, low: f64, high: f64) -> Self {
        Self { slider: (low, high), ..self }
    }

    /// The same with a logarithmic slider between other ends.
    #[must_use]
    pub const fn logarithmic(self, low: f64, high: f64) -> Self {
        Self { logarithmic: true, ..self.slider(low, high) }
    }

    /// The same with a unit, and so many digits after the decimal point in panels.
    #[must_use]
    pub const fn unit(self, unit: &'static str, decimals: usize) -> Self {
        Self { unit, decimals, ..self }
    }

    /// The same with another name in steps of undo.
    #[must_use]
    pub const fn undo(self, undo: &'static str) -> Self {
        Self { undo, ..self }
    }

    /// The same with an option of commands.
    #[must_use]
    pub const fn option(self, option: &'static str) -> Self {
        Self { option, ..self }
    }

    /// The same with more text in the document.
    #[must_use]
    pub const fn more(self, more: &'static str) -> Self {
        Self { more, ..self }
    }

    /// The same with what holds where no value is set.
    #[must_use]
    pub const fn unset(self, unset: &'static str) -> Self {
        Self { unset, ..self }
    }

    /// The last part of the path: the name of the field.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// The name of the panel's row for programs that find rows by name.
    #[must_use]
    pub fn widget(&self) -> String {
        self.path.trim_start_matches("view.").replace('.', "_")
    }

    /// Whether a value is in range.
    ///
    /// # Errors
    /// The value and the range, to be read after the name.
    pub fn check(&self, value: f64) -> Result<(), String> {
        let (low, high) = self.range;
        // NaN is in no range.
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(match self.whole {
            true => format!("is {value}; it must be from {low} to {high}"),
            // Debug formatting uses an exponent for large and tiny numbers.
            false => format!("is {value:?}; it must be a number from {low} to {high}"),
        })
    }

    /// Reads a value that a user typed; whether it is in range is a question for [`Self::check`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let value: f64 =
            text.trim().parse().map_err(|_| format!("a number is wanted, as in 0.5, not {text}"))?;
        if self.whole && (value.fract() != 0.0 || value < 0.0) {
            return Err(format!("a whole number from 0 on is wanted, not {text}"));
        }
        Ok(value)
    }

    /// The help of an option: what the value does, its range and default.
    #[must_use]
    pub fn option_help(&self, default: &Value) -> String {
        format!("{}{} [default: {}]", self.help, self.shown_range(), self.shown(default))
    }

    /// A row of a table in a document: field, unit, default, meaning with the range.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn document_row(&self, default: &Value) -> String {
        let tables = ["crack.", "interior.", "view."];
        let inner = tables.iter().find_map(|table| self.path.strip_prefix(table)).unwrap_or(self.path);
        let name = inner.replace('.', "`.`");
        let more = if self.more.is_empty() { String::new() } else { format!("; {}", self.more) };
        let unit = if self.unit.is_empty() { String::new() } else { format!("{} ", self.unit.trim()) };
        format!("| `{name}` | {unit}| {} | {}{}{more} |", self.shown(default), self.help, self.shown_range())
    }

    fn shown_range(&self) -> String {
        match self.range {
            (low, high) if low >= high => String::new(),
            (low, high) if high >= f64::from(u32::MAX) && self.whole => format!("; {low} or more"),
            (low, high) => format!("; {low} to {high}"),
        }
    }

    /// A value as a file has it, for people: whole numbers without a point, and [`Self::unset`] for null and empty
    /// tables.
    #[must_use]
    pub fn shown(&self, value: &Value) -> String {
        match value {
            Value::Null => self.unset.to_owned(),
            Value::Object(table) if table.is_empty() => self.unset.to_owned(),
            Value::Number(number) if number.as_f64().is_some_and(|v| v.fract() == 0.0) => {
                number.as_f64().unwrap_or_default().to_string()
            }
            Value::Array(items) if !items.is_empty() => {
                format!("[{}]", items.iter().map(|item| self.shown(item)).collect::<Vec<_>>().join(", "))
            }
            Value::Array(_) => self.unset.to_owned(),
            other => other.to_string(),
        }
    }
}

/// A value that a row can read and write as a number.
pub trait Number: Copy {
    /// The value; `None` where none is set.
    fn get(self) -> Option<f64>;
    /// The value nearest to `value`; `self` where nothing can hold none.
    #[must_use]
    fn put(self, value: Option<f64>) -> Self;
}

macro_rules! number {
    ($type:ty, $narrow:expr) => {
        impl Number for $type {
            fn get(self) -> Option<f64> {
                Some(f64::from(self))
            }

            fn put(self, value: Option<f64>) -> Self {
                value.map_or(self, $narrow)
            }
        }

        impl Number for Option<$type> {
            fn get(self) -> Option<f64> {
                self.map(f64::from)
            }

            fn put(self, value: Option<f64>) -> Self {
                value.map($narrow)
            }
        }
    };
}

number!(f64, |value| value);
number!(u32, |value| value.round() as u32);

/// A parameter and its place in its owner. Made by [`rows!`](crate::rows).
pub struct Row<T: 'static> {
    /// The description.
    pub of: Parameter,
    /// The value as a file has it; null where none is set.
    pub read: fn(&T) -> Value,
    /// The value as a number, if it is one.
    pub get: fn(&T) -> Option<f64>,
    /// Sets the number.
    pub set: fn(&mut T, Option<f64>),
    /// Whether the value has an effect beside the other values; its row is shown then.
    pub applies: fn(&T) -> bool,
}

impl<T> Row<T> {
    /// Whether the value is a number that a slider sets.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.of.range.0 < self.of.range.1
    }

    /// The field and what is wrong with its number, if it is out of range.
    pub fn problem(&self, owner: &T) -> Option<(&'static str, String)> {
        let value = (self.get)(owner).filter(|_| self.is_number())?;
        self.of.check(value).err().map(|problem| (self.of.field(), problem))
    }

    /// A row of a table in a document, with the default that `usual` has.
    #[cfg(any(test, feature = "testing"))]
    pub fn document_row(&self, usual: &T) -> String {
        self.of.document_row(&(self.read)(usual))
    }

    /// Whether two owners differ in the value.
    pub fn differs(&self, a: &T, b: &T) -> bool {
        (self.read)(a) != (self.read)(b)
    }
}

/// A value as a file has it; null if it has none.
pub fn as_in_file(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A list of [`Row`]s: `rows! { Owner; number table.field = Parameter, if |owner| has_effect; value other = Parameter; }`.
/// A `number` can be read and written as one; the path of a parameter that has none is that of the field.
#[macro_export]
macro_rules! rows {
    ($owner:ty; $($kind:ident $first:ident $(. $rest:ident)* = $of:expr $(, if $applies:expr)?;)*) => {
        &[$($crate::parameter::Row::<$owner> {
            of: $of.at(concat!(stringify!($first) $(, ".", stringify!($rest))*)),
            read: |owner| $crate::parameter::as_in_file(&owner.$first$(.$rest)*),
            get: $crate::rows!(get $kind $owner, $first $(. $rest)*),
            set: $crate::rows!(set $kind $owner, $first $(. $rest)*),
            applies: $crate::rows!(applies $($applies)?),
        }),*]
    };
    (get value $owner:ty, $($path:tt)*) => { |_| None };
    (set value $owner:ty, $($path:tt)*) => { |_, _| {} };
    (get number $owner:ty, $($path:tt)*) => { |owner| $crate::parameter::Number::get(owner.$($path)*) };
    (set number $owner:ty, $($path:tt)*) => {
        |owner, value| owner.$($path)* = $crate::parameter::Number::put(owner.$($path)*, value)
    };
    (applies) => { |_| true };
    (applies $applies:expr) => { $applies };
}

/// Constant [`Parameter`]s: `parameters! { NAME = Parameter; }`.
#[macro_export]
macro_rules! parameters {
    ($($(#[$doc:meta])* $vis:vis $name:ident = $of:expr;)*) => {
        $($(#[$doc])* $vis const $name: $crate::parameter::Parameter = $of;)*
    };
}

pub use {parameters, rows};

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Owner {
        inner: Inner,
        name: String,
    }

    #[derive(Default)]
    struct Inner {
        count: u32,
        radius: Option<f64>,
    }

    const ROWS: &[Row<Owner>] = rows! { Owner;
        number inner.count = Parameter::whole("Count", (1.0, 9.0), "How many");
        number inner.radius = Parameter::number("Radius", (0.5, 2.0), "How far").unit(" m", 1).unset("everywhere"),
            if |owner| owner.inner.count > 0;
        value name = Parameter::new("Name", "What it is called");
    };
    const COUNT: &Row<Owner> = &ROWS[0];
    const RADIUS: &Row<Owner> = &ROWS[1];
    const NAME: &Row<Owner> = &ROWS[2];

    #[test]
    fn a_row_reads_writes_and_checks_its_value() {
        let mut owner = Owner::default();
        assert_eq!((COUNT.problem(&owner).unwrap().0, RADIUS.problem(&owner)), ("count", None));
        (COUNT.set)(&mut owner, Some(3.2));
        (RADIUS.set)(&mut owner, Some(f64::NAN));
        assert_eq!((owner.inner.count, COUNT.problem(&owner)), (3, None));
        let (field, problem) = RADIUS.problem(&owner).unwrap();
        assert_eq!((field, &*problem), ("radius", "is NaN; it must be a number from 0.5 to 2"));
        (RADIUS.set)(&mut owner, None);
        assert_eq!((RADIUS.get)(&owner), None);
        assert!(NAME.problem(&owner).is_none() && !NAME.is_number());
        assert!((RADIUS.applies)(&owner) && !(RADIUS.applies)(&Owner::default()));
        assert!(COUNT.differs(&owner, &Owner::default()) && !NAME.differs(&owner, &Owner::default()));
    }

    #[test]
    fn a_description_is_help_and_a_row_of_a_document() {
        let usual = Owner { inner: Inner { count: 4, radius: None }, name: "vase".into() };
        assert_eq!(COUNT.of.option_help(&(COUNT.read)(&usual)), "How many; 1 to 9 [default: 4]");
        let row = RADIUS.of.document_row(&(RADIUS.read)(&usual));
        assert_eq!(row, "| `inner`.`radius` | m | everywhere | How far; 0.5 to 2 |");
        assert_eq!(NAME.of.document_row(&(NAME.read)(&usual)), "| `name` | | \"vase\" | What it is called |");
        let parsed = |text: &str| COUNT.of.parse(text).map_err(|error| error.contains("whole"));
        assert_eq!([parsed(" 5"), parsed("2.5"), parsed("five")], [Ok(5.0), Err(true), Err(false)]);
    }
}
