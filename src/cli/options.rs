//! Options that are made from tables: numbers from that of fracture parameters, names of choices and of formats.

use clap::{
    Arg, ArgMatches, Args, Command, Error, FromArgMatches,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde::{
    Deserializer,
    de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor, value},
    forward_to_deserialize_any,
};

use super::CliError;
use crate::{
    export::{Format, FormatEntry},
    fracture::{CRACK, FractureParams, ParamProblem},
    parameter::Row,
};

/// The options of the crack surfaces (`CRACKS`), or of all other fracture parameters.
#[derive(Clone, Debug, Default)]
pub struct Numbers<const CRACKS: bool>(Vec<(&'static str, f64)>);

impl<const CRACKS: bool> Numbers<CRACKS> {
    /// Rows with an option of their own.
    fn rows() -> impl Iterator<Item = &'static Row<FractureParams>> {
        let is_here =
            |row: &&Row<FractureParams>| CRACK.iter().any(|crack| crack.of.path == row.of.path) == CRACKS;
        FractureParams::rows().filter(|row| row.is_number() && !row.of.option.is_empty()).filter(is_here)
    }

    /// Sets the values that were given.
    pub fn apply(&self, params: &mut FractureParams) {
        for (option, value) in &self.0 {
            let row = Self::rows().find(|row| row.of.option == *option);
            row.into_iter().for_each(|row| (row.set)(params, Some(*value)));
        }
    }

    /// The value that was given for an option.
    pub fn given(&self, option: &str) -> Option<f64> {
        self.0.iter().find_map(|(name, value)| (*name == option).then_some(*value))
    }

    /// The first option that was given.
    pub fn first(&self) -> Option<&'static str> {
        self.0.first().map(|(option, _)| *option)
    }

    /// The same with the value of an option, for tests.
    #[cfg(test)]
    pub fn with(option: &'static str, value: f64) -> Self {
        Self(vec![(option, value)])
    }
}

impl<const CRACKS: bool> Args for Numbers<CRACKS> {
    fn augment_args(command: Command) -> Command {
        let usual = FractureParams::default();
        Self::rows().fold(command, |command, row| {
            let parse = |text: &str| row.of.parse(text);
            let value_name = if row.of.whole { "N" } else { "X" };
            let arg = Arg::new(row.of.option).long(row.of.option).value_name(value_name).value_parser(parse);
            command.arg(arg.allow_negative_numbers(true).help(row.of.option_help(&(row.read)(&usual))))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const CRACKS: bool> FromArgMatches for Numbers<CRACKS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |row: &'static Row<FractureParams>| {
            Some((row.of.option, *matches.try_get_one::<f64>(row.of.option).ok()??))
        };
        Ok(Self(Self::rows().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A parameter that is out of range, by the name of its option.
pub fn refused((field, what): ParamProblem) -> CliError {
    let known = FractureParams::rows().find(|row| row.of.field() == field);
    let option = match (field, known.map_or("", |row| row.of.option)) {
        ("target_pieces", _) => "pieces".to_owned(),
        ("options", _) => "option".to_owned(),
        ("width" | "irregularity", _) => format!("dust: {field}"),
        ("amplitude" | "frequency" | "octaves", _) => format!("noise: {field}"),
        ("face" | "voxel", _) => format!("displacement: {field}"),
        (_, "") => field.replace('_', "-"),
        (_, option) => option.to_owned(),
    };
    CliError::Input(format!("--{option} {what}"))
}

/// Reads the name of a choice, as scene files and reports spell it.
pub fn choice<T: DeserializeOwned + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    let mut names: &'static [&'static str] = &[];
    // It stops at the names.
    let _ = T::deserialize(Names(&mut names));
    PossibleValuesParser::new(names).try_map(|name| {
        let read: Result<T, value::Error> = T::deserialize(name.into_deserializer());
        read.map_err(|error| error.to_string())
    })
}

/// Parses the name of a format that passes `wanted`.
pub fn formats(wanted: fn(&FormatEntry) -> bool) -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.into_iter().filter(move |format| wanted(format)).map(|format| format.name);
    PossibleValuesParser::new(names).try_map(|name| Format::named(&name).ok_or("there is no such format"))
}

/// Takes down the names of a choice.
struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = value::Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = names;
        Err(value::Error::custom("only its names are wanted"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Self::Error> {
        Err(value::Error::custom("it is no choice"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::Surface;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        numbers: Numbers<false>,
        #[command(flatten)]
        cracks: Numbers<true>,
        #[arg(long, value_parser = choice::<Surface>())]
        surface: Option<Surface>,
    }

    fn read(line: &str) -> Result<Line, Error> {
        <Line as clap::Parser>::try_parse_from(format!("kintsugi {line}").split_whitespace())
    }

    #[test]
    fn every_row_with_an_option_sets_its_value() {
        let options = Numbers::<false>::rows().chain(Numbers::<true>::rows());
        for row in options {
            let (low, high) = row.of.range;
            let value = if row.of.whole { low + 1.0 } else { (low + high) / 2.0 };
            let line = read(&format!("--{} {value}", row.of.option)).unwrap();
            let mut params = FractureParams::default();
            line.numbers.apply(&mut params);
            line.cracks.apply(&mut params);
            assert_eq!((row.get)(&params), Some(value), "{}", row.of.option);
            let given = line.numbers.first().or(line.cracks.first());
            assert_eq!(given, Some(row.of.option));
        }
        assert!(read("--clusters 2.5").is_err_and(|error| error.to_string().contains("a whole number")));
    }

    #[test]
    fn a_choice_is_read_by_its_name_in_files_and_a_wrong_one_gets_the_list() {
        assert_eq!(read("--surface dusty").unwrap().surface, Some(Surface::Dusty));
        let error = read("--surface dust").err().unwrap().to_string();
        assert!(error.contains("[possible values: planar, rough, dusty]"), "{error}");
    }

    #[test]
    fn a_number_out_of_range_is_refused_by_its_option() {
        let said = |change: fn(&mut FractureParams)| {
            let mut params = FractureParams::default();
            change(&mut params);
            params.problem().map(refused).map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(
            said(|p| p.interior.scale = 11.0),
            "--interior-scale is 11.0; it must be a number from 0.1 to 10"
        );
        assert!(
            said(|p| p.crack.noise.octaves = 6).starts_with("--noise: octaves is 6; it must be from 1 to 5")
        );
    }
}
