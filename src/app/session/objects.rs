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

impl Session {
    /// Tells that a file that was opened or added, that of this object, has become several objects, or one since somebody
    /// wanted that, with a button that does the other. Says nothing twice in a row.
    pub(super) fn tell_of_objects(&mut self, object: usize) {
        let Some(sandbox) = &self.sandbox else { return };
        let Some(info) = sandbox.objects().get(object) else { return };
        let path = PathBuf::from(&info.scene.file);
        let of_file = |other: &&std::sync::Arc<ObjectInfo>| other.scene.file == info.scene.file;
        let count =
            sandbox.objects().iter().filter(of_file).filter(|other| other.scene.is_one_of_several()).count();
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
    use std::{
        fs,
        sync::{Mutex, PoisonError},
    };

    use glam::DVec3;

    use super::{
        super::files_tests::{Folder, open, save_to, settle},
        *,
    };
    use crate::{
        app::dialogs::Purpose,
        mesh::{Units, Up},
        scene::Foot,
    };

    /// Held by tests that change the one memory of how files are opened, which is read, changed and written.
    static MEMORY: Mutex<()> = Mutex::new(());

    /// A file of two boxes, one above the other, of this edge in the file's units.
    fn two_boxes(folder: &Folder, edge: usize) -> PathBuf {
        let mut text = String::new();
        for (k, name) in ["Low", "High"].into_iter().enumerate() {
            text += &format!("o {name}\n");
            for i in 0..8usize {
                let [x, y, z] = [0, 1, 2].map(|axis| i >> axis & 1);
                text += &format!("v {} {} {}\n", edge * x, edge * (y + 2 * k), edge * z);
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
        let _memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Folder::new("objects");
        let file = two_boxes(&folder, 1);
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

    fn feet(session: &Session) -> Vec<Foot> {
        let sandbox = session.sandbox.as_ref().unwrap();
        sandbox.bodies().iter().map(|body| sandbox.foot(body.id).unwrap()).collect()
    }

    /// The answers that questions about units and axes offer.
    fn answers(session: &Session) -> Vec<Command> {
        let actions = session.notices().iter().flat_map(|notice| &notice.actions);
        let asks = |command: &Command| matches!(command, Command::TakeAs(..) | Command::StandUp(..));
        actions.filter(|(_, what)| asks(what)).map(|(_, command)| command.clone()).collect()
    }

    /// Two boxes of 200 with a gap of 200 between them, in a file without a unit: one question, and the answer is that of both.
    #[test]
    fn one_answer_gives_all_objects_of_a_file_their_unit_and_their_way_up() {
        let _memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Folder::new("units-of-objects");
        let file = two_boxes(&folder, 200);
        let mut session = folder.session();
        session.apply(Command::Open(file.clone()));
        settle(&mut session);
        let units = [Units::Mm, Units::Cm, Units::M, Units::In].map(|unit| Command::TakeAs(0, unit));
        assert_eq!(answers(&session), units, "{:?}", session.remarks());
        assert!(session.remarks().iter().any(|line| line.starts_with("two is 600 units long")));
        let is = |feet: &[Foot], edge: f64, high: DVec3| {
            let near = |a: f64, b: f64| (a - b).abs() < 0.15 * edge;
            let [low, up] = feet else { panic!("{feet:?}") };
            assert!(near(low.size.y, edge) && near(up.size.x, edge), "{edge}: {feet:?}");
            let apart = up.at - low.at;
            assert!(low.at.y.abs() < 1e-6 && apart.distance(high) < 0.15 * edge, "{edge}: {feet:?}");
        };
        is(&feet(&session), 1.0 / 3.0, DVec3::Y * 2.0 / 3.0);
        session.apply(Command::TakeAs(0, Units::Mm));
        settle(&mut session);
        is(&feet(&session), 0.2, DVec3::Y * 0.4);
        assert_eq!(names(&session), ["Low", "High"]);
        // One step of undo takes both back.
        session.apply(Command::Undo);
        is(&feet(&session), 1.0 / 3.0, DVec3::Y * 2.0 / 3.0);
        session.apply(Command::Redo);
        let before = feet(&session);
        is(&before, 0.2, DVec3::Y * 0.4);
        // The scene that is saved then opens the same, and the file is remembered, and is not asked about again.
        let scene = folder.0.join("mine.toml");
        save_to(&mut session, Purpose::Save, &scene);
        open(&mut session, &scene);
        assert_eq!(feet(&session), before);
        session.apply(Command::Open(file));
        settle(&mut session);
        assert_eq!(names(&session), ["Low", "High"]);
        is(&feet(&session), 0.2, DVec3::Y * 0.4);
        assert!(answers(&session).is_empty(), "{:?}", session.remarks());
        // With z up both stand on the floor, one behind the other, as long as before.
        session.apply(Command::StandUp(0, Up::Z));
        settle(&mut session);
        is(&feet(&session), 0.2, DVec3::NEG_Z * 0.4);
    }

    /// A copy or a removed object is no part of the file as it was opened, so that the question about all objects is withdrawn.
    #[test]
    fn a_question_about_all_objects_goes_when_there_are_more_or_fewer() {
        for (name, change) in [("fewer", Command::RemoveObject(1)), ("more", Command::Duplicate(0))] {
            let folder = Folder::new(name);
            let file = two_boxes(&folder, 200);
            let mut session = folder.session();
            session.apply(Command::Open(file));
            settle(&mut session);
            assert_eq!(answers(&session).len(), 4);
            session.apply(change);
            settle(&mut session);
            assert!(answers(&session).is_empty(), "{:?}", session.remarks());
        }
    }
}
