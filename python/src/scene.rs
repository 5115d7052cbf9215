//! Scenes: files that say what stands where, what breaks it and when, played step by step.
//!
//! In: a scene file, or its text. Out: a simulation that gives the states of all bodies after each step. Each step waits
//! for the fractures that it starts, so the same scene gives the same states on every machine.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kintsugi::{
    Play,
    bodies::{Body, StepReport},
    scene::{BodyInfo, SceneError, load_scene, load_scene_with_outside, parse_scene_from},
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    arrays,
    engine::{Engine, or_cores},
    errors,
    mesh::{Length, level_of, measures_of},
    running,
    world::{Contacts, Moment, State, figures, playable},
};

/// Shortest time between two calls of `progress`.
const TICK: Duration = Duration::from_millis(50);

/// A scene: bodies, blows, throws, settings. `Scene.open` and `Scene.parse` make it; docs/scenes.md describes the file.
#[pyclass(frozen, module = "kintsugi")]
pub struct Scene(pub kintsugi::scene::Scene);

/// The exception of a scene that is refused. Files outside its folder are allowed by an argument here.
fn refused(error: SceneError) -> PyErr {
    let text = error.message.replace("start with --outside-references", "pass outside=True");
    errors::of(kintsugi::Error::Scene(text))
}

#[pymethods]
impl Scene {
    /// Reads a scene file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A scene (.toml); or a mesh file or "builtin:NAME", which then stands on the floor, its longest side 1 m.
    /// level : int, default 7
    ///     Leaf level of a mesh, 1 to 12; scenes have their own.
    /// outside : bool, default False
    ///     Whether the scene may name files outside its folder.
    /// units : {"mm", "cm", "m", "in", "ft"}, optional
    ///     Unit of a mesh's lengths: it then has its real length.
    /// up : {"y", "z", "x", "-y", "-z", "-x"}
    ///     The axis of a mesh that points up.
    /// voxel_size : float or str, optional
    ///     Widest edge of a voxel of a mesh, metres or a text as "2mm", in place of `level`.
    ///
    /// Returns
    /// -------
    /// Scene
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     If the file cannot be read, has unknown names or values out of range, or names files outside its folder.
    #[staticmethod]
    #[pyo3(
        signature = (path, *, level=None, outside=false, units=None, up=None, voxel_size=None),
        text_signature = "(path, *, level=None, outside=False, units=None, up=\"y\", voxel_size=None)"
    )]
    fn open(
        path: PathBuf,
        level: Option<i64>,
        outside: bool,
        units: Option<String>,
        up: Option<String>,
        voxel_size: Option<Length>,
    ) -> PyResult<Self> {
        let measures = measures_of(units.as_deref(), up.as_deref(), voxel_size)?;
        let is_scene = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        if !is_scene {
            if level.is_some() && measures.voxel_size.is_some() {
                return Err(errors::parameter("give either level or voxel_size"));
            }
            let file = path.to_string_lossy();
            measures.check(&file).map_err(|error| errors::of(kintsugi::Error::from(error)))?;
            let mut scene = kintsugi::scene::Scene::of_mesh(&file, level_of(level.unwrap_or(7))?);
            for body in &mut scene.bodies {
                body.size = body.size.filter(|_| measures.units.is_none());
                (body.units, body.up) = (measures.units, measures.up.unwrap_or_default());
                body.voxel_size = measures.voxel_size;
            }
            return Ok(Self(scene));
        }
        if !measures.is_default() {
            return Err(errors::parameter(
                "units, up and voxel_size are for a mesh; a body of a scene has fields of these names",
            ));
        }
        let scene = match outside {
            true => load_scene_with_outside(&path).map(|(scene, _)| scene),
            false => load_scene(&path),
        };
        scene.map(Self).map_err(refused)
    }

    /// Reads a scene from text.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///     What a scene file would hold, TOML.
    /// folder : str or os.PathLike, default "."
    ///     Where that file would lie: the scene's file names are relative to it.
    /// outside : bool, default False
    ///     Whether the scene may name files outside `folder`.
    ///
    /// Returns
    /// -------
    /// Scene
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     As of `Scene.open`; the message has the line of the text.
    #[staticmethod]
    #[pyo3(
        signature = (text, folder=None, *, outside=false),
        text_signature = "(text, folder=\".\", *, outside=False)"
    )]
    fn parse(text: String, folder: Option<PathBuf>, outside: bool) -> PyResult<Self> {
        let folder = folder.as_deref().unwrap_or(Path::new("."));
        parse_scene_from(folder, &text, outside).map(Self).map_err(refused)
    }

    /// str : The scene as TOML. File names are as they are opened: those that were relative begin with the scene's folder.
    #[getter]
    fn toml(&self) -> String {
        self.0.to_text()
    }

    /// str : The scene's name.
    #[getter]
    fn name(&self) -> String {
        self.0.name.clone()
    }

    /// float : Length of a step, s.
    #[getter]
    fn dt(&self) -> f64 {
        self.0.dt
    }

    /// Opens the scene, to be played step by step: reads and voxelises its meshes, and makes the breaks that it has before its
    /// start.
    ///
    /// Parameters
    /// ----------
    /// seconds : float
    ///     Simulated time, above 0, at most 1,000,000 s; it is rounded to whole steps, at least one.
    /// progress : callable, optional
    ///     Called as progress(stage, fraction) while the scene is opened, then with the stage "play" after steps, at most
    ///     every 50 ms.
    /// engine : Engine, optional
    ///     Where the stages run; without it on the processor's cores.
    /// contact_substeps : bool, default False
    ///     Whether steps keep the impulses of each substep, for `Simulation.contacts(by_substep=True)`. Bodies move the same
    ///     either way.
    ///
    /// Returns
    /// -------
    /// Simulation
    ///     An iterator of `State`, one after each step. A step is taken when its state is asked for.
    ///
    /// Raises
    /// ------
    /// SceneError, MeshError, FractureError, DeviceError
    ///     If the scene has no bodies or names what does not exist, a mesh cannot be read, a break fails.
    #[pyo3(signature = (seconds, *, progress=None, engine=None, contact_substeps=false))]
    fn play(
        &self,
        py: Python<'_>,
        seconds: f64,
        progress: Option<&Bound<'_, PyAny>>,
        engine: Option<&Bound<'_, Engine>>,
        contact_substeps: bool,
    ) -> PyResult<Simulation> {
        let seconds = playable(seconds)?;
        let (scene, engine) = (self.0.clone(), or_cores(engine)?);
        let mut play =
            running::run(py, progress, move |watcher| Play::of(scene, &engine, watcher).map_err(errors::of))?;
        play.keep_substeps(contact_substeps);
        let steps = play.steps_of(seconds);
        let running = Running { play, taken: 0, report: None, told: None };
        let progress = progress.map(|progress| progress.clone().unbind());
        Ok(Simulation { running: Mutex::new(running), steps, progress })
    }

    fn __repr__(&self) -> String {
        format!("<Scene {:?}, {} bodies>", self.0.name, self.0.bodies.len())
    }
}

/// A scene that is played: an iterator of `State`, one after each step. `Scene.play` makes it. Bodies that break disappear;
/// their pieces get new ids, and `State.objects` says which object of the scene they are of.
#[pyclass(frozen, module = "kintsugi")]
pub struct Simulation {
    running: Mutex<Running>,
    /// Steps of the whole simulation.
    steps: u64,
    progress: Option<Py<PyAny>>,
}

struct Running {
    play: Play,
    /// Steps that were taken.
    taken: u64,
    /// Report of the last step.
    report: Option<StepReport>,
    /// When the progress was last told.
    told: Option<Instant>,
}

impl Running {
    fn moment(&self) -> Moment {
        let object = |body: &Body| {
            let info = self.play.info(body.id);
            info.map_or(-1, |info| i32::try_from(info.object).unwrap_or(i32::MAX))
        };
        Moment::of(self.play.time(), self.play.bodies(), object)
    }

    /// Takes a step, unless all `steps` are taken; gives the states after it, and the fraction done if that is to be told.
    fn step(&mut self, steps: u64) -> Result<Option<(Moment, Option<f64>)>, kintsugi::Error> {
        if self.taken >= steps {
            return Ok(None);
        }
        self.report = Some(self.play.step()?);
        self.taken += 1;
        let is_due = self.taken == steps || self.told.is_none_or(|told| told.elapsed() >= TICK);
        if is_due {
            self.told = Some(Instant::now());
        }
        Ok(Some((self.moment(), is_due.then(|| self.taken as f64 / steps as f64))))
    }
}

/// What is known of the bodies beside their states, a row a body.
#[derive(Default)]
struct Known {
    ids: Vec<i32>,
    objects: Vec<i32>,
    generations: Vec<i32>,
    masses: Vec<f64>,
    volumes: Vec<f64>,
    voxels: Vec<i64>,
}

impl Known {
    fn of(play: &Play) -> Self {
        let mut known = Self::default();
        for body in play.bodies() {
            let info: BodyInfo = play.info(body.id).copied().unwrap_or_default();
            let octree = body.def.shape.as_octree();
            known.ids.push(body.id.0 as i32);
            known.objects.push(info.object as i32);
            known.generations.push(info.generation as i32);
            known.masses.push(body.def.mass_kg());
            known.volumes.push(body.def.shape.mass().volume_m3);
            known.voxels.push(octree.map_or(0, |octree| octree.mass.voxels as i64));
        }
        known
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("ids", arrays::list(py, self.ids)?)?;
        all.set_item("objects", arrays::list(py, self.objects)?)?;
        all.set_item("generations", arrays::list(py, self.generations)?)?;
        all.set_item("masses", arrays::list(py, self.masses)?)?;
        all.set_item("volumes", arrays::list(py, self.volumes)?)?;
        all.set_item("voxels", arrays::list(py, self.voxels)?)?;
        Ok(all)
    }
}

impl Simulation {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from the simulation. The interpreter lock is given up meanwhile, since another thread may hold the simulation
    /// while it waits for that lock.
    fn read<T: Send>(&self, py: Python<'_>, of: impl FnOnce(&Running) -> T + Send) -> T {
        py.detach(|| of(&self.running()))
    }
}

#[pymethods]
impl Simulation {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// Takes the next step.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<State>> {
        let stepped = running::aside(py, || self.running().step(self.steps))?.map_err(errors::of)?;
        let Some((moment, done)) = stepped else { return Ok(None) };
        if let (Some(progress), Some(done)) = (&self.progress, done) {
            progress.call1(py, ("play", done))?;
        }
        moment.into_state(py).map(Some)
    }

    /// Number of steps that are still to be taken.
    fn __len__(&self, py: Python<'_>) -> usize {
        let left = self.read(py, |running| self.steps.saturating_sub(running.taken));
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// int : Steps of the whole simulation.
    #[getter]
    fn steps(&self) -> u64 {
        self.steps
    }

    /// float : Simulated time, s.
    #[getter]
    fn time(&self, py: Python<'_>) -> f64 {
        self.read(py, |running| running.play.time())
    }

    /// State : The states of all bodies now; before the first step those at the start.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<State> {
        self.read(py, Running::moment).into_state(py)
    }

    /// dict of str to float or int : Figures of the last step by the names of steps.csv: `time` (s), `bodies`, `awake`, `pairs`,
    /// `contact_points`, `deepest_penetration` (m), `kinetic_energy` (J), ..., and for each stage "ms STAGE", its wall-clock
    /// time. Empty before the first step.
    #[getter]
    fn step_report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = self.read(py, |running| (running.report.clone(), running.play.bodies().len()));
        match known {
            (Some(report), bodies) => figures(py, &report, bodies),
            (None, _) => Ok(PyDict::new(py)),
        }
    }

    /// dict of str to numpy.ndarray : What the bodies are now, in the order of `state.ids`, a row a body: `ids` int32; `objects`
    /// int32, index in `objects`; `generations` int32, how many breaks led to the body, 0: it is whole; `masses` float64, kg;
    /// `volumes` float64, m^3; `voxels` int64.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.read(py, |running| Known::of(&running.play)).into_dict(py)
    }

    /// list of str : Names of the scene's objects, thrown ones too.
    #[getter]
    fn objects(&self, py: Python<'_>) -> Vec<String> {
        self.read(py, |running| {
            running.play.sandbox().objects().iter().map(|object| object.name.clone()).collect()
        })
    }

    /// list of str : Remarks so far that stop nothing: defects of meshes, files that are replaced, blows without a crack.
    #[getter]
    fn notes(&self, py: Python<'_>) -> Vec<String> {
        self.read(py, |running| running.play.notes().to_vec())
    }

    /// The solver's contacts of the last step, those between sleeping bodies too, in the order of the pairs.
    ///
    /// Parameters
    /// ----------
    /// by_substep : bool, default False
    ///     Whether there is a row for each contact and substep, of every search for contacts in the step; the scene is played
    ///     with `contact_substeps=True` then. A body that breaks leaves no rows of its last step.
    ///
    /// Returns
    /// -------
    /// dict of str to ndarray
    ///     As of `World.contacts`, by the names of contacts.npz: `bodies` (C, 2) int32, ids, -1 for the floor and walls;
    ///     `point` (C, 3), m; `normal` (C, 3); `separation` (C,), m; `impulse` (C,), N s; `parting` and `sliding` (C,), m/s; and
    ///     more.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If `by_substep` is asked of steps that keep no substeps.
    #[pyo3(signature = (*, by_substep=false))]
    fn contacts<'py>(&self, py: Python<'py>, by_substep: bool) -> PyResult<Bound<'py, PyDict>> {
        self.read(py, |running| Contacts::of(running.play.sandbox().world(), by_substep))?.into_dict(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.read(py, |running| {
            let (time, bodies) = (running.play.time(), running.play.bodies().len());
            format!("<Simulation at {time} s, step {} of {}, {bodies} bodies>", running.taken, self.steps)
        })
    }
}

/// Adds the classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Scene>()?;
    module.add_class::<Simulation>()
}
