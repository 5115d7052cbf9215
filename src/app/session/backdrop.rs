//! A picture that the panel *Light* names, or a .hdr file that is opened or dropped on the window, becomes the picture behind the
//! scene.
//!
//! In: its file. Out: one undoable change of the tuned values, once a worker has read it.

use std::path::Path;

use super::Session;
use crate::{files, render::Backdrop, threads::Pending, ui::NoticeKind};

/// The picture that a worker reads.
#[derive(Default)]
pub(super) struct Backdrops {
    reading: Option<Pending<Result<Backdrop, String>>>,
}

/// Whether a file is a picture of light, by its ending; other pictures that are dropped are cracks.
pub(super) fn is_backdrop(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("hdr"))
}

impl Session {
    /// Begins to read a picture for behind the scene.
    pub(super) fn begin_backdrop(&mut self, path: &Path) {
        // A scene that is saved elsewhere names the file relative to itself.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let name = match files::as_text(&path) {
            Ok(name) => name.to_owned(),
            Err(why) => return self.say(NoticeKind::Error, format!("{}: {why}", path.display())),
        };
        self.backdrops.reading = Some(Pending::start(move || {
            let mut backdrop = Backdrop::of_file(name);
            backdrop.open().map(|()| backdrop)
        }));
    }

    /// Whether such a picture is being read.
    pub(super) fn reads_backdrop(&self) -> bool {
        self.backdrops.reading.is_some()
    }

    /// Puts a picture that was read behind the scene, turned and as bright as the one that was there.
    pub(super) fn take_in_backdrop(&mut self) {
        let stopped = || Err("reading the picture stopped unexpectedly; name it again".into());
        let reading = self.backdrops.reading.as_ref();
        let Some(read) = reading.and_then(|reading| reading.poll(stopped)) else { return };
        self.backdrops.reading = None;
        let Some(sandbox) = &mut self.sandbox else { return };
        match read {
            Ok(new) => {
                let mut tuning = sandbox.tuning().clone();
                let new = match &tuning.backdrop {
                    Some(old) => new.placed_at(old.turn, old.brightness),
                    None => new,
                };
                tuning.backdrop = Some(new);
                sandbox.tune("backdrop", tuning);
                sandbox.end_gesture();
                let text =
                    "The picture is behind the scene and lights it; turn it, or take it away, under Light";
                self.say(NoticeKind::Remark, text);
            }
            Err(why) => self.say(NoticeKind::Error, why),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{app::session::testing::session, ui::Command};

    fn read(session: &mut Session, command: Command) {
        session.apply(command);
        while session.reads_backdrop() {
            session.poll();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn a_dropped_picture_lies_behind_the_scene_until_undo_and_a_bad_one_is_named() {
        let home = std::env::temp_dir();
        let [good, bad] = ["good", "bad"]
            .map(|name| home.join(format!("kintsugi-{name}-light-{}.hdr", std::process::id())));
        let head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 4\n".to_vec();
        fs::write(&good, [head, [128, 64, 32, 129].repeat(8)].concat()).unwrap();
        fs::write(&bad, "no picture").unwrap();
        let mut session = session();
        read(&mut session, Command::Open(good.clone()));
        let sandbox = session.sandbox.as_mut().unwrap();
        assert_eq!(sandbox.objects().len(), 1, "the object stays");
        let shown = sandbox.picture_options().backdrop.expect("a picture is drawn");
        assert!(shown.picture().is_some() && Path::new(&shown.file) == good.as_path());
        // Another keeps its place, and a bad one changes nothing.
        let mut tuning = sandbox.tuning().clone();
        tuning.backdrop = tuning.backdrop.map(|backdrop| backdrop.placed_at(30.0, 2.0));
        sandbox.tune("light", tuning);
        sandbox.end_gesture();
        read(&mut session, Command::Backdrop(bad.clone()));
        let said = session.errors().concat();
        assert!(said.contains(&bad.display().to_string()) && said.contains(".hdr"), "{said}");
        read(&mut session, Command::Backdrop(good.clone()));
        let sandbox = session.sandbox.as_mut().unwrap();
        let turned = sandbox.tuning().backdrop.as_ref().map(|backdrop| (backdrop.turn, backdrop.brightness));
        assert_eq!(turned, Some((30.0, 2.0)));
        let scene = sandbox.scene(session.camera);
        assert_eq!(scene.backdrop, sandbox.tuning().backdrop, "the scene keeps it");
        while sandbox.undo().is_some() {}
        assert!(sandbox.picture_options().backdrop.is_none());
        [good, bad].iter().for_each(|file| fs::remove_file(file).unwrap());
    }
}
