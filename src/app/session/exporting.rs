//! Export from the window: the panel's settings, the folder, the worker and the final message.

use std::path::{Path, PathBuf};

use super::{Purpose, Session};
use crate::{
    export::ExportError,
    scene::{ExportJob, ExportKind, ExportOrder, ExportPlan, Exported, MotionPlan, Sandbox},
    threads::Pending,
    ui::{ExportView, NoticeKind},
};

/// The export panel and its worker.
#[derive(Default)]
pub struct Exporting {
    /// Whether the panel is open.
    pub open: bool,
    /// The panel's settings.
    pub order: ExportOrder,
    /// Whether the user chose the folder.
    named: bool,
    /// Whether the folder already holds files.
    taken: bool,
    looking: Option<Pending<Option<Found>>>,
    /// The running export.
    pub job: Option<ExportJob>,
    /// The last finished export.
    pub last: Option<Exported>,
}

/// What a worker found out of folders.
struct Found {
    /// A folder to export to.
    folder: Option<PathBuf>,
    /// Whether it holds files.
    taken: bool,
    /// Whether the user chose it.
    chosen: bool,
}

impl Exporting {
    /// Whether a worker exports, or looks at a folder.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || self.looking.is_some()
    }
}

impl Session {
    /// Opens or closes the panel.
    pub(super) fn toggle_export(&mut self) {
        let ready = self.sandbox.as_ref().is_some_and(|s| !s.bodies().is_empty());
        self.exporting.open = !self.exporting.open && ready;
        if self.exporting.open {
            let selects = self.sandbox.as_ref().is_some_and(|s| s.selected().next().is_some());
            self.exporting.order.only_selected &= selects;
            self.propose_folder();
        }
    }

    /// Opens the panel for the selected pieces alone.
    pub(super) fn export_selected(&mut self) {
        self.exporting.order.only_selected = true;
        if !self.exporting.open {
            self.toggle_export();
        }
    }

    /// Proposes an unused folder in the working directory, until the user chooses one.
    fn propose_folder(&mut self) {
        if self.exporting.named {
            return self.look_at_folder();
        }
        let (here, name) = (std::env::current_dir().unwrap_or_default(), self.scene_name());
        self.look(move || Found { folder: Some(free_folder(&here, &name)), taken: false, chosen: false });
    }

    fn look_at_folder(&mut self) {
        let folder = PathBuf::from(self.exporting.order.folder.trim());
        self.look(move || {
            let taken = !folder.as_os_str().is_empty() && !is_free(&folder);
            Found { folder: None, taken, chosen: false }
        });
    }

    /// Has a worker look at folders, which may lie on the other end of a network. Only the last answer counts.
    fn look(&mut self, look: impl FnOnce() -> Found + Send + 'static) {
        self.exporting.looking = Some(Pending::start(move || Some(look())));
    }

    fn take_in_look(&mut self) {
        let looking = self.exporting.looking.as_ref();
        let Some(found) = looking.and_then(|looking| looking.poll(|| None)) else { return };
        self.exporting.looking = None;
        let Some(Found { folder, taken, chosen }) = found else { return };
        self.exporting.named |= chosen;
        self.exporting.taken = taken;
        if let Some(folder) = folder.filter(|_| chosen || !self.exporting.named) {
            self.exporting.order.folder = folder.display().to_string();
        }
    }

    /// Applies a change made in the panel.
    pub(super) fn change_export(&mut self, order: ExportOrder) {
        let is_another = order.folder != self.exporting.order.folder;
        self.exporting.named |= is_another;
        self.exporting.order = order;
        if is_another {
            self.look_at_folder();
        }
    }

    /// Opens a dialog for the folder.
    pub(super) fn ask_export_folder(&mut self) {
        self.ask(Purpose::ExportFolder);
    }

    /// Takes the folder that the user chose, or a new folder inside it if it already holds other files.
    pub(super) fn chose_export_folder(&mut self, folder: &Path) {
        let (folder, name) = (folder.to_owned(), self.scene_name());
        self.look(move || {
            let folder = if is_free(&folder) { folder } else { free_folder(&folder, &name) };
            Found { folder: Some(folder), taken: false, chosen: true }
        });
    }

    /// Starts the export.
    pub(super) fn start_export(&mut self) {
        let (Some(sandbox), None) = (&self.sandbox, &self.exporting.job) else { return };
        let mut order = self.exporting.order.clone();
        order.object = order.object.filter(|object| *object < sandbox.objects().len());
        let folder = PathBuf::from(order.folder.trim());
        if folder.as_os_str().is_empty() {
            return self.say(NoticeKind::Error, "name a folder to export to");
        }
        let ran_on = sandbox.compute().ran_on();
        let file = sandbox.file().map(|file| file.path().to_owned());
        let nothing = "nothing is recorded yet; press Play or Step, then export what was recorded";
        let job = match order.kind {
            ExportKind::Pieces => {
                let plan = ExportPlan::new(sandbox, &order, self.camera, ran_on).sparing(file);
                let label = format!("Exporting {} pieces", plan.pieces());
                ExportJob::start(label, move |progress| plan.run(&folder, progress))
            }
            ExportKind::Motion => {
                let Some(plan) = MotionPlan::new(sandbox, &order, self.camera, ran_on) else {
                    return self.say(NoticeKind::Error, nothing);
                };
                let (plan, label) = (plan.sparing(file), "Exporting the motion".to_owned());
                ExportJob::start(label, move |progress| plan.run(&folder, progress))
            }
            ExportKind::Film => {
                let Some(film) = self.film(&order) else { return self.say(NoticeKind::Error, nothing) };
                let (label, signature) = (film.label(), self.picture_signature());
                ExportJob::start(label, move |progress| film.run(&folder, signature, progress))
            }
        };
        self.exporting.last = None;
        self.exporting.job = Some(job);
    }

    /// Stops the running export.
    pub(super) fn cancel_export(&mut self) {
        if let Some(job) = &self.exporting.job {
            job.progress.cancel();
        }
    }

    /// Shows a message with the result of the export.
    pub(super) fn tell_export(&mut self) {
        self.take_in_look();
        let Some(result) = self.exporting.job.as_ref().and_then(ExportJob::poll) else { return };
        self.exporting.job = None;
        match result {
            Ok(exported) => {
                exported.notes.iter().for_each(|note| self.say(NoticeKind::Remark, note.clone()));
                let kind = match exported.failed_checks.is_empty() {
                    true => NoticeKind::Remark,
                    false => NoticeKind::Error,
                };
                self.say(kind, exported.line());
                self.exporting.last = Some(exported);
                // A proposed folder is proposed anew; one that the user chose stays.
                self.propose_folder();
            }
            Err(ExportError::Cancelled) => {
                self.say(NoticeKind::Remark, "The export was cancelled; nothing was written");
                self.look_at_folder();
            }
            Err(error) => {
                self.say(NoticeKind::Error, error.to_string());
                self.look_at_folder();
            }
        }
    }

    /// What the panel shows; `None` while it is closed.
    pub fn export_view(&self) -> Option<ExportView<'_>> {
        let sandbox = self.sandbox.as_ref().filter(|_| self.exporting.open)?;
        Some(ExportView {
            order: &self.exporting.order,
            pieces: self.exporting.order.pieces(sandbox).count(),
            take: self.take_view(),
            frames: self.film_frames(),
            taken: self.exporting.taken,
            choosing: self.saving.asks_for() == Some(Purpose::ExportFolder),
            job: self.exporting.job.as_ref().map(|job| (job.label.as_str(), job.progress.get())),
            last: self.exporting.last.as_ref(),
        })
    }

    /// The panel's and the worker's state, for the state file.
    pub fn exporting(&self) -> &Exporting {
        &self.exporting
    }

    /// Resets what belonged to the previous scene.
    pub(super) fn forget_export_object(&mut self) {
        let count = self.sandbox.as_ref().map_or(0, |sandbox: &Sandbox| sandbox.objects().len());
        self.exporting.order.object = self.exporting.order.object.filter(|object| *object < count);
        if self.exporting.open {
            self.propose_folder();
        }
    }
}

/// Whether a folder is missing or empty.
fn is_free(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    }
}

/// `NAME-pieces` in `home`, or the first unused one of `NAME-pieces-2` and so on.
fn free_folder(home: &Path, name: &str) -> PathBuf {
    let stem = format!("{name}-pieces");
    let first = home.join(&stem);
    let numbered = (2..10_000).map(|i| home.join(format!("{stem}-{i}")));
    std::iter::once(first.clone()).chain(numbered).find(|path| is_free(path)).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposed_folders_hold_nothing() {
        let home = std::env::temp_dir().join(format!("kintsugi-proposed-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        assert_eq!(free_folder(&home, "vase"), home.join("vase-pieces"));
        std::fs::create_dir(home.join("vase-pieces")).unwrap();
        assert_eq!(free_folder(&home, "vase"), home.join("vase-pieces"), "an empty one will do");
        std::fs::write(home.join("vase-pieces/a"), "").unwrap();
        assert_eq!(free_folder(&home, "vase"), home.join("vase-pieces-2"));
        std::fs::remove_dir_all(home).unwrap();
    }
}
