//! The states of bodies at one moment, and the figures of a step.
//!
//! In: bodies of a world or a sandbox. Out: arrays with a row per body, and a dict of numbers.

use std::collections::BTreeMap;

use kintsugi::bodies::{Body, StepReport};
use pyo3::{prelude::*, types::PyDict};

use crate::arrays;

/// States of bodies, in the order of their ids, before they are arrays.
#[derive(Default)]
pub struct Moment {
    /// Simulated time, s.
    pub time: f64,
    /// Ids.
    pub ids: Vec<i32>,
    /// Number of each body's object.
    pub objects: Vec<i32>,
    /// kg.
    pub masses: Vec<f64>,
    /// Centres of mass, world, m.
    pub positions: Vec<[f64; 3]>,
    /// World from body, quaternions x, y, z, w.
    pub rotations: Vec<[f64; 4]>,
    /// m/s.
    pub linear_velocities: Vec<[f64; 3]>,
    /// rad/s.
    pub angular_velocities: Vec<[f64; 3]>,
}

impl Moment {
    /// The states of `bodies` at `time`; `object` gives the number of a body's object.
    pub fn of(time: f64, bodies: &[Body], object: impl Fn(&Body) -> i32) -> Self {
        let mut all = Self { time, ..Self::default() };
        for body in bodies {
            let state = &body.state;
            all.ids.push(number(body.id.0));
            all.objects.push(object(body));
            all.masses.push(body.def.mass_kg());
            all.positions.push(state.position.to_array());
            all.rotations.push(state.rotation.to_array());
            all.linear_velocities.push(state.linear_velocity.to_array());
            all.angular_velocities.push(state.angular_velocity.to_array());
        }
        all
    }

    /// The same as arrays.
    ///
    /// # Errors
    /// `Error` where Python has no memory.
    pub fn into_state(self, py: Python<'_>) -> PyResult<State> {
        Ok(State {
            time: self.time,
            bodies: self.ids.len(),
            ids: arrays::list(py, self.ids)?.unbind(),
            objects: arrays::list(py, self.objects)?.unbind(),
            masses: arrays::list(py, self.masses)?.unbind(),
            positions: arrays::rows(py, self.positions)?.unbind(),
            rotations: arrays::rows(py, self.rotations)?.unbind(),
            linear_velocities: arrays::rows(py, self.linear_velocities)?.unbind(),
            angular_velocities: arrays::rows(py, self.angular_velocities)?.unbind(),
        })
    }
}

/// A number of a body where arrays have int32.
pub fn number(of: u32) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX)
}

/// The states of all bodies at one moment; row k of each array is about the body `ids[k]`. Bodies are in ascending order of
/// their ids. A body that breaks disappears, and its pieces get new, higher ids.
#[pyclass(frozen, module = "kintsugi")]
pub struct State {
    time: f64,
    bodies: usize,
    ids: Py<PyAny>,
    objects: Py<PyAny>,
    masses: Py<PyAny>,
    positions: Py<PyAny>,
    rotations: Py<PyAny>,
    linear_velocities: Py<PyAny>,
    angular_velocities: Py<PyAny>,
}

#[pymethods]
impl State {
    /// float : Simulated time, s.
    #[getter]
    fn time(&self) -> f64 {
        self.time
    }

    /// ndarray, (B,), int32 : Ids of the bodies.
    #[getter]
    fn ids(&self, py: Python<'_>) -> Py<PyAny> {
        self.ids.clone_ref(py)
    }

    /// ndarray, (B,), int32 : Number of each body's object: in a simulation that of the scene's objects, pieces have that of
    /// what broke; in a world the number of the call of `add`, from 0.
    #[getter]
    fn objects(&self, py: Python<'_>) -> Py<PyAny> {
        self.objects.clone_ref(py)
    }

    /// ndarray, (B,), float64 : Masses, kg.
    #[getter]
    fn masses(&self, py: Python<'_>) -> Py<PyAny> {
        self.masses.clone_ref(py)
    }

    /// ndarray, (B, 3), float64 : Centres of mass, world, m.
    #[getter]
    fn positions(&self, py: Python<'_>) -> Py<PyAny> {
        self.positions.clone_ref(py)
    }

    /// ndarray, (B, 4), float64 : Rotations from the axes of the body to those of the world, unit quaternions x, y, z, w.
    #[getter]
    fn rotations(&self, py: Python<'_>) -> Py<PyAny> {
        self.rotations.clone_ref(py)
    }

    /// ndarray, (B, 3), float64 : Velocities of the centres of mass, m/s.
    #[getter]
    fn linear_velocities(&self, py: Python<'_>) -> Py<PyAny> {
        self.linear_velocities.clone_ref(py)
    }

    /// ndarray, (B, 3), float64 : Angular velocities, world axes, rad/s.
    #[getter]
    fn angular_velocities(&self, py: Python<'_>) -> Py<PyAny> {
        self.angular_velocities.clone_ref(py)
    }

    fn __len__(&self) -> usize {
        self.bodies
    }

    fn __repr__(&self) -> String {
        format!("<State at {} s, {} bodies>", self.time, self.bodies)
    }
}

/// The figures of a step, by the names of `steps.csv`.
///
/// # Errors
/// Where Python has no memory.
pub fn figures<'py>(py: Python<'py>, report: &StepReport, bodies: usize) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("time", report.time)?;
    for (name, count) in [
        ("bodies", bodies),
        ("awake", report.awake),
        ("frozen", report.frozen),
        ("cut", report.cut),
        ("pairs", report.pairs),
        ("contact_points", report.contacts),
        ("collision_points", report.collision_points),
    ] {
        all.set_item(name, count)?;
    }
    all.set_item("intersection_volume", report.intersection_volume)?;
    all.set_item("deepest_penetration", report.deepest)?;
    all.set_item("kinetic_energy", report.kinetic)?;
    all.set_item("potential_energy", report.potential)?;
    for (name, vector) in [
        ("momentum", report.momentum),
        ("angular_momentum", report.angular_momentum),
        ("floor_force", report.floor_force),
    ] {
        for (axis, value) in ["x", "y", "z"].into_iter().zip(vector.to_array()) {
            all.set_item(format!("{name}_{axis}"), value)?;
        }
    }
    let mut stages: BTreeMap<&str, f64> = BTreeMap::new();
    for timing in &report.timings {
        *stages.entry(timing.stage.as_str()).or_default() += timing.ms;
    }
    for (stage, ms) in stages {
        all.set_item(format!("ms {stage}"), ms)?;
    }
    Ok(all)
}
