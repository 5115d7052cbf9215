//! Setting the stage: objects that come, go, and are moved by hand.

use std::{fs::File, io::Read as _, path::Path, sync::Arc};

use super::{Session, crack_picture, is_scene};
use crate::{
    app::imports,
    mesh::{Units, Up, format_of, may_be_millimetres, z_up_program},
    scene::SceneBody,
    ui::{Command, NoticeKind},
};

/// What is read of a file for the program that wrote it, bytes.
const HEAD: u64 = 4096;

/// A question about a mesh that was opened: its text, and the label and the command of its button.
type Question = (String, &'static str, Command);

/// The questions about object 0, whose file has this length, file units, and begins with these bytes.
fn questions_of(name: &str, file: &Path, length: f64, head: &[u8]) -> Vec<Question> {
    let format = format_of(file);
    let mut questions = Vec::new();
    if may_be_millimetres(format, length) {
        let text =
            format!("{name} is {length:.0} units long in its file, which names no unit; here it is 1 m long");
        questions.push((text, "It is in millimetres", Command::TakeAs(0, Units::Mm)));
    }
    if let Some(program) = format.and_then(|format| z_up_program(format, head)) {
        let text = format!("{name} comes from {program}, where z mostly points up");
        questions.push((text, "Its z points up", Command::StandUp(0, Up::Z)));
    }
    questions
}

/// The first bytes of a file; none of what is no file.
fn head_of(file: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if file.is_file()
        && let Ok(open) = File::open(file)
    {
        // What cannot be read names no program.
        let _ = open.take(HEAD).read_to_end(&mut head);
    }
    head
}

impl Session {
    /// Asks, once for each file, about a mesh that was opened by itself: whether its lengths are millimetres, and whether
    /// it lies on its back. A file whose size or axis somebody chose is not asked about.
    pub(super) fn ask_of_import(&mut self) {
        let Some(sandbox) = &self.sandbox else { return };
        let alone = match sandbox.objects() {
            [object] if sandbox.file().is_none() => Some(Arc::clone(object)),
            _ => None,
        };
        let file = alone.as_ref().map_or("", |object| object.scene.file.as_str()).to_owned();
        if self.asked_of.last() == Some(&file) {
            return;
        }
        // Questions about what was open before would be answered of this object.
        self.messages.withdraw(&Command::TakeAs(0, Units::Mm));
        self.messages.withdraw(&Command::StandUp(0, Up::Z));
        let was_asked = self.asked_of.contains(&file);
        self.asked_of.retain(|asked| *asked != file);
        self.asked_of.push(file);
        let is_untouched = |size: Option<f64>, up: Up| size == Some(1.0) && up.is_y();
        let Some(object) = alone.filter(|object| is_untouched(object.scene.size, object.scene.up)) else {
            return;
        };
        if was_asked {
            return;
        }
        let path = Path::new(&object.scene.file);
        for (text, label, command) in
            questions_of(&object.name, path, object.mesh.longest_side(), &head_of(path))
        {
            self.messages.offer(NoticeKind::Remark, text, label, command);
        }
    }

    /// The import that the answer to a question asks for: the other of size and axis stays as it is.
    fn taken_up(&self, command: &Command) -> Option<Command> {
        let of = |object: &usize| self.sandbox.as_ref()?.objects().get(*object).cloned();
        let (object, up, size) = match command {
            Command::TakeAs(object, units) => {
                let info = of(object)?;
                (*object, info.scene.up, info.mesh.longest_side() * units.metres())
            }
            Command::StandUp(object, up) => (*object, *up, of(object)?.scene.size?),
            _ => return None,
        };
        (size > 0.0).then_some(Command::SetImport { object, up, size })
    }

    /// Executes a command that changes objects.
    pub(super) fn arrange(&mut self, command: &Command) {
        if let Command::Add(path) = command {
            return self.add(path);
        }
        if let Some(import) = self.taken_up(command) {
            return self.arrange(&import);
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
                // One of several objects of a file does not say how large the file is.
                let whole = sandbox.objects().get(*object).filter(|object| object.scene.object.is_none());
                let file = whole.map(|object| object.scene.file.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_asked_of_files_that_leave_them_open() {
        let of = |file: &str, length, head: &str| {
            let questions = questions_of("bust", Path::new(file), length, head.as_bytes());
            questions.into_iter().map(|(_, _, command)| command).collect::<Vec<_>>()
        };
        let blender = "ply\ncomment Created in Blender version 4.2\n";
        let (mm, z) = (Command::TakeAs(0, Units::Mm), Command::StandUp(0, Up::Z));
        assert_eq!(of("bust.stl", 494.0, ""), std::slice::from_ref(&mm));
        assert_eq!(of("bust.ply", 2.0, blender), std::slice::from_ref(&z));
        assert_eq!(of("bust.ply", 494.0, blender), [mm, z]);
        for none in [of("bust.glb", 494.0, blender), of("builtin:box", 494.0, ""), of("bust.obj", 2.0, "")] {
            assert_eq!(none, []);
        }
    }
}
