//! A picture that is opened or dropped on the window becomes the cracks of the next break; a mesh that is chosen as cutter
//! cuts in it.
//!
//! In: its file. Out: the file as the seeds of the tuned fracture, once a worker has read that it holds areas, or bodies.

use std::path::{Path, PathBuf};

use super::Session;
use crate::{
    fracture::{FractureParams, SeedSource, Surface, cutter},
    scene::{PICTURES, SceneError, read_seeds},
    threads::Pending,
    ui::NoticeKind,
};

/// The picture that a worker reads.
#[derive(Default)]
pub(super) struct CrackPictures {
    reading: Option<(PathBuf, Pending<Result<SeedSource, SceneError>>)>,
}

/// Whether a file is a picture, by its ending.
pub(super) fn is_picture(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    PICTURES.contains(&ending.as_str())
}

impl Session {
    /// Begins to read a picture of cracks, or a mesh to cut by.
    pub(super) fn begin_crack_picture(&mut self, path: &Path) {
        // A scene that is saved elsewhere names the file relative to itself.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let file = path.clone();
        self.crack_pictures.reading = Some((path, Pending::start(move || read_seeds(&file))));
    }

    /// Whether a picture is being read.
    pub(super) fn reads_crack_picture(&self) -> bool {
        self.crack_pictures.reading.is_some()
    }

    /// Gives the tuned fracture a picture that was read.
    pub(super) fn take_in_crack_picture(&mut self) {
        let stopped = || Err(SceneError::new("reading the picture stopped unexpectedly".into()));
        let reading = self.crack_pictures.reading.as_ref();
        let Some(read) = reading.and_then(|(_, read)| read.poll(stopped)) else { return };
        let Some((path, _)) = self.crack_pictures.reading.take() else { return };
        let Some(sandbox) = &mut self.sandbox else { return };
        match read {
            Ok(SeedSource::Picture(picture)) => {
                let mut tuning = sandbox.tuning().clone();
                tuning.fracture.seeds_file = Some(path.display().to_string());
                tuning.fracture.target_pieces = None;
                sandbox.tune("crack picture", tuning);
                sandbox.end_gesture();
                let text = format!(
                    "The next blow on an intact object cracks it along the lines of the picture, as seen along the blow: {} \
                     areas. × beside its name in Fracture goes back to the pattern",
                    picture.areas()
                );
                self.say(NoticeKind::Remark, text);
            }
            Ok(SeedSource::Cutter(mesh)) => {
                let mut tuning = sandbox.tuning().clone();
                tuning.fracture = FractureParams {
                    seeds_file: Some(path.display().to_string()),
                    target_pieces: None,
                    ..tuning.fracture.by(cutter::METHOD.id(), Surface::Planar)
                };
                sandbox.tune("cutter", tuning);
                sandbox.end_gesture();
                let text = format!(
                    "The next blow on an intact object cuts it by the {} closed bodies of the mesh, which stand where their file \
                     has them unless Fit and the other sliders move them",
                    mesh.bodies()
                );
                self.say(NoticeKind::Remark, text);
            }
            Ok(SeedSource::Points(_) | SeedSource::Cells(..)) => {}
            Err(error) => self.say(NoticeKind::Error, error.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;
    use crate::{
        app::session::{files_tests::settle, testing::session},
        ui::Command,
    };

    fn picture(name: &str, line: impl Fn(u32, u32) -> bool) -> PathBuf {
        let file = std::env::temp_dir().join(format!("kintsugi-{name}-{}.png", std::process::id()));
        image::GrayImage::from_fn(60, 60, |x, y| image::Luma([if line(x, y) { 0 } else { 255 }]))
            .save(&file)
            .unwrap();
        file
    }

    #[test]
    fn a_picture_that_is_dropped_is_what_the_next_blow_cracks_along() {
        let good = picture("cross", |x, y| x == 30 || y == 20);
        let blank = picture("blank", |_, _| false);
        let mut session = session();
        let read = |session: &mut Session, file: &Path| {
            session.apply(Command::Open(file.to_owned()));
            while session.reads_crack_picture() {
                session.poll();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        read(&mut session, &blank);
        let said = |session: &Session| {
            session.notices().last().map(|notice| notice.text.clone()).unwrap_or_default()
        };
        assert!(said(&session).contains("closed lines"), "{}", said(&session));
        assert!(session.sandbox.as_ref().unwrap().tuning().fracture.seeds_file.is_none());
        read(&mut session, &good);
        assert!(said(&session).contains("4 areas"), "{}", said(&session));
        assert_eq!(session.sandbox.as_ref().unwrap().objects().len(), 1, "the object stays");
        session.sandbox.as_mut().unwrap().break_all();
        settle(&mut session);
        assert_eq!(session.sandbox.as_ref().unwrap().bodies().len(), 4, "one piece an area");
        [good, blank].iter().for_each(|file| fs::remove_file(file).unwrap());
    }
}
