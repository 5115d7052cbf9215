//! Setting the stage: objects that come, go, and are moved by hand.

use std::{path::Path, sync::Arc};

use super::{Session, backdrop::is_backdrop, crack_picture, is_scene};
use crate::{
    app::imports,
    import::ReadMesh,
    measures::why_z_up,
    mesh::{Mesh, Units, Up, format_of, may_be_in_another_unit},
    scene::{ObjectInfo, Scene, SceneBody},
    ui::{Command, NoticeKind},
};

/// A question about a mesh that was opened: its text, and the labels and the commands of its buttons.
type Question = (String, Vec<(String, Command)>);

/// The units that a file may be in, as buttons name them.
const UNITS: [(Units, &str); 4] =
    [(Units::Mm, "mm"), (Units::Cm, "cm"), (Units::M, "m"), (Units::In, "inch")];

/// Lengths that an object of a scene may have, m.
const SIZES: std::ops::RangeInclusive<f64> = 1e-4..=1e4;

/// The questions about a file that was opened by itself, as object 0 and perhaps more; the whole has the first of these lengths
/// and its smallest object the second, file units. `why_z_up` says why z seems to point up in it.
fn questions_of(
    name: &str,
    file: &Path,
    [length, least]: [f64; 2],
    why_z_up: Option<String>,
) -> Vec<Question> {
    let mut questions = Vec::new();
    if may_be_in_another_unit(format_of(file), length) {
        let said = if length > 1.0 { format!("{length:.0}") } else { format!("{length:.2e}") };
        let text = format!(
            "{name} is {said} units long in its file, which names no unit; here it is 1 m long. Which unit is it?"
        );
        let answer = |(unit, label): (Units, &str)| (label.to_owned(), Command::TakeAs(0, unit));
        let fits = |(unit, _): &(Units, &str)| {
            [length, least].iter().all(|side| SIZES.contains(&(side * unit.metres())))
        };
        let answers: Vec<_> = UNITS.into_iter().filter(fits).map(answer).collect();
        if !answers.is_empty() {
            questions.push((text, answers));
        }
    }
    if let Some(why) = why_z_up {
        let answer = ("Its z points up".to_owned(), Command::StandUp(0, Up::Z));
        questions.push((format!("{name}: {why}"), vec![answer]));
    }
    questions
}

/// A file that is open, all of its objects.
struct OpenFile {
    /// Its mesh as it was imported: triangles alone, where it is of several objects.
    mesh: ReadMesh,
    /// Length of its longest side, m.
    size: f64,
    /// Longest side of its smallest object, file units.
    least: f64,
}

impl OpenFile {
    /// Of these objects; `None` where there are none, or the first has no size.
    fn of(objects: &[&ObjectInfo]) -> Option<Self> {
        let first = *objects.first()?;
        let least = objects.iter().map(|object| object.mesh.longest_side()).fold(f64::INFINITY, f64::min);
        let size = first.scene.size?;
        if objects.len() == 1 {
            return Some(Self { mesh: first.read_mesh(), size, least });
        }
        let mut mesh = Mesh::default();
        for object in objects {
            let number = mesh.positions.len() as u32;
            mesh.positions.extend(&object.mesh.positions);
            mesh.triangles.extend(object.mesh.triangles.iter().map(|t| t.map(|i| i + number)));
        }
        let size = size * mesh.longest_side() / first.mesh.longest_side();
        let SceneBody { file, up, .. } = &first.scene;
        let mesh = ReadMesh::again(file.clone(), Arc::new(mesh), Arc::default(), *up, Vec::new());
        Some(Self { mesh, size, least })
    }

    /// Whether nobody chose its size or its axis.
    fn is_untouched(&self) -> bool {
        (self.size - 1.0).abs() < 1e-6 && self.mesh.up.is_y()
    }
}

impl Session {
    /// Asks, once for each file, about a mesh file that was opened by itself, whether it is one object or several: what unit its
    /// lengths have, and whether it lies on its back. A file whose size or axis somebody chose is not asked about.
    pub(super) fn ask_of_import(&mut self) {
        let Some(sandbox) = &self.sandbox else { return };
        let objects: Vec<&ObjectInfo> = sandbox.objects().iter().map(Arc::as_ref).collect();
        let is_alone = sandbox.file().is_none()
            && match &objects[..] {
                [] => false,
                [_] => true,
                several => sandbox.objects_of_file(0).len() == several.len(),
            };
        let first = objects.first().filter(|_| is_alone);
        let file = first.map_or("", |object| object.scene.file.as_str()).to_owned();
        if self.asked_of.last() == Some(&file) {
            return;
        }
        let name = first.map_or_else(String::new, |object| object.name.clone());
        let was_asked = self.asked_of.contains(&file);
        let open = if is_alone && !was_asked { OpenFile::of(&objects) } else { None };
        // Questions about what was open before would be answered of this file.
        self.withdraw_questions();
        self.asked_of.retain(|asked| *asked != file);
        self.asked_of.push(file.clone());
        let Some(open) = open.filter(OpenFile::is_untouched) else { return };
        let lengths = [open.mesh.longest_side(), open.least];
        for (text, answers) in questions_of(&name, Path::new(&file), lengths, why_z_up(&open.mesh)) {
            self.messages.ask(text, answers);
        }
    }

    /// Takes back the questions about the file that was opened last.
    fn withdraw_questions(&mut self) {
        for (unit, _) in UNITS {
            self.messages.withdraw(&Command::TakeAs(0, unit));
        }
        self.messages.withdraw(&Command::StandUp(0, Up::Z));
    }

    /// Imports a file again as the answer to a question says, with all of its objects: the other of size and axis stays as it is.
    fn take_up(&mut self, object: usize, units: Option<Units>, up: Option<Up>) {
        let camera = self.camera;
        let Some(sandbox) = &mut self.sandbox else { return };
        let numbers = sandbox.objects_of_file(object);
        let objects: Vec<&ObjectInfo> =
            numbers.iter().filter_map(|number| sandbox.objects().get(*number)).map(Arc::as_ref).collect();
        let Some(open) = OpenFile::of(&objects) else { return };
        let size = units.map_or(open.size, |units| open.mesh.longest_side() * units.metres());
        let up = up.unwrap_or(open.mesh.up);
        if SIZES.contains(&size) {
            sandbox.set_import_of_file(object, up, size, camera);
            self.remember(&open.mesh.file, up, size);
        }
    }

    /// Remembers how a file was imported.
    fn remember(&mut self, file: &str, up: Up, size: f64) {
        if let Err(error) = imports::remember(file, up, size) {
            self.say(NoticeKind::Remark, format!("the way up could not be remembered: {error}"));
        }
    }

    /// Executes a command that changes objects.
    pub(super) fn arrange(&mut self, command: &Command) {
        let counts_otherwise =
            matches!(command, Command::Add(_) | Command::Duplicate(_) | Command::RemoveObject(_));
        if counts_otherwise && self.sandbox.as_ref().is_some_and(|s| s.objects_of_file(0).len() > 1) {
            // Answers are about all objects of the file, each of which is there once.
            self.withdraw_questions();
        }
        match command {
            Command::Add(path) => return self.add(path),
            Command::TakeAs(object, units) => return self.take_up(*object, Some(*units), None),
            Command::StandUp(object, up) => return self.take_up(*object, None, Some(*up)),
            _ => {}
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
                if let Some(file) = whole.map(|object| object.scene.file.clone()) {
                    self.remember(&file, *up, *size);
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
        if is_backdrop(path) {
            return self.begin_backdrop(path);
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
            let questions = questions_of("bust", Path::new(file), [length; 2], why.map(str::to_owned));
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
        // Of a file whose smallest object would be shorter than objects may be, too.
        let small = questions_of("car", Path::new("car.stl"), [494.0, 0.05], None);
        assert_eq!(
            commands(&small[0].1),
            [Units::Cm, Units::M, Units::In].map(|unit| Command::TakeAs(0, unit))
        );
    }
}
