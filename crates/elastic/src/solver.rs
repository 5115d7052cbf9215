//! Conjugate gradients over a body that is held, or free.
//!
//! In: a body, what holds it, loads. Out: displacements and how near they are.
//!
//! Conjugate gradients in doubles (Hestenes & Stiefel 1952), preconditioned by one V-cycle in floats. Displacements are
//! computed in units in which a full cell has Young's modulus 1 and edge 1. The error that is reported is that in the energy
//! norm, relative to the solution, as the preconditioner sees it: sqrt(r B r / u K u).

use std::sync::{Arc, Mutex, TryLockError};

use glam::DVec3;
use kintsugi_core::fracture::Cancel;
use rayon::prelude::*;

use crate::{
    ElasticBody, ElasticError, Load,
    field::{BLOCK, Chunk, Field, LANES, add_times, dot, largest, scale_add, zeros, zip},
    gpu::Gpu,
    loads,
    multigrid::{Multigrid, Vectors, exact_product, round},
    passes::{Passes, Stopped},
    product::Matrices,
    rigid,
    solution::{Convergence, Settings, Solution, error_of},
    transfer::masked,
};

/// Bodies of fewer cells are solved on the cores, whatever device there is: an iteration is some forty dispatches, each of which costs
/// a device a fixed time. On which cards passes are faster from here on is not measured.
pub const FEWEST_IN_PASSES: usize = 20_000;

/// A body with what holds it. Made once, it solves for any loads.
pub struct Solver {
    body: Arc<ElasticBody>,
    multigrid: Multigrid,
    matrices: Matrices<f64>,
    is_free: bool,
    /// None on the cores, and from the first solve on that a device did not bring to its end.
    passes: Mutex<Option<Passes>>,
}

impl std::fmt::Debug for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Solver {{ body: {:?}, is_free: {} }}", self.body, self.is_free)
    }
}

impl Solver {
    /// A body that nothing holds: it accelerates under its loads, and its inertia balances them.
    #[must_use]
    pub fn free(body: &Arc<ElasticBody>) -> Self {
        Self::new(body, body.lattices[0].active.clone(), true)
    }

    /// A body of which some nodes, the corners of its cells, cannot move: `is_held` says along which axes a node at a point
    /// of shape space (m) is held.
    ///
    /// # Errors
    /// [`ElasticError::Loose`] where the body could still move or turn as a whole.
    pub fn held(
        body: &Arc<ElasticBody>,
        is_held: impl Fn(DVec3) -> [bool; 3] + Sync,
    ) -> Result<Self, ElasticError> {
        let lattice = &body.lattices[0];
        let mut free = lattice.active.clone();
        for (chunk, bits) in free.iter_mut().enumerate() {
            for lane in 0..LANES {
                if *bits >> lane & 0x1_0101 != 0 {
                    let held = is_held(body.shape_from_node(lattice.node(chunk, lane)));
                    for axis in (0..3).filter(|axis| held[*axis]) {
                        *bits &= !(1 << (LANES * axis + lane));
                    }
                }
            }
        }
        if !rigid::holds(lattice, &free) {
            return Err(ElasticError::Loose);
        }
        Ok(Self::new(body, free, false))
    }

    /// A body of which all nodes in some boxes of shape space (m) are held.
    ///
    /// # Errors
    /// As [`Solver::held`].
    pub fn held_in(body: &Arc<ElasticBody>, boxes: &[kintsugi_geometry::Aabb]) -> Result<Self, ElasticError> {
        let inside = |p: DVec3| boxes.iter().any(|b| p.cmpge(b.low).all() && p.cmple(b.high).all());
        Self::held(body, |point| [inside(point); 3])
    }

    /// A body that stands on its lowest cells: their lower nodes are held. `down` is a direction of any length; -y if it is zero.
    ///
    /// # Errors
    /// As [`Solver::held`].
    pub fn standing(body: &Arc<ElasticBody>, down: glam::DVec3) -> Result<Self, ElasticError> {
        let down = down.normalize_or(glam::DVec3::NEG_Y);
        let depth = |p: glam::DVec3| p.dot(down);
        let deepest = body.faces().iter().map(|face| depth(face.centre)).fold(f64::NEG_INFINITY, f64::max);
        Self::held(body, |p| [depth(p) >= deepest - 0.75 * body.cell_size(); 3])
    }

    fn new(body: &Arc<ElasticBody>, free: Vec<u32>, is_free: bool) -> Self {
        let multigrid = Multigrid::new(body, free);
        let matrices = Matrices::new(&body.stiffness, 1.0);
        Self { body: Arc::clone(body), multigrid, matrices, is_free, passes: Mutex::default() }
    }

    /// The same, in compute passes of a device if the body has [`FEWEST_IN_PASSES`] cells or more. Solutions have the same accuracy,
    /// and the same bytes from one device. Where the device is lost, refuses, or is too small, and where single precision has no end,
    /// the cores take over and go on from there. One load is solved in passes at a time, others meanwhile on the cores.
    #[must_use]
    pub fn in_passes(self, gpu: Option<&Gpu>) -> Self {
        let gpu = gpu.filter(|_| self.body.len() >= FEWEST_IN_PASSES);
        self.always_in_passes(gpu)
    }

    /// The same of a body of any number of cells.
    pub(crate) fn always_in_passes(mut self, gpu: Option<&Gpu>) -> Self {
        let passes = gpu.and_then(|gpu| Passes::new(gpu, &self.body, &self.multigrid, &self.matrices).ok());
        self.passes = Mutex::new(passes);
        self
    }

    /// Whether loads are solved in compute passes: not once the cores have taken over.
    #[must_use]
    pub fn is_in_passes(&self) -> bool {
        match self.passes.try_lock() {
            Ok(passes) => passes.is_some(),
            Err(TryLockError::Poisoned(passes)) => passes.into_inner().is_some(),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Arc<ElasticBody> {
        &self.body
    }

    /// Whether nothing holds the body.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.is_free
    }

    /// Solves for the displacements under loads. `start`, an earlier solution of this body, saves iterations if its loads
    /// were similar.
    ///
    /// # Errors
    /// [`ElasticError::Load`], [`ElasticError::NothingLoaded`], [`ElasticError::Cancelled`]. Too few iterations are no error
    /// here: see [`Solution::converged`].
    pub fn solve(
        &self,
        loads: &[Load<'_>],
        settings: &Settings,
        start: Option<&Solution>,
        cancel: &Cancel,
    ) -> Result<Solution, ElasticError> {
        let body = &self.body;
        let (forces, size) = self.forces(loads)?;
        let unit = size / (body.material().youngs_modulus * body.cell_size());
        if !(unit.is_normal() && (1.0 / size).is_normal()) {
            return Err(ElasticError::Load("a force beyond all measure"));
        }
        let start = start.filter(|start| Arc::ptr_eq(start.body(), body));
        let x = start.map(|start| start.displacements_in(1.0 / unit));
        let (mut x, convergence) = self.conjugate_gradients(&forces, x, settings, cancel)?;
        change_all(&mut x, |u| u * unit);
        Ok(Solution::new(body, x, convergence))
    }

    /// The forces of loads at what is free, in balance if all is, the largest of them 1; and how large that is, N.
    pub(crate) fn forces(&self, loads: &[Load<'_>]) -> Result<(Field<f64>, f64), ElasticError> {
        let body = &self.body;
        let mut forces = loads::forces(body, loads)?;
        let before = largest(&forces);
        let free = self.multigrid.free();
        zip(&mut forces, free, |forces, bits| *forces = masked(*forces, *bits));
        if self.is_free {
            body.rigid.relieve(&body.lattices[0], &mut forces);
        }
        // Forces that are in balance at each node by themselves leave rounding errors.
        let size = largest(&forces);
        if size <= 1e-10 * before || before == 0.0 {
            return Err(ElasticError::NothingLoaded);
        }
        change_all(&mut forces, |f| f / size);
        Ok((forces, size))
    }

    /// Displacements under forces, for a full cell of edge 1 and Young's modulus 1.
    pub(crate) fn conjugate_gradients(
        &self,
        forces: &Field<f64>,
        start: Option<Field<f64>>,
        settings: &Settings,
        cancel: &Cancel,
    ) -> Result<(Field<f64>, Convergence), ElasticError> {
        let (lattice, free) = (&self.body.lattices[0], self.multigrid.free());
        let multiply = |u: &Field<f64>, to: &mut Field<f64>| self.multiply(u, to);
        let mut left = forces.clone();
        let mut product = zeros(lattice.chunks());
        let mut x = zeros(lattice.chunks());
        if let Some(mut start) = start {
            zip(&mut start, free, |start, bits| *start = masked(*start, *bits));
            multiply(&start, &mut product);
            // The best multiple of the start: a blow of another strength at the same place needs no iteration at all.
            let factor = dot(forces, &start) / dot(&start, &product);
            if factor.is_finite() {
                add_times(&mut x, factor, &start);
                add_times(&mut left, -factor, &product);
            }
        }
        let refined = self.refine(forces, (&mut x, &mut left), &multiply, (settings, cancel))?;
        if let Some(convergence) = refined.filter(|refined| refined.is_converged) {
            return Ok((x, convergence));
        }
        let iterations = refined.map_or(0, |refined| refined.iterations);
        let most = settings.iterations.saturating_add(iterations);
        let mut vectors = self.multigrid.vectors(&self.body);
        let (mut direction, mut z) = (zeros(lattice.chunks()), zeros(lattice.chunks()));
        let mut last = 0.0;
        let mut convergence = Convergence { iterations, error: f64::INFINITY, is_converged: false };
        loop {
            self.precondition(&left, &mut z, &mut vectors, cancel)?;
            let size = dot(&left, &z);
            let energy = dot(&x, forces) - dot(&x, &left);
            convergence.error = error_of(size, energy);
            convergence.is_converged = convergence.error <= settings.tolerance;
            let is_stuck = size.is_nan() || size <= 0.0;
            if convergence.is_converged || is_stuck || convergence.iterations >= most {
                return Ok((x, convergence));
            }
            scale_add(&mut direction, if last > 0.0 { size / last } else { 0.0 }, &z);
            multiply(&direction, &mut product);
            let step = size / dot(&direction, &product);
            if !step.is_finite() {
                return Ok((x, convergence));
            }
            add_times(&mut x, step, &direction);
            add_times(&mut left, -step, &product);
            last = size;
            convergence.iterations += 1;
        }
    }

    /// The forces of displacements, for a full cell of edge 1 and Young's modulus 1.
    pub(crate) fn multiply(&self, u: &Field<f64>, to: &mut Field<f64>) {
        exact_product(&self.body.lattices[0], &self.matrices, self.multigrid.free(), u, to);
    }

    /// Refines displacements in compute passes. `left` are the forces that they leave, by `multiply`. `None` without passes, and where
    /// the device fails; the displacements are then better or as they were.
    pub(crate) fn refine(
        &self,
        forces: &Field<f64>,
        displacements: (&mut Field<f64>, &mut Field<f64>),
        multiply: &dyn Fn(&Field<f64>, &mut Field<f64>),
        (settings, cancel): (&Settings, &Cancel),
    ) -> Result<Option<Convergence>, ElasticError> {
        let mut passes = match self.passes.try_lock() {
            Ok(passes) => passes,
            Err(TryLockError::Poisoned(passes)) => passes.into_inner(),
            // A thread that waits for others in a solve may begin another one, which must not wait for the first.
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        let Some(own) = passes.as_ref() else { return Ok(None) };
        let project = |x: &mut Field<f64>| {
            if self.is_free {
                self.body.rigid.project(&self.body.lattices[0], x);
            }
        };
        let refined = own.refine(forces, displacements, multiply, &project, (settings, cancel));
        match refined {
            Err(Stopped::Cancelled(cancelled)) => Err(cancelled.into()),
            Ok(convergence) if convergence.is_converged => Ok(Some(convergence)),
            unfinished => {
                *passes = None;
                Ok(unfinished.ok())
            }
        }
    }

    /// One V-cycle; rigid motions of a free body are taken out of its result. Its forces are in balance and have none.
    fn precondition(
        &self,
        forces: &Field<f64>,
        to: &mut Field<f64>,
        vectors: &mut [Vectors],
        cancel: &Cancel,
    ) -> Result<(), ElasticError> {
        let size = largest(forces);
        let Some(finest) = vectors.first_mut() else { return Ok(()) };
        // Floats have no room for what is left of forces after many iterations.
        round(forces, if size > 0.0 { 1.0 / size } else { 0.0 }, &mut finest.forces);
        self.multigrid.cycle(&self.body, vectors, cancel)?;
        zip(to, &vectors[0].sum, |to, from| {
            for (to, from) in to.iter_mut().zip(from) {
                (0..LANES).for_each(|l| to[l] = size * f64::from(from[l]));
            }
        });
        if self.is_free {
            self.body.rigid.project(&self.body.lattices[0], to);
        }
        Ok(())
    }
}

/// Changes every number.
fn change_all(field: &mut Field<f64>, change: impl Fn(f64) -> f64 + Sync) {
    let all = |chunk: &mut Chunk<f64>| chunk.iter_mut().flatten().for_each(|value| *value = change(*value));
    field.par_chunks_mut(BLOCK).for_each(|chunks| chunks.iter_mut().for_each(all));
}
