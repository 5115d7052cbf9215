//! Setting the stage: objects that come, go, and are moved by hand.

use std::{path::Path, sync::Arc};

use super::{Session, crack_picture, is_scene};
use crate::{
    app::imports,
    measures::why_z_up,
    mesh::{Units, Up, format_of, may_be_in_another_unit},
    scene::Scene,
    ui::{Command, NoticeKind},
};

/// A question about a mesh that was opened: its text, and the labels and the commands of its buttons.
type Question = (String, Vec<(String, Command)>);

/// The units that a file may be in, as buttons name them.
const UNITS: [(Units, &str); 4] =
    [(Units::Mm, "mm"), (Units::Cm, "cm"), (Units::M, "m"), (Units::In, "inch")];

/// Lengths that an object of a scene may have, m.
const SIZES: std::ops::RangeInclusive<f64> = 1e-4..=1e4;

/// The questions about object 0, whose file has this length, file units; `why_z_up` says why z seems to point up in it.
fn questions_of(name: &str, file: &Path, length: f64, why_z_up: Option<String>) -> Vec<Question> {
    let mut questions = Vec::new();
    if may_be_in_another_unit(format_of(file), length) {
        let said = if length > 1.0 { format!("{length:.0}") } else { format!("{length:.2e}") };
        let text = format!(
            "{name} is {said} units long in its file, which names no unit; here it is 1 m long. Which unit is it?"
        );
        let answer = |(unit, label): (Units, &str)| (label.to_owned(), Command::TakeAs(0, unit));
        let fits = |(unit, _): &(Units, &str)| SIZES.contains(&(length * unit.metres()));
        questions.push((text, UNITS.into_iter().filter(fits).map(answer).collect()));
    }
    if let Some(why) = why_z_up {
        let answer = ("Its z points up".to_owned(), Command::StandUp(0, Up::Z));
        questions.push((format!("{name}: {why}"), vec![answer]));
    }
    questions
}

impl Session {
    /// Asks, once for each file, about a mesh that was opened by itself: what unit its lengths have, and
    /// whether it lies on its back. A file whose size or axis somebody chose is not asked about.
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
        let length = object.mesh.longest_side();
        for (text, answers) in questions_of(&object.name, path, length, why_z_up(&object.read_mesh())) {
            self.messages.ask(text, answers);
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
        SIZES.contains(&size).then_some(Command::SetImport { object, up, size })
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
        let mut scene = Scene::of_mesh(name, level);
        imports::apply(&mut scene);
        if let Some((sandbox, body)) = self.sandbox.as_mut().zip(scene.bodies.pop()) {
            sandbox.add(body);
        }
    }

    /// Shows the object that was added: in the picture, and in the panels.
    pub(super) fn show_added(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let added = sandbox.selected().next().and_then(|body| sandbox.info(body.id)).map(|info| info.object);
        if let Some(object) = added {
            sandbox.focus_on(Some(object));
            self.tell_of_objects(object);
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
        let of = |file: &str, length, why: Option<&str>| {
            let questions = questions_of("bust", Path::new(file), length, why.map(str::to_owned));
            questions.into_iter().map(|(_, answers)| answers).collect::<Vec<_>>()
        };
        let commands = |answers: &[(String, Command)]| {
            answers.iter().map(|(_, command)| command.clone()).collect::<Vec<_>>()
        };
        let units = [Units::Mm, Units::Cm, Units::M, Units::In].map(|unit| Command::TakeAs(0, unit));
        let z = [Command::StandUp(0, Up::Z)];
        let why = Some("the file comes from blender");
        let asked = of("bust.stl", 494.0, None);
        assert_eq!((asked.len(), commands(&asked[0])), (1, units.to_vec()));
        // In other units these would be shorter and longer than objects may be.
        let m = [Command::TakeAs(0, Units::M)];
        assert_eq!(commands(&of("bust.stl", 0.0004, None)[0]), m);
        assert!(!commands(&of("bust.stl", 5e5, None)[0]).contains(&m[0]));
        assert_eq!(commands(&of("bust.ply", 2.0, why)[0]), z);
        let both = of("bust.ply", 494.0, why);
        assert_eq!((commands(&both[0]), commands(&both[1])), (units.to_vec(), z.to_vec()));
        for none in ["bust.glb", "bust.fbx", "bust.usda", "builtin:box"] {
            assert_eq!(of(none, 494.0, None).len(), 0, "{none}");
        }
        assert_eq!(of("bust.obj", 2.0, None).len(), 0);
    }
}
