//! Finds out how a result was made: the command that makes it again.
//!
//! In: a report, a picture or a scene. Out: the arguments, with a placeholder for the output path.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use super::{
    allowed::{self, Line, place_of},
    old_report,
};
use crate::{
    cli::{CliError, input::about},
    export::{Signature, SignedPicture, read_signed},
    files,
    provenance::Provenance,
    scene::parse_scene,
};

/// Size limit of a result's file, bytes.
pub const LARGEST: u64 = 1 << 30;

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

    /// The command that is run, as one types it, with `...` for the place of its results.
    pub fn shown(&self) -> String {
        allowed::shown(self.words.iter().map(|word| word.clone().unwrap_or_else(|| "...".into())))
    }

    /// The run of a command that a result at `result` names: its words without the program's name, checked.
    ///
    /// # Errors
    /// Why it is not run.
    fn of_command(words: &[String], result: &Path) -> Result<Self, String> {
        let Line { words, from } = allowed::command(words, result)?;
        Ok(Self { words, from, ..Self::default() })
    }

    /// The same with `--out`.
    fn into_folder(mut words: Vec<String>, result: &Path) -> Result<Self, String> {
        words.push("--out=".into());
        Self::of_command(&words, result)
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

    /// How it is made again.
    pub fn rerun(&self) -> &Rerun {
        let (Self::Report { rerun, .. } | Self::Picture { rerun, .. } | Self::Scene { rerun }) = self;
        rerun
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
    let is_repeated = |command: &String| ["fracture", "simulate", "stress"].contains(&command.as_str());
    if made.command.get(1).is_some_and(is_repeated) {
        return Ok(Original::Report {
            folder,
            report: name,
            rerun: Rerun::of_command(&made.command[1..], file)?,
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
    Ok(Original::Report { folder, report: name, rerun: Rerun::into_folder(words, file)? })
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
        vec!["fracture".into(), scene.to_string_lossy().into_owned(), format!("--placed={placed}")];
    if !formats.is_empty() {
        words.push(format!("--format={}", formats.join(",")));
    }
    if let Some(kind) = report["meshes"]["kind"].as_str() {
        words.push(format!("--mesh={kind}"));
    }
    Rerun::into_folder(words, &scene)
}

fn picture(file: &Path, bytes: &[u8]) -> Result<Original, String> {
    let picture = read_signed(bytes).map_err(|e| format!("it is no picture: {e}"))?;
    let Some(Signature { provenance, scene, .. }) = &picture.signature else {
        return Err(
            "it does not say how it was made; Kintsugi did not write it, or its texts were taken away".into(),
        );
    };
    let words = provenance.command.get(1..).unwrap_or_default();
    let rerun = match words.first().map(String::as_str) {
        Some("render" | "sheet" | "compare" | "figure") => Rerun::of_command(words, file)?,
        Some("simulate") => Rerun { output: output(provenance)?, ..Rerun::of_command(words, file)? },
        _ if provenance.output.is_some() => Rerun {
            is_tour: true,
            output: output(provenance)?,
            words: allowed::tour(words, file)?,
            ..Rerun::default()
        },
        _ if scene.is_empty() => return Err("it has no scene that could be drawn again".into()),
        _ => of_scene(scene, picture.size, file)?,
    };
    Ok(Original::Picture { rerun, picture })
}

/// The file of a picture within the folder of its results.
fn output(provenance: &Provenance) -> Result<Option<String>, String> {
    let stays = |output: &String| Path::new(output).components().all(|c| matches!(c, Component::Normal(_)));
    match &provenance.output {
        Some(output) if !stays(output) => {
            Err(format!("it says that it lay at {output:?}, outside its folder"))
        }
        output => Ok(output.clone()),
    }
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
    let words = ["render", NAME, "--size", &size, "--out"].map(|word| Some(word.to_owned()));
    let words = words.into_iter().chain([None]).collect();
    Ok(Rerun { words, scene: Some((NAME.into(), scene.to_text())), ..Rerun::default() })
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
            Ok(Original::Scene { rerun: Rerun::into_folder(words, file)? })
        }
    }
}

fn report_beside(folder: &Path) -> Result<Original, String> {
    let file = folder.join("report.json");
    let bytes = files::read(&file, LARGEST).map_err(|why| why.to_string())?;
    report(&file, &bytes)
}
