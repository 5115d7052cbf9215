//! Conjugate gradients over a body that is held, or free.
//!
//! In: a body, what holds it, loads. Out: displacements and how near they are.
//!
//! Conjugate gradients in doubles (Hestenes & Stiefel 1952), preconditioned by one V-cycle in floats. Displacements are
//! computed in units in which a full cell has Young's modulus 1 and edge 1. The error that is reported is that in the energy
//! norm, relative to the solution, as the preconditioner sees it: sqrt(r B r / u K u).

use std::sync::Arc;

use glam::DVec3;
use kintsugi_core::fracture::Cancel;
use rayon::prelude::*;

use crate::{
    ElasticBody, ElasticError, Load,
    field::{BLOCK, Chunk, Field, LANES, add_times, dot, scale_add, zeros, zip},
    loads,
    multigrid::{Multigrid, Vectors, exact_product, round},
    product::Matrices,
    rigid,
    solution::{Convergence, Solution},
    transfer::masked,
};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The error in the energy norm at which to stop, relative to the solution.
    pub tolerance: f64,
    /// The most iterations; a solution that needs more says so by its [`Convergence`].
    pub iterations: u32,
}

impl Settings {
    /// For pictures: one in a hundred.
    pub const DISPLAY: Self = Self { tolerance: 1e-2, iterations: 40 };
    /// For numbers: one in a million.
    pub const PRECISE: Self = Self { tolerance: 1e-6, iterations: 300 };
}

/// A body with what holds it. Made once, it solves for any loads.
pub struct Solver {
    body: Arc<ElasticBody>,
    multigrid: Multigrid,
    matrices: Matrices<f64>,
    is_free: bool,
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
        Self { body: Arc::clone(body), multigrid, matrices, is_free }
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
        let unit = size / (body.material().youngs_modulus * body.cell_size());
        if !(unit.is_normal() && (1.0 / size).is_normal()) {
            return Err(ElasticError::Load("a force beyond all measure"));
        }
        change_all(&mut forces, |f| f / size);
        let start = start.filter(|start| Arc::ptr_eq(start.body(), body));
        let x = start.map(|start| start.displacements_in(1.0 / unit));
        let (mut x, convergence) = self.conjugate_gradients(&forces, x, settings, cancel)?;
        change_all(&mut x, |u| u * unit);
        Ok(Solution::new(body, x, convergence))
    }

    /// Displacements under forces, for a full cell of edge 1 and Young's modulus 1.
    fn conjugate_gradients(
        &self,
        forces: &Field<f64>,
        start: Option<Field<f64>>,
        settings: &Settings,
        cancel: &Cancel,
    ) -> Result<(Field<f64>, Convergence), ElasticError> {
        let (lattice, free) = (&self.body.lattices[0], self.multigrid.free());
        let multiply = |u: &Field<f64>, to: &mut Field<f64>| {
            exact_product(lattice, &self.matrices, free, u, to);
        };
        let mut vectors = self.multigrid.vectors(&self.body);
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
        let (mut direction, mut z) = (zeros(lattice.chunks()), zeros(lattice.chunks()));
        let mut last = 0.0;
        let mut convergence = Convergence { iterations: 0, error: f64::INFINITY, is_converged: false };
        loop {
            self.precondition(&left, &mut z, &mut vectors, cancel)?;
            let size = dot(&left, &z);
            let energy = dot(&x, forces) - dot(&x, &left);
            // What rounding leaves may have either sign.
            convergence.error =
                if size == 0.0 { 0.0 } else { (size.abs() / energy.max(f64::MIN_POSITIVE)).sqrt() };
            convergence.is_converged = convergence.error <= settings.tolerance;
            let is_stuck = size.is_nan() || size <= 0.0;
            if convergence.is_converged || is_stuck || convergence.iterations >= settings.iterations {
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

/// The largest magnitude.
fn largest(field: &Field<f64>) -> f64 {
    let of =
        |chunks: &[Chunk<f64>]| chunks.iter().flatten().flatten().fold(0.0, |most: f64, f| most.max(f.abs()));
    field.par_chunks(BLOCK).map(of).reduce(|| 0.0, f64::max)
}

/// Changes every number.
fn change_all(field: &mut Field<f64>, change: impl Fn(f64) -> f64 + Sync) {
    let all = |chunk: &mut Chunk<f64>| chunk.iter_mut().flatten().for_each(|value| *value = change(*value));
    field.par_chunks_mut(BLOCK).for_each(|chunks| chunks.iter_mut().for_each(all));
}
