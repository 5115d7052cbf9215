//! Setting the stage: objects that come, go, and are moved by hand.

use std::path::Path;

use super::{Session, crack_picture, is_scene};
use crate::{
    app::imports,
    scene::SceneBody,
    ui::{Command, NoticeKind},
};

impl Session {
    /// Executes a command that changes objects.
    pub(super) fn arrange(&mut self, command: &Command) {
        if let Command::Add(path) = command {
            return self.add(path);
        }
        let camera = self.camera;
        let Some(sandbox) = &mut self.sandbox else { return };
        match command {
            Command::Duplicate(object) => sandbox.duplicate(*object),
            Command::RemoveObject(object) => {
                if let Err(error) = sandbox.remove_object(*object) {
                    self.tell_of(error);
                }
            }
            Command::NameObject(object, name) => sandbox.name_object(*object, name),
            Command::Focus(focus) => {
                sandbox.focus_on(*focus);
            }
            Command::Place(poses) => sandbox.place(poses),
            Command::PutOnFloor(bodies) => sandbox.put_on_floor(bodies),
            Command::SetLevel(level) => sandbox.set_level(*level, camera),
            Command::SetImport { object, up, size } => {
                sandbox.set_import(*object, *up, *size, camera);
                let file = sandbox.objects().get(*object).map(|object| object.scene.file.clone());
                if let Some(Err(error)) = file.map(|file| imports::remember(&file, *up, *size)) {
                    self.say(NoticeKind::Remark, format!("the way up could not be remembered: {error}"));
                }
            }
            _ => {}
        }
    }

    /// Adds a mesh or a built-in shape to the scene, or opens it if there is no scene.
    pub(super) fn add(&mut self, path: &Path) {
        let level = self.level();
        let has_scene = self.sandbox.as_ref().is_some_and(|sandbox| !sandbox.objects().is_empty());
        if !has_scene {
            return self.open(path, level);
        }
        if is_scene(path) || crack_picture::is_picture(path) {
            let text =
                "Only meshes and built-in shapes can be added; Open takes scenes and pictures of cracks";
            return self.say(NoticeKind::Remark, text);
        }
        let name = match crate::files::as_text(path) {
            Ok(name) => name,
            Err(why) => return self.say(NoticeKind::Error, format!("{}: {why}", path.display())),
        };
        let mut body = SceneBody::standing(name, level);
        imports::apply_to(&mut body);
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.add(body);
        }
    }

    /// Shows the object that was added: in the picture, and in the panels.
    pub(super) fn show_added(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let added = sandbox.selected().next().and_then(|body| sandbox.info(body.id)).map(|info| info.object);
        if let Some(object) = added {
            sandbox.focus_on(Some(object));
        }
        self.aiming.choose_move();
        if !self.sees_all() {
            self.frame(None);
        }
    }
}
