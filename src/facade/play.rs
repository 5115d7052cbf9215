//! A scene, played step by step without a window.
//!
//! In: a scene, and where its stages run. Out: the bodies after each step. Each step waits for the fractures that it
//! starts, so the same scene gives the same states. The commands open and play scenes by the same functions.

use std::{collections::BTreeSet, path::Path, time::Duration};

use super::{Engine, Error, Observer, Quiet};
use crate::{
    bodies::{Body, BodyId, Contact, Narrow, StepReport},
    compute::Compute,
    export::to_picoseconds,
    fracture::FractureError,
    import::ImportError,
    scene::{Arrived, BodyInfo, ReadScene, Sandbox, SandboxError, Scene, SceneError, load_scene, read_seeds},
    voxelize::VoxelizeError,
};

/// Interval of polling a worker.
const WAIT: Duration = Duration::from_millis(2);

/// A scene that is played.
///
/// ```
/// use kintsugi::{Engine, Play, Quiet, scene::parse_scene};
///
/// let text = "[[body]]\nfile = \"builtin:box\"\nlevel = 3\nsize = 0.2\nposition = [0.0, 1.0, 0.0]";
/// let scene = parse_scene(text, "a box in the air")?;
/// let mut play = Play::of(scene, &Engine::cores(), &Quiet)?;
/// let height = |play: &Play| play.bodies()[0].state.position.y;
/// let before = height(&play);
/// let report = play.step()?;
/// assert!(report.awake == 1 && report.time == 0.01 && height(&play) < before);
/// # Ok::<(), kintsugi::Error>(())
/// ```
pub struct Play {
    sandbox: Sandbox,
    compute: Compute,
    steps: u64,
    notes: Vec<String>,
}

impl Play {
    /// Reads a scene file (TOML), or a mesh file, `builtin:NAME` included, that then stands on the floor with leaf level
    /// `level`, and opens it on the processor's cores.
    ///
    /// # Errors
    /// [`Error::Scene`] for a scene file that is refused, else as [`Play::of`].
    pub fn open(file: impl AsRef<Path>, level: u32) -> Result<Self, Error> {
        let file = file.as_ref();
        let scene = match file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
            true => load_scene(file)?,
            false => Scene::of_mesh(&file.to_string_lossy(), level),
        };
        Self::of(scene, &Engine::cores(), &Quiet)
    }

    /// Opens a scene: reads its meshes, voxelises them, and makes the breaks that it had when it was saved. Where
    /// `engine` has an adapter, contacts are looked for there, and those of large heaps answered.
    ///
    /// # Errors
    /// [`Error::Scene`] for a scene without bodies, or one that names what does not exist; [`Error::Import`],
    /// [`Error::Fracture`] and [`Error::Gpu`].
    pub fn of(scene: Scene, engine: &Engine, observer: &impl Observer) -> Result<Self, Error> {
        if scene.bodies.is_empty() {
            return Err(Error::Scene("the scene has no [[body]]; add one with a file".into()));
        }
        let mut notes = scene.stand_ins();
        let read = observer.stage("read", |_| {
            ReadScene::read(scene, |name, warning| notes.push(format!("{name}: {warning}")))
        });
        let read = read.map_err(|(_, error)| error)?;
        notes.iter().for_each(|text| observer.note(text));
        let mut sandbox = opened(engine.compute(), read, observer)?;
        let findings = sandbox.objects().iter().flat_map(|object| {
            object.health.notes.iter().map(move |note| format!("{}: {note}", object.scene.file))
        });
        // Copies of an object share what was found.
        for text in findings.collect::<BTreeSet<String>>() {
            observer.note(&text);
            notes.push(text);
        }
        let on_adapter = engine.compute().gpu().is_some();
        sandbox.look_for_contacts(if on_adapter { Narrow::Gpu } else { Narrow::Cpu });
        Ok(Self { sandbox, compute: engine.compute().clone(), steps: 0, notes })
    }

    /// Sets whether steps keep the impulses of each substep, for
    /// [`World::substep_contacts`](crate::bodies::World::substep_contacts) of [`Sandbox::world`]; bodies move the same either way.
    pub fn keep_substeps(&mut self, kept: bool) {
        self.sandbox.keep_substeps(kept);
    }

    /// How many steps `seconds` of simulated time are; at least one.
    #[must_use]
    pub fn steps_of(&self, seconds: f64) -> u64 {
        (seconds / self.sandbox.settings().dt).round().max(1.0) as u64
    }

    /// Takes one step and completes the fractures that it starts. The report has the simulated time after the step.
    ///
    /// # Errors
    /// [`Error::Scene`], [`Error::Fracture`] and [`Error::Gpu`].
    pub fn step(&mut self) -> Result<StepReport, Error> {
        step(&mut self.sandbox, &mut |text: &str| self.notes.push(text.to_owned()))?;
        self.steps += 1;
        let mut report = self.sandbox.report_now()?;
        report.time = to_picoseconds(self.steps as f64 * self.sandbox.settings().dt);
        self.compute.check()?;
        Ok(report)
    }

    /// Simulated time since the scene was opened, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        to_picoseconds(self.steps as f64 * self.sandbox.settings().dt)
    }

    /// The bodies, in ascending order of their ids. A body that breaks disappears, and its pieces get new ids.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        self.sandbox.bodies()
    }

    /// Which object a body is of, and how many breaks led to it.
    #[must_use]
    pub fn info(&self, id: BodyId) -> Option<&BodyInfo> {
        self.sandbox.info(id)
    }

    /// All contacts of the last step, those between sleeping bodies too.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        self.sandbox.contacts()
    }

    /// Remarks so far that stop nothing: defects of meshes, files that are replaced, blows without a crack.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What plays the scene, with all that is not here.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}

/// Opens `scene`, waits until its octrees are on the backend, and until the breaks that it had when it was saved are
/// made.
///
/// # Errors
/// As [`Play::of`].
pub(crate) fn opened(
    compute: &Compute,
    scene: ReadScene,
    observer: &impl Observer,
) -> Result<Sandbox, Error> {
    // Checked before an import that would be in vain.
    scene.scene.objects().try_for_each(|body| compute.takes(body.level))?;
    check_seeds(&scene.scene)?;
    let name = scene.scene.name.clone();
    let mut sandbox = observer.stage("voxelise", |progress| -> Result<_, Error> {
        let mut sandbox = Sandbox::new(compute)?;
        sandbox.open_scene(scene);
        while sandbox.poll()? != Some(Arrived::Opened) {
            if progress.is_cancelled() {
                sandbox.cancel_open();
                return Err(ImportError::Voxelize { file: name, cause: VoxelizeError::Cancelled }.into());
            }
            progress.set(sandbox.opening().map_or(1.0, |(_, fraction)| fraction));
            std::thread::sleep(WAIT);
        }
        Ok(sandbox)
    })?;
    if sandbox.is_breaking() {
        observer.stage("break", |progress| {
            until_broken(&mut sandbox, || progress.is_cancelled(), &mut |text: &str| observer.note(text))
        })?;
    }
    Ok(sandbox)
}

/// Takes one simulation step and completes the fractures that it started; `note` takes remarks.
///
/// # Errors
/// As [`Play::step`].
pub(crate) fn step(sandbox: &mut Sandbox, note: &mut dyn FnMut(&str)) -> Result<(), Error> {
    sandbox.step()?;
    until_broken(sandbox, || false, note)?;
    while sandbox.is_mid_step() {
        sandbox.step()?;
        until_broken(sandbox, || false, note)?;
    }
    Ok(())
}

/// Waits until no fracture is in progress, unless `is_cancelled`; `note` takes remarks.
///
/// # Errors
/// As [`Play::step`], and [`FractureError::Cancelled`].
pub(crate) fn until_broken(
    sandbox: &mut Sandbox,
    is_cancelled: impl Fn() -> bool,
    note: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    while sandbox.is_breaking() {
        if is_cancelled() {
            return Err(FractureError::Cancelled.into());
        }
        match sandbox.poll() {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(WAIT),
            Err(SandboxError::NoCrack) => note(&SandboxError::NoCrack.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Reads the files of seeds that a scene names, so that a bad one is rejected before the scene is played.
fn check_seeds(scene: &Scene) -> Result<(), SceneError> {
    let mut files = scene.fractures().filter_map(|how| how.seeds_file.as_deref());
    files.try_for_each(|file| read_seeds(Path::new(file)).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::parse_scene;

    /// A vase that falls and breaks; its pieces fall too slowly to break again.
    const SCENE: &str = r#"
        [[body]]
        file = "builtin:vase"
        level = 4
        size = 0.3
        position = [0.0, 0.25, 0.0]
        linear_velocity = [0.0, -3.0, 0.0]
        break_threshold = 2.0
        fracture = { seeds = 8 }
    "#;

    fn play() -> Play {
        Play::of(parse_scene(SCENE, "test").unwrap(), &Engine::cores(), &Quiet).unwrap()
    }

    #[test]
    fn the_same_scene_gives_the_same_states_and_pieces_have_new_ids() {
        let (mut one, mut other) = (play(), play());
        let whole: Vec<BodyId> = one.bodies().iter().map(|body| body.id).collect();
        assert_eq!((whole.len(), one.time()), (1, 0.0));
        for _ in 0..one.steps_of(0.3) {
            let report = one.step().unwrap();
            other.step().unwrap();
            assert_eq!(report.time, one.time());
            let states =
                |play: &Play| -> Vec<_> { play.bodies().iter().map(|body| (body.id, body.state)).collect() };
            assert_eq!(states(&one), states(&other));
        }
        assert_eq!(one.time(), 0.3);
        assert!(one.bodies().len() > 1, "it broke on the floor");
        assert!(one.bodies().iter().all(|body| body.id > whole[0]));
        assert!(one.bodies().iter().all(|body| one.info(body.id).is_some_and(|info| info.generation > 0)));
    }

    #[test]
    fn substeps_that_are_kept_move_no_body() {
        let (mut one, mut other) = (play(), play());
        one.keep_substeps(true);
        let mut rows = 0;
        for _ in 0..one.steps_of(0.3) {
            one.step().unwrap();
            other.step().unwrap();
            let places = |play: &Play| -> Vec<_> { play.bodies().iter().map(|body| body.state).collect() };
            assert_eq!(places(&one), places(&other));
            rows += one.sandbox().world().substep_contacts().len();
            assert!(other.sandbox().world().substep_contacts().is_empty());
        }
        assert!(rows > 0, "it touched the floor");
    }

    #[test]
    fn what_cannot_be_played_is_refused_in_one_line() {
        let refused = |scene: Scene| Play::of(scene, &Engine::cores(), &Quiet).err().unwrap().to_string();
        assert!(refused(Scene::default()).contains("[[body]]"));
        let mut scene = Scene::of_mesh("builtin:box", 3);
        scene.bodies[0].fracture.seeds_file = Some("no-such-seeds.txt".into());
        assert!(refused(scene).contains("no-such-seeds.txt"));
        assert!(refused(Scene::of_mesh("no-such-mesh.obj", 3)).contains("no-such-mesh.obj"));
        assert!(Play::open("no-such-scene.toml", 3).is_err_and(|e| matches!(e, Error::Scene(_))));
    }
}
