//! Whether the objects of a mesh file are kept apart: what is told when a file is opened or added, and the answer.
//!
//! In: the objects of the open scene. Out: a message with a button; the choice, which is remembered with the file.

use std::path::{Path, PathBuf};

use super::Session;
use crate::{
    app::imports,
    mesh::Objects,
    scene::ObjectInfo,
    ui::{Command, NoticeKind},
};

impl ObjectInfo {
    /// Whether the object is one of several of its file.
    fn is_one_of_several(&self) -> bool {
        self.scene.object.is_some() && !self.scene.objects.are_together()
    }
}

impl Session {
    /// Tells that a file that was opened or added, that of this object, has become several objects, or one since somebody
    /// wanted that, with a button that does the other. Says nothing twice in a row.
    pub(super) fn tell_of_objects(&mut self, object: usize) {
        let Some(sandbox) = &self.sandbox else { return };
        let Some(info) = sandbox.objects().get(object) else { return };
        let path = PathBuf::from(&info.scene.file);
        let of_file = |other: &&std::sync::Arc<ObjectInfo>| other.scene.file == info.scene.file;
        let count =
            sandbox.objects().iter().filter(of_file).filter(|other| other.is_one_of_several()).count();
        let is_joined = count == 0
            && info.mesh.parts.len() > 1
            && imports::objects_of(&info.scene.file).is_some_and(|how| how.are_together());
        let is_of_scene = sandbox.file().is_some();
        let name = crate::import::display_name(&info.scene.file);
        if self.told_objects.as_ref() == Some(&(path.clone(), count)) {
            return;
        }
        if let Some((before, _)) = self.told_objects.replace((path.clone(), count)) {
            for how in [Objects::Together, Objects::Touching] {
                self.messages.withdraw(&Command::TakeObjects(before.clone(), how));
            }
        }
        if count > 1 && !is_of_scene {
            let text = format!("{name} has {count} objects that do not touch; each breaks on its own");
            let join = Command::TakeObjects(path, Objects::Together);
            self.messages.offer(NoticeKind::Remark, text, "Join them to one", join);
        } else if is_joined && !is_of_scene {
            let text = format!("The objects of {name} are joined to one, as they were the last time");
            let part = Command::TakeObjects(path, Objects::Touching);
            self.messages.offer(NoticeKind::Remark, text, "Keep them apart", part);
        }
    }

    /// Takes the objects of a file in another way, now and whenever the file is opened: opens the file again where the scene has
    /// nothing else, or adds it again in place of its objects. Undo goes back.
    pub(super) fn take_objects(&mut self, path: &Path, how: Objects) {
        let file = path.to_string_lossy().into_owned();
        if let Err(error) = imports::remember_objects(&file, how) {
            return self
                .say(NoticeKind::Error, format!("how the file is opened could not be remembered: {error}"));
        }
        let Some(sandbox) = &mut self.sandbox else { return };
        let level = sandbox.shown_object().map_or(7, |object| object.scene.level);
        if sandbox.objects().iter().all(|object| object.scene.file == file) {
            return self.open(path, level);
        }
        let numbers = sandbox.objects().iter().enumerate();
        let own: Vec<usize> = numbers.filter(|(_, info)| info.scene.file == file).map(|(at, _)| at).collect();
        for object in own.into_iter().rev() {
            if let Err(error) = sandbox.remove_object(object) {
                return self.tell_of(error);
            }
        }
        self.add(path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{
        super::files_tests::{Folder, settle},
        *,
    };

    /// A file of two boxes, one above the other.
    fn two_boxes(folder: &Folder) -> PathBuf {
        let mut text = String::new();
        for (k, name) in ["Low", "High"].into_iter().enumerate() {
            text += &format!("o {name}\n");
            for i in 0..8usize {
                let [x, y, z] = [0, 1, 2].map(|axis| i >> axis & 1);
                text += &format!("v {x} {} {z}\n", y + 2 * k);
            }
            for face in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
                let [a, b, c, d] = face.map(|i: usize| i + 8 * k);
                text += &format!("f {a} {b} {c} {d}\n");
            }
        }
        let file = folder.0.join("two.obj");
        fs::write(&file, text).unwrap();
        file
    }

    fn names(session: &Session) -> Vec<String> {
        let sandbox = session.sandbox.as_ref().unwrap();
        (0..sandbox.objects().len()).map(|object| sandbox.object_name(object).to_owned()).collect()
    }

    fn button(session: &Session) -> Option<Command> {
        let mut actions = session.notices().iter().flat_map(|notice| &notice.actions);
        let found = actions.find(|(_, what)| matches!(what, Command::TakeObjects(..)));
        found.map(|(_, command)| command.clone())
    }

    #[test]
    fn a_file_of_two_objects_is_two_until_somebody_joins_them() {
        let folder = Folder::new("objects");
        let file = two_boxes(&folder);
        let mut session = folder.session();
        session.apply(Command::Open(file.clone()));
        settle(&mut session);
        assert_eq!(names(&session), ["Low", "High"]);
        let join = Command::TakeObjects(file.clone(), Objects::Together);
        assert_eq!(button(&session), Some(join.clone()), "{:?}", session.remarks());
        session.apply(join);
        settle(&mut session);
        assert_eq!(names(&session).len(), 1);
        let part = Command::TakeObjects(file.clone(), Objects::Touching);
        assert_eq!(button(&session), Some(part.clone()), "{:?}", session.remarks());
        // Undo goes back to two, and back to the box that was open before.
        session.apply(Command::Undo);
        assert_eq!(names(&session), ["Low", "High"]);
        session.apply(Command::Undo);
        assert_eq!(names(&session), ["box"]);
        // What was chosen holds for a file that is added.
        session.apply(Command::Add(file));
        settle(&mut session);
        assert_eq!(names(&session).len(), 2);
        session.apply(part);
        settle(&mut session);
        assert_eq!(names(&session), ["box", "Low", "High"]);
        let sandbox = session.sandbox.as_ref().unwrap();
        let foot = |object: usize| sandbox.foot(sandbox.bodies_of(object).next().unwrap()).unwrap();
        let (low, high, other) = (foot(1), foot(2), foot(0));
        assert!((high.at.x - low.at.x).abs() < 0.03 && low.at.y.abs() < 1e-6, "{low:?} {high:?}");
        // The file is 1 m long: two boxes of a third with a gap of a third.
        assert!((high.at.y - 2.0 / 3.0).abs() < 0.05 && high.size.y < 0.5, "{high:?}");
        assert!(low.at.x - 0.5 * low.size.x > other.at.x + 0.5 * other.size.x, "beside the box");
    }
}
