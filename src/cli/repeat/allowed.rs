//! Which commands `kintsugi repeat` takes over from a file, and with which options.
//!
//! In: the words of a command that a report or a picture names, which may come from anybody. Out: the same command with
//! a placeholder for the place of its results, or why it is not run. A command may read its input, write into the place
//! that `repeat` chooses, and nothing else: an option that is in none of the lists below is refused.

use std::path::{Path, PathBuf};

use clap::Command;

use crate::{cli::grammar, mesh::references_may_lie_outside};

/// Commands whose results are repeated, each with the option that names the place of its results.
const COMMANDS: [(&str, &str); 7] = [
    ("fracture", "out"),
    ("simulate", "out"),
    ("render", "out"),
    ("sheet", "out"),
    ("compare", "picture"),
    ("figure", "out"),
    ("stress", "out"),
];

/// Options that take numbers or names of the program's own tables, or no value.
const PLAIN: &str = "\
     acceleration all-triangles backdrop-brightness backdrop-turn bake blow blow-strength bond-loads \
     bond-strength bonds cells chip-size chip-spread chips clusters coarser collision collision-points color-by \
     color-log color-map color-range compute contact-log contact-substeps contacts count-contacts counts density \
     direction displacement dust explode field-epsilon field-level field-most-points field-selection follow \
     force format fps frames generations grain-axis grain-ratio held impact interior interior-relief \
     interior-scale interior-seed island-level keep labelling legend level local material mesh method methods \
     modes noise object objects offset only option overlays pairs parts pattern pieces pivot placed poisson \
     prefix pressure radii radius relief-edge repeat response rng scale-bar seams seconds seeds shadows show \
     sides simplify size slab-jitter slab-spacing slice slice-alone slice-lines smallest spread strength \
     stress-load surface target through transition-level transparent uncut units up vary view volume-every \
     voxel-size";

/// Options whose value may be a file to read.
const READ: [&str; 5] = ["backdrop", "camera", "cutter", "preset", "seeds-file"];

/// Options that are left out: another place to write to, how progress is shown, and what this machine may not have.
const LEFT_OUT: [&str; 4] = [ADAPTER, "json", "json-progress", "legend-file"];

/// The option that chooses an adapter, which all commands have.
const ADAPTER: &str = "adapter";

/// The option that lets a mesh name files outside its folder; only the user may give it.
const OUTSIDE: &str = "outside-references";

/// A command that may be run.
#[derive(Debug)]
pub struct Line {
    /// Its words without the program's name; `None` stands for the place of the results.
    pub words: Vec<Option<String>>,
    /// The working directory from which it finds its input.
    pub from: PathBuf,
}

/// The command of a result at `result`, from `words`, which begin with the command's name.
///
/// # Errors
/// Which word is not run, and why.
pub fn command(words: &[String], result: &Path) -> Result<Line, String> {
    let grammar = grammar();
    let name = words.first().map_or("", String::as_str);
    let known = COMMANDS.iter().find(|(command, _)| *command == name);
    let Some((command, (_, place))) = grammar.find_subcommand(name).zip(known) else {
        let all = COMMANDS.map(|(command, _)| command).join(", ");
        return Err(format!("it was made by `kintsugi {name}`, which is not run for a file; only {all} are"));
    };
    let mut taking = Taking::new(command, result);
    taking.words.push(Some(name.to_owned()));
    taking.take(&words[1..], Some(place))?;
    if !taking.words.contains(&None) {
        // Without the option a figure would be written where its file says.
        taking.words.extend([Some(format!("--{place}")), None]);
    }
    match taking.from {
        Some(from) => Ok(Line { words: taking.words, from }),
        None => Err("its command names no input".into()),
    }
}

/// The tour of a picture at `result`, from `words`, which hold no command. Its input gets an absolute path, since a tour
/// is written into the working directory.
///
/// # Errors
/// See [`command`].
pub fn tour(words: &[String], result: &Path) -> Result<Vec<Option<String>>, String> {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return Err("a tour is written where there is no display, which this system always has".into());
    }
    let grammar = grammar();
    let mut taking = Taking { is_tour: true, ..Taking::new(&grammar, result) };
    taking.take(words, None)?;
    Ok(taking.words)
}

/// A command whose words are being taken over.
struct Taking<'a> {
    command: &'a Command,
    result: &'a Path,
    is_tour: bool,
    words: Vec<Option<String>>,
    from: Option<PathBuf>,
}

impl<'a> Taking<'a> {
    fn new(command: &'a Command, result: &'a Path) -> Self {
        Self { command, result, is_tour: false, words: Vec::new(), from: None }
    }

    fn take(&mut self, words: &[String], place: Option<&str>) -> Result<(), String> {
        // The input says where files of options are looked for, so options with files wait for it.
        let mut files = Vec::new();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let Some(option) = word.strip_prefix("--") else {
                self.input(word)?;
                continue;
            };
            let (option, joined) = option.split_once('=').map_or((option, None), |(o, v)| (o, Some(v)));
            let value = match (self.takes_value(option)?, joined) {
                (false, None) => None,
                (true, Some(value)) => Some(value.to_owned()),
                (true, None) => Some(rest.next().ok_or_else(|| format!("--{option} lacks a value"))?.clone()),
                (false, Some(_)) => return Err(format!("--{option} takes no value")),
            };
            match value {
                _ if LEFT_OUT.contains(&option) => {}
                _ if option == OUTSIDE => self.words.push(Some(word.clone())),
                Some(_) if place == Some(option) => self.words.extend([Some(format!("--{option}")), None]),
                Some(value) if READ.contains(&option) => files.push((option, value)),
                // One word, so that no value is taken for an option.
                Some(value) => self.words.push(Some(format!("--{option}={value}"))),
                None => self.words.push(Some(word.clone())),
            }
        }
        for (option, value) in files {
            let value = self.file(option, value)?;
            self.words.push(Some(format!("--{option}={value}")));
        }
        Ok(())
    }

    /// Whether an option that may be given takes a value.
    fn takes_value(&self, option: &str) -> Result<bool, String> {
        if option == OUTSIDE {
            return match references_may_lie_outside() {
                true => Ok(false),
                false => Err(format!(
                    "it was made with --{OUTSIDE}, which lets its input name files anywhere; start `kintsugi --{OUTSIDE} \
                     repeat` if you trust it"
                )),
            };
        }
        if option == ADAPTER {
            return Ok(true);
        }
        let argument = self.command.get_arguments().find(|argument| argument.get_long() == Some(option));
        let is_place = COMMANDS.contains(&(self.command.get_name(), option));
        let is_plain = PLAIN.split(' ').any(|known| known == option);
        let is_known = is_plain || is_place || READ.contains(&option) || LEFT_OUT.contains(&option);
        match argument.filter(|_| is_known) {
            Some(argument) => Ok(argument.get_action().takes_values()),
            None => Err(format!("its command has the option --{option}, which is not run for a file")),
        }
    }

    /// The command's input: one file or built-in shape.
    fn input(&mut self, name: &str) -> Result<(), String> {
        if name.starts_with('-') || self.from.is_some() {
            return Err(format!("its command has the word {name:?}, which is not run for a file"));
        }
        if self.is_tour && self.command.find_subcommand(name).is_some() {
            return Err(format!("its command is {name}, which is not run for a picture of the window"));
        }
        let from = place_of(name, self.result)?;
        let is_built_in = name.starts_with("builtin:");
        let name = match self.is_tour && !is_built_in {
            true => from.join(name).to_string_lossy().into_owned(),
            false => name.to_owned(),
        };
        self.words.push(Some(name));
        self.from = Some(from);
        Ok(())
    }

    /// The value of an option that may be a file: as it stands if the command finds it, else its absolute path.
    fn file(&self, option: &str, value: String) -> Result<String, String> {
        if !is_file(option, &value) {
            return Ok(value);
        }
        let from = place_of(&value, self.result)?;
        match self.from.as_ref() == Some(&from) {
            true => Ok(value),
            false => Ok(from.join(value).to_string_lossy().into_owned()),
        }
    }
}

/// Whether this value of this option is a file to read.
pub fn is_file(option: &str, value: &str) -> bool {
    let is_name = option == "preset" && !value.ends_with(".toml") && !value.contains(['/', '\\']);
    let is_json = option == "camera" && value.trim_start().starts_with('{');
    READ.contains(&option) && !is_name && !is_json
}

/// The working directory from which a command finds this file.
///
/// # Errors
/// A message if it is found nowhere.
pub fn place_of(input: &str, result: &Path) -> Result<PathBuf, String> {
    // Looking for a file of another computer would already send the user's credentials there, on Windows.
    if input.starts_with("\\\\") || input.starts_with("//") {
        return Err(format!(
            "what it was made of, {input}, lies on another computer; run the command by hand"
        ));
    }
    where_is(input, result).ok_or_else(|| {
        format!(
            "what it was made of, {input}, is neither here nor beside it; start this where that file is found"
        )
    })
}

/// A command as one types it. What a shell or a terminal would take for something else is quoted.
pub fn shown(words: impl Iterator<Item = String>) -> String {
    let is_plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./\\:,=%+#~@".contains(c))
    };
    words.fold("kintsugi".to_owned(), |line, word| match is_plain(&word) {
        true => format!("{line} {word}"),
        false => format!("{line} {word:?}"),
    })
}

/// The working directory from which `file` is found: the present one, the result's folder, or one above it.
fn where_is(file: &str, result: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    if file.starts_with("builtin:") || Path::new(file).is_absolute() {
        return (file.starts_with("builtin:") || Path::new(file).is_file()).then_some(here);
    }
    let beside = std::path::absolute(result).ok()?;
    let places = std::iter::once(here.as_path()).chain(beside.ancestors().skip(1));
    places.into_iter().find(|place| place.join(file).is_file()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Vec<String>, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let line = command(&words, Path::new("x/report.json"))?;
        Ok(line.words.into_iter().map(|word| word.unwrap_or_else(|| "THERE".into())).collect())
    }

    #[test]
    fn a_command_is_run_again_with_another_place_to_write_to() {
        let again = of("fracture builtin:vase --out a/b --rng 7 --json-progress --impact -1,0,0").unwrap();
        assert_eq!(again, ["fracture", "builtin:vase", "--out", "THERE", "--rng=7", "--impact=-1,0,0"]);
        for json in ["--json t.json", "--json=t.json"] {
            let again = of(&format!("compare --picture=m.png builtin:box {json}")).unwrap();
            assert_eq!(again, ["compare", "--picture", "THERE", "builtin:box"]);
        }
        // A figure's file may name the place itself.
        assert_eq!(of("figure Cargo.toml").unwrap(), ["figure", "Cargo.toml", "--out", "THERE"]);
        assert_eq!(of("figure --out a.svg Cargo.toml").unwrap(), ["figure", "--out", "THERE", "Cargo.toml"]);
        let error = of("fracture no-such-mesh.obj --out x").unwrap_err();
        assert!(error.contains("no-such-mesh.obj") && error.contains("neither here nor beside"), "{error}");
    }

    #[test]
    fn what_a_file_names_is_run_only_if_it_is_in_the_lists() {
        for (line, why) in [
            ("repeat a.png", "only fracture, simulate, render, sheet, compare, figure, stress are"),
            ("sweep jobs.toml --out x", "only fracture"),
            ("presets --pictures x", "only fracture"),
            ("bench builtin:box --json x", "only fracture"),
            ("builtin:box", "only fracture"),
            ("fracture builtin:box --outside-references --out x", "if you trust it"),
            ("fracture builtin:box --picture x --out x", "--picture"),
            ("fracture builtin:box -o x", "\"-o\""),
            ("fracture builtin:box builtin:vase --out x", "\"builtin:vase\""),
            ("fracture builtin:box --out x -- --rng 3", "the option --,"),
            ("fracture builtin:box --out x --bonds=y", "takes no value"),
            ("fracture builtin:box --out x --rng", "lacks a value"),
            ("fracture builtin:box --seeds-file /no/such/seeds --out x", "/no/such/seeds"),
            ("render builtin:box --camera /no/such/camera --out x.png", "/no/such/camera"),
            ("render //server/share/box.obj --out x.png", "on another computer"),
            ("fracture --out x", "names no input"),
        ] {
            let error = of(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }

    #[test]
    fn a_tour_takes_no_command_and_no_place_to_write_to() {
        let tour = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            tour(&words, Path::new("x/a.png"))
        };
        assert_eq!(tour(&["builtin:box", "--level", "4"]).unwrap().len(), 2);
        for words in [&["--frame-log", "x"][..], &["--state-file=x"], &["--exit-after", "1"], &["--out", "x"]]
        {
            assert!(tour(words).is_err(), "{words:?}");
        }
        for words in [&["sweep", "jobs.toml"][..], &["fracture"], &["--level", "4", "fracture"]] {
            let error = tour(words).unwrap_err();
            assert!(error.contains("is not run"), "{words:?}: {error}");
        }
    }

    /// A new option is refused until somebody decides in which list it belongs.
    #[test]
    fn every_option_of_a_command_that_is_repeated_is_in_one_list() {
        let (grammar, plain) = (grammar(), PLAIN.split(' ').collect::<Vec<_>>());
        for (name, place) in COMMANDS {
            let command = grammar.find_subcommand(name).unwrap();
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                let lists = [&plain[..], &READ, &LEFT_OUT, &[place, OUTSIDE]];
                let count = lists.iter().filter(|list| list.contains(&option)).count();
                assert_eq!(count, 1, "{name} --{option}: in {count} lists of allowed.rs");
            }
        }
        for option in plain {
            let has = |command: &Command| command.get_arguments().any(|a| a.get_long() == Some(option));
            assert!(
                COMMANDS.iter().any(|(name, _)| grammar.find_subcommand(name).is_some_and(has)),
                "{option} is no option any more"
            );
        }
    }

    #[test]
    fn a_line_is_shown_as_it_is_typed() {
        let words = ["render", "a b.obj", "--camera={\"yaw\":1}", "\u{1b}[2J"].map(str::to_owned);
        let line = shown(words.into_iter());
        assert_eq!(line, r#"kintsugi render "a b.obj" "--camera={\"yaw\":1}" "\u{1b}[2J""#);
    }
}
