//! Finds out how a result was made: the command that makes it again.
//!
//! In: a report, a picture or a scene. Out: the arguments, with a placeholder for the output path.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{old_report, where_is};
use crate::{
    cli::{CliError, input::about},
    export::{Signature, SignedPicture, read_signed},
    files,
    provenance::Provenance,
    scene::parse_scene,
};

/// Size limit of a report or picture, bytes.
const LARGEST: u64 = 1 << 30;

/// The result to repeat.
pub enum Original {
    /// A report of this name in its folder.
    Report { folder: PathBuf, report: OsString, rerun: Rerun },
    /// A picture.
    Picture { rerun: Rerun, picture: SignedPicture },
    /// A scene without results to compare with.
    Scene { rerun: Rerun },
}

/// A run of the program.
#[derive(Debug, Default)]
pub struct Rerun {
    /// Arguments without the program's name; `None` stands for the output path.
    words: Vec<Option<String>>,
    /// Working directory.
    pub from: PathBuf,
    /// The file to compare within the output folder.
    pub output: Option<String>,
    /// The scene that the run reads, if it must be written first: the arguments' name for it, and its text.
    pub scene: Option<(String, String)>,
    /// Whether the run writes a tour, into its working directory.
    pub is_tour: bool,
    /// The result, for messages.
    pub named: PathBuf,
}

impl Rerun {
    /// The arguments with `place` as the output path.
    pub fn arguments(&self, place: &Path) -> Vec<OsString> {
        let of = |word: &Option<String>| word.as_ref().map_or_else(|| place.into(), OsString::from);
        self.words.iter().map(of).collect()
    }

    /// A run with these arguments plus `--out`.
    pub fn into_folder(words: Vec<String>, from: PathBuf) -> Self {
        let words = words.into_iter().map(Some).chain([Some("--out".into()), None]).collect();
        Self { words, from, ..Self::default() }
    }
}

impl Original {
    /// Reads a result and finds out how it was made.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn read(file: &Path) -> Result<Self, CliError> {
        let bytes = files::read(file, LARGEST).map_err(|why| about(file, why))?;
        let ending = file.extension().unwrap_or_default().to_ascii_lowercase();
        let mut original = match ending.to_str() {
            Some("png") => picture(file, &bytes),
            Some("json") => report(file, &bytes),
            Some("toml") => scene(file),
            _ => {
                Err("it is none of the files that can be run again: report.json, a .png, a scene (.toml)"
                    .into())
            }
        }
        .map_err(|why| about(file, why))?;
        let (Self::Report { rerun, .. } | Self::Picture { rerun, .. } | Self::Scene { rerun }) =
            &mut original;
        rerun.named = file.to_owned();
        Ok(original)
    }
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn report(file: &Path, bytes: &[u8]) -> Result<Original, String> {
    let report: Value = serde_json::from_slice(bytes).map_err(|e| format!("it is no report: {e}"))?;
    let folder = folder_of(file);
    let name = file.file_name().unwrap_or_default().to_owned();
    let made: Provenance =
        report.get("provenance").cloned().and_then(|p| serde_json::from_value(p).ok()).unwrap_or_default();
    if made.command.get(1).is_some_and(|command| ["fracture", "simulate"].contains(&command.as_str())) {
        return Ok(Original::Report {
            folder,
            report: name,
            rerun: of_command(&made.command, "--out", file)?,
        });
    }
    if report.get("placed").is_some() {
        return Ok(Original::Report { rerun: exported(&folder, &report)?, folder, report: name });
    }
    if report.get("parameters").is_none() || report.get("input").is_none() {
        let what = match report.get("stages").is_some() || report.is_array() {
            true => "it holds times, which are never the same; `kintsugi bench` measures again",
            false => "it has neither a command nor an input and parameters; it is no report of a break",
        };
        return Err(what.into());
    }
    let words = old_report::arguments(&report, made.up)?;
    let from = place_of(report["input"]["file"].as_str().unwrap_or_default(), file)?;
    Ok(Original::Report { folder, report: name, rerun: Rerun::into_folder(words, from) })
}

/// The run for an export from the window or of a scene, from the scene saved beside it.
fn exported(folder: &Path, report: &Value) -> Result<Rerun, String> {
    let scene = std::path::absolute(folder.join("scene.toml")).map_err(|e| e.to_string())?;
    if !scene.exists() {
        return Err("the scene that it is of, scene.toml, is not beside it; put it there".into());
    }
    let placed = if report["placed"] == "as_they_lie" { "as-they-lie" } else { "fitted" };
    let formats: Vec<&str> =
        report["formats"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut words =
        vec!["fracture".into(), scene.to_string_lossy().into_owned(), "--placed".into(), placed.into()];
    if !formats.is_empty() {
        words.extend(["--format".into(), formats.join(",")]);
    }
    if let Some(kind) = report["meshes"]["kind"].as_str() {
        words.extend(["--mesh".into(), kind.into()]);
    }
    Ok(Rerun::into_folder(words, folder_of(&scene)))
}

/// The working directory from which a command finds its input.
fn place_of(input: &str, result: &Path) -> Result<PathBuf, String> {
    where_is(input, result).ok_or_else(|| {
        format!(
            "what it was made of, {input}, is neither here nor beside it; start this where that file is found"
        )
    })
}

/// The run of a recorded command, with a placeholder for the value of `option`.
fn of_command(command: &[String], option: &str, result: &Path) -> Result<Rerun, String> {
    let mut words = Vec::new();
    let mut input = None;
    let mut rest = command.iter().skip(1);
    while let Some(word) = rest.next() {
        if word == option {
            rest.next();
            words.extend([Some(word.clone()), None]);
        } else if word.starts_with(&format!("{option}=")) {
            words.extend([Some(option.to_owned()), None]);
        } else if ["--json", "--csv"].contains(&word.as_str()) {
            // The option's old value is replaced, so that the original stays intact.
            rest.next();
        } else if word != "--json-progress" {
            words.push(Some(word.clone()));
        }
    }
    // The input is the first word that is neither an option nor an option's value: files contain a dot or a colon, but
    // values may, too.
    for word in words.iter().flatten().skip(1) {
        let is_file = word.starts_with("builtin:") || where_is(word, result).is_some();
        if is_file && !word.starts_with('-') {
            input = Some(word.clone());
            break;
        }
    }
    let input = input.ok_or_else(|| {
        let line = command.join(" ");
        format!(
            "what `{line}` was made of is neither here nor beside it; start this where that file is found"
        )
    })?;
    Ok(Rerun { words, from: place_of(&input, result)?, ..Rerun::default() })
}

fn picture(file: &Path, bytes: &[u8]) -> Result<Original, String> {
    let picture = read_signed(bytes).map_err(|e| format!("it is no picture: {e}"))?;
    let Some(Signature { provenance, scene, .. }) = &picture.signature else {
        return Err(
            "it does not say how it was made; Kintsugi did not write it, or its texts were taken away".into(),
        );
    };
    let command = &provenance.command;
    let rerun = match command.get(1).map(String::as_str) {
        Some("render" | "sheet") => of_command(command, "--out", file)?,
        Some("compare") => of_command(command, "--picture", file)?,
        Some("simulate") => {
            Rerun { output: provenance.output.clone(), ..of_command(command, "--out", file)? }
        }
        _ if provenance.output.is_some() => {
            Rerun { is_tour: true, output: provenance.output.clone(), ..tour(command, file)? }
        }
        _ if scene.is_empty() => return Err("it has no scene that could be drawn again".into()),
        _ => of_scene(scene, picture.size, file)?,
    };
    Ok(Original::Picture { rerun, picture })
}

/// The run for a tour, which is written into its working directory, so its input needs an absolute path.
fn tour(command: &[String], result: &Path) -> Result<Rerun, String> {
    let mut words = Vec::new();
    for word in command.iter().skip(1) {
        let from =
            if word.starts_with('-') || word.starts_with("builtin:") { None } else { where_is(word, result) };
        let word = from.map_or_else(|| word.clone(), |from| from.join(word).to_string_lossy().into_owned());
        words.push(Some(word));
    }
    Ok(Rerun { words, ..Rerun::default() })
}

/// The run for a picture of the window, from the scene and camera in its metadata, at its size.
fn of_scene(text: &str, [width, height]: [u32; 2], result: &Path) -> Result<Rerun, String> {
    const NAME: &str = "scene.toml";
    let mut scene = parse_scene(text, "its scene").map_err(|error| error.message)?;
    for body in &mut scene.bodies {
        if !body.file.starts_with("builtin:") {
            let from = place_of(&body.file, result)?;
            body.file = from.join(&body.file).to_string_lossy().into_owned();
        }
    }
    let size = format!("{width}x{height}");
    let words: Vec<String> =
        ["render", NAME, "--size", &size].iter().map(|word| (*word).to_owned()).collect();
    Ok(Rerun { scene: Some((NAME.into(), scene.to_text())), ..Rerun::into_folder(words, PathBuf::new()) })
}

/// An exported scene is compared with the results beside it; any other scene is played twice.
fn scene(file: &Path) -> Result<Original, String> {
    let folder = folder_of(file);
    let beside = files::read(&folder.join("report.json"), LARGEST).ok();
    let report = beside.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let is_exported = file.file_name().is_some_and(|name| name == "scene.toml");
    match report.filter(|report| is_exported && report.get("placed").is_some()) {
        Some(_) => report_beside(&folder),
        None => {
            let words = vec!["fracture".into(), file.to_string_lossy().into_owned()];
            let from = std::env::current_dir().map_err(|e| e.to_string())?;
            Ok(Original::Scene { rerun: Rerun::into_folder(words, from) })
        }
    }
}

fn report_beside(folder: &Path) -> Result<Original, String> {
    let file = folder.join("report.json");
    let bytes = files::read(&file, LARGEST).map_err(|why| why.to_string())?;
    report(&file, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str, option: &str) -> Vec<String> {
        let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let rerun = of_command(&command, option, Path::new("x/report.json")).unwrap();
        rerun.arguments(Path::new("THERE")).iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_command_is_run_again_with_another_place_to_write_to() {
        let again = words("kintsugi fracture builtin:vase --out a/b --rng 7 --json-progress", "--out");
        assert_eq!(again, ["fracture", "builtin:vase", "--out", "THERE", "--rng", "7"]);
        let again = words("kintsugi compare --picture=m.png builtin:box --json t.json", "--picture");
        assert_eq!(again, ["compare", "--picture", "THERE", "builtin:box"]);
        let gone = ["kintsugi", "fracture", "no-such-mesh.obj", "--out", "x"].map(str::to_owned);
        let error = of_command(&gone, "--out", Path::new("x/report.json")).unwrap_err();
        assert!(error.contains("no-such-mesh.obj") && error.contains("neither here nor beside"), "{error}");
    }
}
