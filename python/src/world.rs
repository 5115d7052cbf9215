//! Rigid bodies of objects and pieces.
//!
//! In: objects and pieces with their materials, settings by the names of a scene file. Out: states after each step as
//! arrays, contacts, pictures. Steps run on the processor's cores without the interpreter lock; Ctrl+C is looked at every
//! 50 ms, between two steps.

mod contacts;
mod settings;
mod state;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kintsugi::{
    Matter,
    bodies::{Body, DENSITY, FRICTION, Family, PHYSICS_LEVEL, RESTITUTION, ROLLING_RESISTANCE, StepReport},
    glam::DVec3,
    gpu::GpuError,
    parameter::Parameter,
};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyDict};

pub use contacts::Contacts;
pub use state::{Moment, State, figures};

use crate::{
    arrays,
    engine::{Engine, or_cores},
    errors,
    object::Object,
    picture::{self, Settings},
    piece::Piece,
    pieces::Pieces,
    running,
};

/// How long steps are taken until signals are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Longest simulated time of one call, s.
const LONGEST: f64 = 1e6;

/// Bodies that move, fall, push each other and come to rest. Units are m, kg and s; one unit of a mesh is a metre. The world
/// is right-handed with y up.
///
/// Parameters
/// ----------
/// gravity : array_like, (3,), default (0, -9.81, 0)
///     m/s^2.
/// dt : float, default 0.01
///     Time step, 0.00001 to 0.1 s.
/// substeps : int, default 8
///     Substeps of the solver in a step, 1 to 64.
/// floor : float, bool or None, default 0.0
///     Height of the floor, m; None or False: there is no floor.
/// walls : dict, optional
///     A box that no body leaves: `low` and `high`, its corners, m.
/// contacts : str, default "mixed"
///     Who finds contacts: "mixed", "octree", "hull" or "field".
/// response : str, default "soft"
///     Who answers contacts: "soft", "impulse" or "penalty".
/// sleeping : bool, default True
///     Whether bodies at rest fall asleep.
/// contact_substeps : bool, default False
///     Whether steps keep the impulses of each substep, for `contacts(by_substep=True)`. Bodies move the same either way.
/// **settings
///     `floor_height`, `field_level`, `field_selection`, `field_most_points`, `field_epsilon` and `penalty` (a dict) as a scene
///     file has them.
///
/// Raises
/// ------
/// ParameterError
///     If a name does not exist or a value is out of range.
#[pyclass(frozen, module = "kintsugi")]
pub struct World {
    held: Arc<Mutex<Held>>,
}

/// What the world holds.
struct Held {
    world: kintsugi::World,
    /// The call of `add` that each body came by; ids count from 0 without a gap.
    objects: Vec<i32>,
    /// How often something was added.
    additions: i32,
    /// Breaks of which pieces were added one by one.
    families: Vec<(Arc<kintsugi::Pieces>, Family)>,
}

/// What is added.
enum Added {
    Object(kintsugi::Object),
    Piece(Arc<kintsugi::Pieces>, usize),
    Pieces(Arc<kintsugi::Pieces>),
}

impl Added {
    fn of(what: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(object) = what.cast::<Object>() {
            return Ok(Self::Object(object.get().0.clone()));
        }
        if let Ok(pieces) = what.cast::<Pieces>() {
            return Ok(Self::Pieces(Arc::clone(&pieces.get().0)));
        }
        if let Ok(piece) = what.cast::<Piece>() {
            let piece = piece.get();
            return Ok(Self::Piece(Arc::clone(&piece.pieces), piece.id));
        }
        let kind = what.get_type();
        Err(PyTypeError::new_err(format!("what must be an Object, a Piece or Pieces, not {kind}")))
    }
}

impl Held {
    /// Adds bodies; gives their ids.
    fn add(&mut self, what: &Added, matter: &Matter, shift: DVec3, velocities: [DVec3; 2]) -> Vec<u32> {
        let bodies = match what {
            Added::Object(object) => vec![object.body(matter, shift)],
            Added::Pieces(pieces) => pieces.bodies(matter, shift),
            Added::Piece(pieces, id) => {
                let family = self.family_of(pieces);
                pieces.body(*id, matter, family, shift).into_iter().collect()
            }
        };
        let object = self.additions;
        self.additions += 1;
        let added = bodies.into_iter().map(|mut body| {
            [body.state.linear_velocity, body.state.angular_velocity] = velocities;
            self.objects.push(object);
            self.world.add(body).0
        });
        added.collect()
    }

    /// The family of pieces of one break that are added one by one: they do not push each other where they overlap as they
    /// broke.
    fn family_of(&mut self, pieces: &Arc<kintsugi::Pieces>) -> Family {
        if let Some((_, family)) = self.families.iter().find(|(known, _)| Arc::ptr_eq(known, pieces)) {
            return *family;
        }
        let family = Family::unique();
        self.families.push((Arc::clone(pieces), family));
        family
    }

    fn moment(&self) -> Moment {
        let object = |body: &Body| self.objects.get(body.id.0 as usize).copied().unwrap_or(-1);
        Moment::of(self.world.time(), &self.world.bodies, object)
    }
}

impl World {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from the world. The interpreter lock is given up meanwhile, since another thread may hold the world while it
    /// waits for that lock.
    fn read<T: Send>(&self, py: Python<'_>, of: impl FnOnce(&Held) -> T + Send) -> T {
        py.detach(|| of(&self.held()))
    }

    fn moment(&self, py: Python<'_>) -> Moment {
        self.read(py, Held::moment)
    }

    /// Takes steps; gives the report of the last one, and the number of bodies.
    fn advance(&self, py: Python<'_>, count: u64) -> PyResult<(StepReport, usize)> {
        let mut left = count.max(1);
        loop {
            let stepped = running::aside(py, || -> Result<(u64, StepReport, usize), GpuError> {
                let (mut held, began, mut taken) = (self.held(), Instant::now(), 0);
                loop {
                    let report = held.world.step(None)?;
                    taken += 1;
                    if taken == left || began.elapsed() > TICK {
                        return Ok((taken, report, held.world.bodies.len()));
                    }
                }
            })?;
            let (taken, report, bodies) = stepped.map_err(errors::of_gpu)?;
            py.check_signals()?;
            left -= taken;
            if left == 0 {
                return Ok((report, bodies));
            }
        }
    }
}

/// A number of a material, which must be in range.
fn checked(name: &str, given: Option<f64>, of: &Parameter, usual: f64) -> PyResult<f64> {
    let value = given.unwrap_or(usual);
    of.check(value).map_err(|why| errors::parameter(format!("{name} {why}")))?;
    Ok(value)
}

/// A vector; zero where none is given.
fn or_zero(name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<DVec3> {
    given.map_or(Ok(DVec3::ZERO), |given| arrays::point(name, given))
}

/// A simulated time that can be played.
///
/// # Errors
/// `ParameterError`.
pub fn playable(seconds: f64) -> PyResult<f64> {
    if seconds > 0.0 && seconds <= LONGEST {
        return Ok(seconds);
    }
    Err(errors::parameter(format!("seconds is {seconds}; it must be a number above 0, at most {LONGEST}")))
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(
        signature = (*, contact_substeps=false, **settings),
        text_signature = "(*, gravity=(0, -9.81, 0), dt=0.01, substeps=8, floor=0.0, walls=None, contacts=\"mixed\", \
                          response=\"soft\", sleeping=True, contact_substeps=False, **settings)"
    )]
    fn new(contact_substeps: bool, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut world = kintsugi::World::on_cpu(settings::of(settings)?);
        world.contact_substeps = contact_substeps;
        let held = Held { world, objects: Vec::new(), additions: 0, families: Vec::new() };
        Ok(Self { held: Arc::new(Mutex::new(held)) })
    }

    /// Adds bodies.
    ///
    /// Parameters
    /// ----------
    /// what : Object, Piece or Pieces
    ///     One body, or one for each piece. Pieces of one break do not push each other where they overlap as they broke.
    /// shift : array_like, (3,), default (0, 0, 0)
    ///     By how much the bodies are moved from where the mesh has them, m.
    /// density : float, default 2000
    ///     kg/m^3.
    /// friction : float, default 0.6
    ///     Coulomb friction coefficient.
    /// restitution : float, default 0.1
    ///     Share of the speed with which bodies rebound, 0 to 1.
    /// rolling_resistance : float, default 0.3
    ///     Torque against rolling for a newton of load, as a share of half the thickness, 0 to 1.
    /// physics_level : int, optional
    ///     Octree level at which bodies collide; without it one coarser than the leaves.
    /// fixed : bool, default False
    ///     Whether the bodies never move.
    /// linear_velocity : array_like, (3,), default (0, 0, 0)
    ///     m/s.
    /// angular_velocity : array_like, (3,), default (0, 0, 0)
    ///     Of each body about its own centre, world axes, rad/s.
    ///
    /// Returns
    /// -------
    /// list of int
    ///     Ids of the bodies, those of pieces in the order of the pieces.
    #[pyo3(signature = (
        what, *, shift=None, density=None, friction=None, restitution=None, rolling_resistance=None, physics_level=None,
        fixed=false, linear_velocity=None, angular_velocity=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords of a call in Python")]
    fn add(
        &self,
        py: Python<'_>,
        what: &Bound<'_, PyAny>,
        shift: Option<&Bound<'_, PyAny>>,
        density: Option<f64>,
        friction: Option<f64>,
        restitution: Option<f64>,
        rolling_resistance: Option<f64>,
        physics_level: Option<u32>,
        fixed: bool,
        linear_velocity: Option<&Bound<'_, PyAny>>,
        angular_velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<u32>> {
        let what = Added::of(what)?;
        let shift = or_zero("shift", shift)?;
        let velocities =
            [or_zero("linear_velocity", linear_velocity)?, or_zero("angular_velocity", angular_velocity)?];
        if let Some(level) = physics_level {
            checked("physics_level", Some(f64::from(level)), &PHYSICS_LEVEL, 0.0)?;
        }
        let usual = Matter::default();
        let rolling = (rolling_resistance, usual.rolling_resistance);
        let matter = Matter {
            density: checked("density", density, &DENSITY, usual.density)?,
            friction: checked("friction", friction, &FRICTION, usual.friction)?,
            restitution: checked("restitution", restitution, &RESTITUTION, usual.restitution)?,
            rolling_resistance: checked("rolling_resistance", rolling.0, &ROLLING_RESISTANCE, rolling.1)?,
            physics_level,
            fixed,
        };
        running::aside(py, || self.held().add(&what, &matter, shift, velocities))
    }

    /// Takes steps of `dt`.
    ///
    /// Parameters
    /// ----------
    /// count : int, default 1
    ///     How many, at least 1.
    ///
    /// Returns
    /// -------
    /// dict of str to float or int
    ///     Figures of the last step by the names of steps.csv: `time` (s), `bodies`, `awake`, `frozen`, `pairs`,
    ///     `contact_points`, `deepest_penetration` (m), `kinetic_energy` (J), `potential_energy` (J), `momentum_x` (kg m/s),
    ///     ..., and for each stage "ms STAGE", its wall-clock time.
    #[pyo3(signature = (count=1))]
    fn step<'py>(&self, py: Python<'py>, count: u64) -> PyResult<Bound<'py, PyDict>> {
        if count == 0 {
            return Err(errors::parameter("count is 0; take at least one step"));
        }
        let (report, bodies) = self.advance(py, count)?;
        figures(py, &report, bodies)
    }

    /// Plays step by step.
    ///
    /// Parameters
    /// ----------
    /// seconds : float
    ///     Simulated time, above 0, at most 1,000,000 s; it is rounded to whole steps, at least one.
    ///
    /// Returns
    /// -------
    /// iterator of State
    ///     The states after each step. The step is taken when the state is asked for.
    fn play(slf: &Bound<'_, Self>, seconds: f64) -> PyResult<Playing> {
        let seconds = playable(seconds)?;
        let dt = slf.get().read(slf.py(), |held| held.world.settings.dt);
        Ok(Playing { world: slf.clone().unbind(), left: (seconds / dt).round().max(1.0) as u64 })
    }

    /// float : Simulated time, s.
    #[getter]
    fn time(&self, py: Python<'_>) -> f64 {
        self.read(py, |held| held.world.time())
    }

    /// float : Length of a step, s.
    #[getter]
    fn dt(&self, py: Python<'_>) -> f64 {
        self.read(py, |held| held.world.settings.dt)
    }

    /// State : The states of all bodies now.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<State> {
        self.moment(py).into_state(py)
    }

    /// ndarray, (B,), int32 : Ids of the bodies, ascending.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::list(py, self.moment(py).ids)
    }

    /// ndarray, (B,), int32 : The call of `add` that each body came by, from 0.
    #[getter]
    fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::list(py, self.moment(py).objects)
    }

    /// ndarray, (B,), float64 : Masses, kg.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::list(py, self.moment(py).masses)
    }

    /// ndarray, (B, 3), float64 : Centres of mass, world, m.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::rows(py, self.moment(py).positions)
    }

    /// ndarray, (B, 4), float64 : Rotations from the axes of the body to those of the world, unit quaternions x, y, z, w.
    #[getter]
    fn rotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::rows(py, self.moment(py).rotations)
    }

    /// ndarray, (B, 3), float64 : Velocities of the centres of mass, m/s.
    #[getter]
    fn linear_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::rows(py, self.moment(py).linear_velocities)
    }

    /// ndarray, (B, 3), float64 : Angular velocities, world axes, rad/s.
    #[getter]
    fn angular_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::rows(py, self.moment(py).angular_velocities)
    }

    /// The solver's contacts of the last step, those between sleeping bodies too, in the order of the pairs. Points that are
    /// near and do not press are among them.
    ///
    /// Parameters
    /// ----------
    /// by_substep : bool, default False
    ///     Whether there is a row for each contact and substep, of every search for contacts in the step; the world needs
    ///     `contact_substeps=True`.
    ///
    /// Returns
    /// -------
    /// dict of str to ndarray
    ///     By the names of contacts.npz: `bodies` (C, 2) int32, ids, -1 for the floor and walls; float64: `point` (C, 3), world,
    ///     m; `normal` (C, 3), from the second body to the first; `separation` (C,), m, negative for overlap; `impulse` (C,), N
    ///     s, along the normal since the last search for contacts in the step; `parting` (C,), m/s, along the normal, negative
    ///     where the bodies approach; `sliding` (C,), m/s, across it; `relative_velocity` (C, 3), m/s, of the first body as seen
    ///     from the second; `substep_impulse` (C,) and `substep_friction` (C, 3), N s, of the row's substep (the last one without
    ///     `by_substep`), on the first body; `step_impulse` (C,) and `step_friction` (C, 3), N s, over all substeps of the step;
    ///     with `by_substep` `substep` (C,) int32, from 0, -1 where none was solved; `cell` (C,), m, edge of the cells in which
    ///     the contact was found; `area` (C,), m^2, its share of its patch; `key` (C, 2) int32, halves of what names it in its
    ///     pair. Why each is a contact, int32 (C,), by the numbers of docs/files.md: `found_by`, `found_as`,
    ///     `chosen_as`, `candidates`, `persistence`, `touches_later`.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If `by_substep` is asked of a world whose steps keep no substeps.
    #[pyo3(signature = (*, by_substep=false))]
    fn contacts<'py>(&self, py: Python<'py>, by_substep: bool) -> PyResult<Bound<'py, PyDict>> {
        self.read(py, |held| Contacts::of(&held.world, by_substep))?.into_dict(py)
    }

    /// A picture of all bodies where they are.
    ///
    /// Parameters
    /// ----------
    /// width, height : int, default 640 and 480
    ///     Pixels, 1 to 8192.
    /// view : {"three-quarter", "front", "back", "left", "right", "top"}
    ///     Side to look from; the camera sees all bodies.
    /// color_by : str, default "material"
    ///     What colours show, as `kintsugi render --color-by` takes it: "material", "piece", "normal", "crack", "level",
    ///     "mass", "speed", "contact-impulse", "stress" (of the weight) and others.
    /// transparent : bool, default False
    ///     Whether background and floor are left out.
    /// engine : Engine, optional
    ///     Where the picture is drawn; without it on the processor's cores.
    ///
    /// Returns
    /// -------
    /// ndarray, (height, width, 4), uint8
    ///     Rows from the top, sRGB and alpha.
    #[pyo3(
        signature = (width=640, height=480, *, view=None, color_by=None, transparent=false, engine=None),
        text_signature = "($self, width=640, height=480, *, view=\"three-quarter\", color_by=\"material\", \
                          transparent=False, engine=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "they are keywords of a call in Python")]
    fn picture<'py>(
        &self,
        py: Python<'py>,
        width: u32,
        height: u32,
        view: Option<String>,
        color_by: Option<String>,
        transparent: bool,
        engine: Option<&Bound<'py, Engine>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (size, engine) = ([width, height], or_cores(engine)?);
        let settings = Settings { size, view, color_by, apart: 0.0, transparent, engine };
        let held = Arc::clone(&self.held);
        picture::draw(py, settings, move |picture, engine| {
            let held = held.lock().unwrap_or_else(PoisonError::into_inner);
            picture.draw_on(engine, &held.world)
        })
    }

    /// Number of bodies.
    fn __len__(&self, py: Python<'_>) -> usize {
        self.read(py, |held| held.world.bodies.len())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.read(py, |held| {
            format!("<World at {} s, {} bodies>", held.world.time(), held.world.bodies.len())
        })
    }
}

/// A world that is played step by step: an iterator of `State`.
#[pyclass(module = "kintsugi")]
pub struct Playing {
    world: Py<World>,
    left: u64,
}

#[pymethods]
impl Playing {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<State>> {
        if self.left == 0 {
            return Ok(None);
        }
        let world = self.world.get();
        world.advance(py, 1)?;
        self.left -= 1;
        world.moment(py).into_state(py).map(Some)
    }

    /// Number of steps that are still to be taken.
    fn __len__(&self) -> usize {
        usize::try_from(self.left).unwrap_or(usize::MAX)
    }
}

/// Adds the classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<World>()?;
    module.add_class::<Playing>()?;
    module.add_class::<State>()
}
