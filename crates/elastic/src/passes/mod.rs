//! The solve in compute passes: the same matrix, V-cycle and conjugate gradients as on the cores, in single precision.
//!
//! In: the levels of a held body, uploaded once; forces that displacements leave. Out: better displacements.
//!
//! Single precision alone ends far from the solution of a slender body. So the solution is refined (Wilkinson 1963; Moler 1967): the
//! cores compute in doubles which forces are left, a round of passes solves for these, scaled to 1, to a thousandth, and the cores add
//! what it finds. Each round begins with the error that is reported, that of the displacements so far. The host waits once for a batch
//! of iterations and once for what a round found; passes after the end of a round change nothing. All sums have one order, so a
//! device gives the same bytes twice.

mod data;

use kintsugi_core::fracture::{Cancel, Cancelled};

use crate::{
    body::ElasticBody,
    field::{Chunk, Field, LANES, dot, largest, zeros, zip},
    gpu::{Buffer, Dispatch, Gpu, GpuError, PendingTimings, Readback, Recorder, bind, kernels},
    lattice::Lattice,
    multigrid::{self, Level, Multigrid},
    product::Matrices,
    solution::{Convergence, Settings, error_of},
};
use data::{ElasticParams, ElasticState, MATTER, WORDS};

/// Iterations that the host submits at once: as many as most rounds need.
const BATCH: u32 = 8;
/// A round ends at this share of the error it began with, in the energy norm: smaller errors are rounding of the round itself.
const LEAST_DROP: f64 = 1e-3;
/// A round aims at this share of the tolerance, as the next one measures what is left.
const BELOW_TOLERANCE: f64 = 0.3;
/// A round that leaves a larger share of the error has met the limit of single precision; the cores then go on.
const MOST_LEFT: f64 = 0.2;
/// Threads of a workgroup that add up to one sum (`shared/linear_id.wgsl`).
const SUMMED: usize = 256;

kernels! {
    struct Kernels {
        smooth: "elastic/passes/smooth",
        restrict: "elastic/passes/restrict",
        prolong: "elastic/passes/prolong",
        coarsest: "elastic/passes/coarsest",
        multiply: "elastic/passes/multiply",
        dot: "elastic/passes/dot",
        decide: "elastic/passes/decide",
        turn: "elastic/passes/turn",
        step: "elastic/passes/step",
    }
}

/// One level on the device, with the vectors of a cycle.
struct DeviceLevel {
    chunks: usize,
    scale: f32,
    words: Buffer<u32>,
    matter: Buffer<f32>,
    forces: Buffer<Chunk<f32>>,
    sum: Buffer<Chunk<f32>>,
    change: Buffer<Chunk<f32>>,
    next: Buffer<Chunk<f32>>,
    /// Parents of its chunks and children of those of the next coarser level.
    between: Option<[Buffer<u32>; 2]>,
}

impl DeviceLevel {
    fn new(gpu: &Gpu, body: &ElasticBody, k: usize, level: &Level) -> Result<Self, GpuError> {
        let lattice = &body.lattices[k];
        let chunks = lattice.chunks();
        let near = lattice.near.iter().zip(&level.free);
        let words: Vec<u32> = near.flat_map(|(near, free)| near.iter().chain([free])).copied().collect();
        debug_assert_eq!(words.len(), WORDS * chunks);
        // The chunk behind the last is empty.
        let mut matter = vec![0.0f32; MATTER * (chunks + 1)];
        for (chunk, to) in matter.chunks_exact_mut(MATTER).take(chunks).enumerate() {
            let (fill, rest) = to.split_at_mut(LANES);
            let (inverse, held) = rest.split_at_mut(6 * LANES);
            fill.copy_from_slice(&lattice.fill[chunk]);
            inverse.copy_from_slice(level.inverse[chunk].as_flattened());
            if let Some(springs) = level.springs.as_ref() {
                held.copy_from_slice(springs[chunk].as_flattened());
            }
        }
        let between = match body.transfers.get(k) {
            Some(transfer) => {
                let bits = |[x, y, z]: &[u32; 3]| x % 2 + 2 * (y % 2) + 4 * (z % 2);
                let parents = transfer.parents.iter().zip(&lattice.places);
                let parents: Vec<u32> = parents.map(|(parent, place)| 8 * parent + bits(place)).collect();
                let children: Vec<u32> = transfer.children.iter().flatten().copied().collect();
                let parents = Buffer::from_slice(gpu, "parents of stress cells", &parents)?;
                Some([parents, Buffer::from_slice(gpu, "children of stress cells", &children)?])
            }
            None => None,
        };
        Ok(Self {
            chunks,
            scale: multigrid::scale(k) as f32,
            words: Buffer::from_slice(gpu, "nodes of stress cells", &words)?,
            matter: Buffer::from_slice(gpu, "stress cells", &matter)?,
            forces: vector(gpu, lattice)?,
            sum: vector(gpu, lattice)?,
            change: vector(gpu, lattice)?,
            next: vector(gpu, lattice)?,
            between,
        })
    }

    fn threads(&self) -> usize {
        self.chunks * LANES
    }
}

/// Zeros for the nodes of a lattice.
fn vector(gpu: &Gpu, lattice: &Lattice) -> Result<Buffer<Chunk<f32>>, GpuError> {
    Buffer::zeroed(gpu, "displacements of stress cells", lattice.chunks() + 1)
}

/// A held body on a device.
pub(crate) struct Passes {
    gpu: Gpu,
    kernels: Kernels,
    /// Rows of the blocks of a full cell.
    blocks: Buffer<[f32; 4]>,
    levels: Vec<DeviceLevel>,
    smoothings: Vec<(f32, f32)>,
    /// Of the coarsest level: places of the unknowns in a vector, and the inverse of the matrix.
    unknowns: Buffer<u32>,
    inverse: Buffer<f32>,
    left: Buffer<Chunk<f32>>,
    direction: Buffer<Chunk<f32>>,
    product: Buffer<Chunk<f32>>,
    moved: Buffer<Chunk<f32>>,
    sums: Buffer<f32>,
    state: Buffer<ElasticState>,
}

/// Why passes end before their end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stopped {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The device was lost, or refuses.
    #[error(transparent)]
    Device(#[from] GpuError),
}

impl Passes {
    /// Uploads a body and compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`]: the body does not fit the device.
    pub fn new(
        gpu: &Gpu,
        body: &ElasticBody,
        multigrid: &Multigrid,
        matrices: &Matrices<f64>,
    ) -> Result<Self, GpuError> {
        let finest = &body.lattices[0];
        let rows = matrices.cell.as_flattened();
        let blocks: Vec<[f32; 4]> =
            rows.iter().map(|row| [row[0] as f32, row[1] as f32, row[2] as f32, 0.0]).collect();
        let levels = multigrid.levels.iter().enumerate();
        let (unknowns, inverse) = multigrid.coarsest.inverse();
        let sums = (finest.chunks() * 3 * LANES).div_ceil(SUMMED);
        Ok(Self {
            gpu: gpu.clone(),
            kernels: Kernels::new(gpu),
            blocks: Buffer::from_slice(gpu, "stiffness of stress cells", &blocks)?,
            levels: levels
                .map(|(k, level)| DeviceLevel::new(gpu, body, k, level))
                .collect::<Result<_, _>>()?,
            smoothings: multigrid.smoothings.to_vec(),
            unknowns: Buffer::from_slice(gpu, "coarsest stress cells", &unknowns)?,
            inverse: Buffer::from_slice(gpu, "stiffness of the coarsest stress cells", &inverse)?,
            left: vector(gpu, finest)?,
            direction: vector(gpu, finest)?,
            product: vector(gpu, finest)?,
            moved: vector(gpu, finest)?,
            sums: Buffer::zeroed(gpu, "sums over stress cells", sums)?,
            state: Buffer::zeroed(gpu, "state of the stress solver", 1)?,
        })
    }

    /// Refines displacements `x` under `forces`; `left` are the forces that they leave, by `multiply`. `project` takes out what costs
    /// no energy. Ends as conjugate gradients on the cores do, or where rounds hardly help. Whatever ends it, `x` and `left` are
    /// those after the last whole round.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn refine(
        &self,
        forces: &Field<f64>,
        (x, left): (&mut Field<f64>, &mut Field<f64>),
        multiply: &dyn Fn(&Field<f64>, &mut Field<f64>),
        project: &dyn Fn(&mut Field<f64>),
        (settings, cancel): (&Settings, &Cancel),
    ) -> Result<Convergence, Stopped> {
        let dispatches = self.iteration()?;
        // The error that the last round began with.
        let (mut before, mut iterations) = (None::<f64>, 0);
        loop {
            let size = largest(left);
            let energy = dot(x, forces) - dot(x, left);
            // The size of forces, scaled to 1, that leave this error.
            let scale = if size > 0.0 { 1.0 / size } else { 0.0 };
            let leaving = |error: f64| (error * error * energy * scale * scale).clamp(0.0, 1e30) as f32;
            let aim = BELOW_TOLERANCE * settings.tolerance;
            // Displacements of zero have no energy; their error counts as 1.
            let drop = if energy > 0.0 { LEAST_DROP } else { aim.clamp(LEAST_DROP, 0.5) };
            let begin = ElasticState {
                enough: leaving(settings.tolerance),
                aim: leaving(aim),
                drop: (drop * drop) as f32,
                most: settings.iterations.saturating_sub(iterations),
                ..ElasticState::default()
            };
            let state = self.round(&dispatches, (left, scale), begin, cancel)?;
            let error = error_of(f64::from(state.first) * size * size, energy);
            let is_converged = error <= settings.tolerance;
            // What is no number helps nobody, either.
            let helps = before.is_none_or(|before| error <= MOST_LEFT * before);
            if is_converged || state.iterations == 0 || !helps {
                return Ok(Convergence { iterations, error, is_converged });
            }
            let moved = self.moved.read(&self.gpu)?;
            if !moved.iter().flatten().flatten().all(|moved| moved.is_finite()) {
                return Ok(Convergence { iterations, error, is_converged });
            }
            before = Some(error.min(1.0));
            iterations += state.iterations;
            zip(x, &moved, |x, moved| {
                for (x, moved) in x.iter_mut().zip(moved) {
                    (0..LANES).for_each(|l| x[l] += size * f64::from(moved[l]));
                }
            });
            project(x);
            multiply(x, left);
            zip(left, forces, |left, forces| {
                for (left, forces) in left.iter_mut().zip(forces) {
                    (0..LANES).for_each(|l| left[l] = forces[l] - left[l]);
                }
            });
        }
    }

    /// Conjugate gradients for forces times a scale, from displacements of zero; the result is `moved`.
    fn round(
        &self,
        dispatches: &[Dispatch<'_>],
        (forces, scale): (&Field<f64>, f64),
        begin: ElasticState,
        cancel: &Cancel,
    ) -> Result<ElasticState, Stopped> {
        let Some(finest) = self.levels.first() else { return Ok(begin) };
        let mut single = zeros(finest.chunks);
        multigrid::round(forces, scale, &mut single);
        self.left.write(&self.gpu, 0, &single);
        finest.forces.write(&self.gpu, 0, &single);
        self.state.write(&self.gpu, 0, &[begin]);
        let mut state = begin;
        // The iteration after the last one allowed only finds that out.
        for batch in 0..=begin.most / BATCH {
            cancel.check()?;
            let mut rec = Recorder::with_room(&self.gpu, "stress", 0);
            rec.stage("stress");
            if batch == 0 {
                rec.clear(&self.moved, 0..self.moved.len());
                rec.clear(&self.direction, 0..self.direction.len());
            }
            for _ in 0..BATCH.min(begin.most.saturating_add(1)) {
                dispatches.iter().for_each(|dispatch| rec.repeat(dispatch));
            }
            let copy = Readback::copy(&mut rec, &self.state, 0, 1);
            PendingTimings::collect_with(&self.gpu, vec![rec.submit_pending()], &[&copy])?;
            state = copy.to_vec()?.pop().unwrap_or(begin);
            if state.done != 0 {
                break;
            }
        }
        Ok(state)
    }

    /// The dispatches of one iteration, in their order.
    fn iteration(&self) -> Result<Vec<Dispatch<'_>>, GpuError> {
        let rec = &Recorder::with_room(&self.gpu, "stress", 0);
        let (mut all, kernels, state) = (Vec::new(), &self.kernels, &self.state);
        let Some(finest) = self.levels.first() else { return Ok(all) };
        let Self { blocks, left, direction, product, moved, sums, .. } = self;
        let (sum, forces) = (&finest.sum, &finest.forces);
        let count = finest.chunks * 3 * LANES;
        let numbers = ElasticParams { count: count as u32, ..ElasticParams::default() };
        let nodes = ElasticParams { chunks: finest.chunks as u32, ..ElasticParams::default() };
        let of_size = ElasticParams { count: count.div_ceil(SUMMED) as u32, ..ElasticParams::default() };
        let of_energy = ElasticParams { of_energy: 1, ..of_size };

        self.cycle(rec, 0, &mut all)?;
        all.push(rec.prepare(&kernels.dot, count, &numbers, bind![a: left, b: sum, sums])?);
        all.push(rec.prepare(&kernels.decide, 1, &of_size, bind![sums, state])?);
        all.push(rec.prepare(&kernels.turn, count, &numbers, bind![sum, direction, state])?);
        let given =
            bind![chunks: finest.words, matter: finest.matter, blocks, change: direction, product, state];
        all.push(rec.prepare(&kernels.multiply, finest.threads(), &nodes, given)?);
        all.push(rec.prepare(&kernels.dot, count, &numbers, bind![a: direction, b: product, sums])?);
        all.push(rec.prepare(&kernels.decide, 1, &of_energy, bind![sums, state])?);
        let given = bind![direction, product, moved, left, forces, state];
        all.push(rec.prepare(&kernels.step, count, &numbers, given)?);
        Ok(all)
    }

    /// The dispatches of a V-cycle from level `k` on, as [`Multigrid::cycle`] has them.
    fn cycle<'k>(
        &'k self,
        rec: &Recorder<'_>,
        k: usize,
        all: &mut Vec<Dispatch<'k>>,
    ) -> Result<(), GpuError> {
        let Some(own) = self.levels.get(k) else { return Ok(()) };
        let (kernels, state, DeviceLevel { forces, sum, .. }) = (&self.kernels, &self.state, own);
        let (Some([parents, children]), Some(coarse)) = (&own.between, self.levels.get(k + 1)) else {
            let Self { unknowns, inverse, .. } = self;
            let params = ElasticParams { count: unknowns.len() as u32, ..ElasticParams::default() };
            let given = bind![inverse, unknowns, forces, sum, state];
            all.push(rec.prepare(&kernels.coarsest, unknowns.len(), &params, given)?);
            return Ok(());
        };
        let mut sides = [&own.change, &own.next];
        // At last the forces of the last change are taken away, and nothing is added.
        for (n, factors) in self.smoothings.iter().chain(&[(0.0, 0.0)]).enumerate() {
            all.push(self.smooth(rec, own, sides, *factors, n == 0)?);
            sides.swap(0, 1);
        }
        let params = ElasticParams { chunks: coarse.chunks as u32, ..ElasticParams::default() };
        let given = bind![children, fine: forces, forces: coarse.forces, state];
        all.push(rec.prepare(&kernels.restrict, coarse.threads(), &params, given)?);
        self.cycle(rec, k + 1, all)?;
        let params = ElasticParams { chunks: own.chunks as u32, ..ElasticParams::default() };
        let given = bind![
            chunks: own.words,
            parents,
            coarse_chunks: coarse.words,
            coarse: coarse.sum,
            next: sides[0],
            sum,
            state
        ];
        all.push(rec.prepare(&kernels.prolong, own.threads(), &params, given)?);
        for factors in &self.smoothings {
            all.push(self.smooth(rec, own, sides, *factors, false)?);
            sides.swap(0, 1);
        }
        Ok(())
    }

    /// A smoothing, which reads the last change from one side and writes the next to the other.
    fn smooth<'k>(
        &'k self,
        rec: &Recorder<'_>,
        own: &DeviceLevel,
        [change, next]: [&Buffer<Chunk<f32>>; 2],
        (kept, added): (f32, f32),
        is_first: bool,
    ) -> Result<Dispatch<'k>, GpuError> {
        let params = ElasticParams {
            chunks: own.chunks as u32,
            is_first: u32::from(is_first),
            kept,
            added,
            scale: own.scale,
            ..ElasticParams::default()
        };
        let (Self { blocks, state, kernels, .. }, DeviceLevel { words, matter, forces, sum, .. }) =
            (self, own);
        let given = bind![chunks: words, matter, blocks, change, next, sum, forces, state];
        rec.prepare(&kernels.smooth, own.threads(), &params, given)
    }
}

/// The scalar product that a device makes of equally many numbers.
#[cfg(test)]
pub(crate) fn dot_on(gpu: &Gpu, a: &[f32], b: &[f32]) -> Result<f32, GpuError> {
    let kernels = Kernels::new(gpu);
    let (a, b) = (Buffer::from_slice(gpu, "a", a)?, Buffer::from_slice(gpu, "b", b)?);
    let sums = Buffer::<f32>::zeroed(gpu, "sums", a.len().div_ceil(SUMMED))?;
    let state = Buffer::from_slice(gpu, "state", &[ElasticState { most: 1, ..ElasticState::default() }])?;
    let numbers = ElasticParams { count: a.len() as u32, ..ElasticParams::default() };
    let of_size = ElasticParams { count: sums.len() as u32, ..ElasticParams::default() };
    let mut rec = Recorder::with_room(gpu, "test", 0);
    rec.run(&kernels.dot, a.len(), &numbers, bind![a, b, sums])?;
    rec.run(&kernels.decide, 1, &of_size, bind![sums, state])?;
    rec.submit();
    Ok(state.read(gpu)?[0].first)
}

/// Types that the kernels share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    use crate::gpu::Shared;
    vec![ElasticParams::LAYOUT, ElasticState::LAYOUT]
}
