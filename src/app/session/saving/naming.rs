//! Asks the user for a path: by the desktop's dialog, or by the window's own prompt where there is none.
//!
//! In: what the path is for. Out: names that are proposed, and what the answer begins.

use std::path::{Path, PathBuf};

use super::{CHARTS, with_ending, with_ending_of};
use crate::{
    app::{
        dialogs::{Answer, Dialog, Purpose},
        session::Session,
    },
    ui::{NoticeKind, PathPrompt, PathPurpose},
};

impl Session {
    /// The window's own prompt for a path.
    pub fn path_prompt(&self) -> Option<&PathPrompt> {
        self.saving.prompt.as_ref()
    }

    /// Handles the answer of the path prompt. An existing file is overwritten if it is named a second time.
    pub(in crate::app::session) fn answer_prompt(&mut self, path: Option<PathBuf>) {
        let Some(prompt) = self.saving.prompt.take() else { return };
        let purpose = match prompt.asks {
            PathPurpose::Open => Purpose::Open,
            PathPurpose::Add => Purpose::Add,
            PathPurpose::Cutter => Purpose::Cutter,
            PathPurpose::Save => Purpose::Save,
            PathPurpose::SaveStanding => Purpose::SaveStanding,
            PathPurpose::Chart => Purpose::Chart,
            PathPurpose::Sheet => Purpose::Sheet,
            PathPurpose::Figure => Purpose::Figure,
        };
        let Some(path) = path else { return self.answered(purpose, Answer::Cancelled) };
        if matches!(purpose, Purpose::Open | Purpose::Add | Purpose::Cutter) {
            return self.answered(purpose, Answer::Chosen(path));
        }
        let path = match purpose {
            Purpose::Chart => with_ending_of(&path, CHARTS),
            Purpose::Sheet => with_ending_of(&path, &["png"]),
            _ => with_ending(&path),
        };
        if path.exists() && prompt.there.as_ref() != Some(&path) {
            let proposed = path.display().to_string();
            self.saving.prompt = Some(PathPrompt { there: Some(path), proposed, ..prompt });
        } else {
            self.answered(purpose, Answer::Chosen(path));
        }
    }

    /// Opens the window's own prompt for a path.
    fn prompt(&mut self, asks: PathPurpose) {
        let folder = std::env::current_dir().unwrap_or_default();
        let proposed = match asks {
            PathPurpose::Open | PathPurpose::Add | PathPurpose::Cutter => String::new(),
            PathPurpose::Save | PathPurpose::SaveStanding => {
                free_file(&folder, &self.scene_name(), "toml").unwrap_or(folder).display().to_string()
            }
            PathPurpose::Figure => {
                free_file(&folder, &self.figure_name(), "toml").unwrap_or(folder).display().to_string()
            }
            PathPurpose::Chart => {
                let name = self.saving.chart.as_ref().map_or_else(String::new, |chart| chart.file_stem());
                free_file(&folder, &name, "csv").unwrap_or(folder).display().to_string()
            }
            PathPurpose::Sheet => {
                free_file(&folder, &self.sheet_stem(), "png").unwrap_or(folder).display().to_string()
            }
        };
        self.saving.prompt = Some(PathPrompt { asks, proposed, there: None });
    }

    pub(in crate::app::session) fn ask(&mut self, purpose: Purpose) {
        if self.saving.has_no_dialogs && purpose != Purpose::ExportFolder {
            return self.answered(purpose, Answer::Missing);
        }
        if !self.saving.is_asking() {
            let name = match (purpose, &self.saving.chart) {
                (Purpose::Chart, Some(chart)) => chart.file_stem(),
                (Purpose::Sheet, _) => self.sheet_stem(),
                (Purpose::Figure, _) => self.figure_name(),
                _ => self.scene_name(),
            };
            self.saving.dialog = Some(Dialog::open(purpose, &name));
        }
    }

    pub(in crate::app::session) fn answered(&mut self, purpose: Purpose, answer: Answer) {
        match (purpose, answer) {
            (Purpose::Open, Answer::Chosen(path)) => self.open(&path, self.level()),
            (Purpose::Add, Answer::Chosen(path)) => self.add(&path),
            (Purpose::Cutter, Answer::Chosen(path)) => self.begin_crack_picture(&path),
            (Purpose::Save | Purpose::SaveStanding, Answer::Chosen(path)) => self.save_as(&path, purpose),
            (Purpose::ExportFolder, Answer::Chosen(path)) => self.chose_export_folder(&path),
            (Purpose::Chart, Answer::Chosen(path)) => self.write_chart(path),
            (Purpose::Sheet, Answer::Chosen(path)) => self.write_sheet(&path),
            (Purpose::Figure, Answer::Chosen(path)) => self.write_figure(&path),
            (Purpose::Save | Purpose::SaveStanding, Answer::Cancelled) => self.tell_nothing_saved(),
            (_, Answer::Cancelled) => {}
            (Purpose::ExportFolder, Answer::Missing | Answer::Failed(_)) => self.say(
                NoticeKind::Error,
                "this desktop offers no file dialog; type the folder's path in the export panel",
            ),
            (_, Answer::Missing) => {
                self.saving.has_no_dialogs = true;
                self.prompt_for(purpose);
            }
            (_, Answer::Failed(why)) => {
                self.say(
                    NoticeKind::Error,
                    format!("the file dialog failed ({why}); type the path here instead"),
                );
                self.prompt_for(purpose);
            }
        }
    }

    fn prompt_for(&mut self, purpose: Purpose) {
        self.prompt(match purpose {
            Purpose::Save => PathPurpose::Save,
            Purpose::SaveStanding => PathPurpose::SaveStanding,
            Purpose::Add => PathPurpose::Add,
            Purpose::Cutter => PathPurpose::Cutter,
            Purpose::Chart => PathPurpose::Chart,
            Purpose::Sheet => PathPurpose::Sheet,
            Purpose::Figure => PathPurpose::Figure,
            Purpose::Open | Purpose::ExportFolder => PathPurpose::Open,
        });
    }
}

/// The first unused one of `name.toml`, `name-2.toml` and so on in a folder, with that ending in place of `toml`.
fn free_file(folder: &Path, name: &str, ending: &str) -> Option<PathBuf> {
    let numbered = (2..10_000).map(|i| folder.join(format!("{name}-{i}.{ending}")));
    std::iter::once(folder.join(format!("{name}.{ending}"))).chain(numbered).find(|p| !p.exists())
}
