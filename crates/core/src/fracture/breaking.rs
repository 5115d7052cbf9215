//! The recipe of a break, the same for every method: draw the pattern, cut, keep together what stays, join or drop what
//! is too small; several times where a number of pieces is solved for.
//!
//! In: a shape, a [`Strike`]. Out: a [`Break`].
//!
//! # Solving for a number of pieces
//!
//! In: parameters with a wanted number of pieces, and a function that breaks by a number of seeds. Out: the break that
//! comes nearest. More seeds give more pieces, if not with every single seed, so the number of seeds is bracketed and
//! narrowed down: first on a coarse copy if there is one, then in full from where the copy ended. With one random seed,
//! fewer seeds are the first of more, so that trials are similar. If one seed more jumps over the wanted number by more
//! than a tenth, as happens with few pieces of a hollow object, the random seed is changed too.

use std::{sync::Arc, time::Instant};

use super::{
    Break, BreakContext, CutSource, Cutter, Fracture, FractureCounts, FractureError, FractureParams, Kept,
    Lost, MAX_SEEDS, Part, Pattern, Piece, Pieces, Smallest, Solved, Strike, Surface, small,
    solid::{Assembling, CutMesh, proxy_grid},
    voronoi::cells_of,
};
use crate::{
    gpu::StageTiming,
    shape::{Geometry, GridMass, Octree, Shape},
    svo::{Arena, Forest, coarsen},
};

/// Breaks a shape by the method that the blow's parameters name. Reads the shape and changes nothing, so a failure
/// loses nothing.
///
/// # Errors
/// [`FractureError::Params`] for what cannot be broken so, [`FractureError::Gpu`] for the device's,
/// [`FractureError::Cancelled`].
pub fn break_shape(
    context: &BreakContext<'_>,
    shape: &Shape,
    strike: &Strike<'_>,
) -> Result<Break, FractureError> {
    let method = strike.params.method.entry();
    let source = CutSource { context: *context, shape, strike: *strike };
    let cutter = method.breaker.cutter(&source)?;
    if !method.by_seeds {
        let (mut done, octrees) = cut(&source, &*cutter, Pattern::default(), strike.params)?;
        done.pattern = None;
        cutter.finish(&mut done, octrees);
        return Ok(done);
    }
    let cells = cells_of(shape, source.octree()?, strike);
    let ((mut done, octrees), solved) = if strike.preview {
        (cut(&source, &*cutter, cells.cells(strike.params)?.pattern, strike.params)?, None)
    } else {
        let coarse = match strike.params.target_pieces {
            Some(_) if method.of_voxels => Coarse::of(&source)?,
            _ => None,
        };
        let (source, cells) = (&source, &cells);
        let quick = coarse.as_ref().map(|coarse| Quick {
            level: coarse.octree.level(),
            pieces: Box::new(|params| coarse.pieces(source, cells.draw(params)?.0, params)),
        });
        seeds_for(strike.params, quick, &mut |params| {
            let done = cut(source, &*cutter, cells.draw(params)?.0, params)?;
            let pieces = done.0.parts.len() as u32;
            Ok((done, pieces))
        })?
    };
    done.solved = solved;
    done.params = strike.params.clone();
    let Some(pattern) = &done.pattern else { return Ok(done) };
    if let Some(painted) = strike.painted {
        let mut named = done.params.clone();
        named.keep = painted.among(&pattern.seeds);
        // Cells are named by number, so the number of seeds must not be solved for again.
        if let Some(Solved { seeds, rng, .. }) = solved {
            (named.target_pieces, named.seeds, named.rng) = (None, seeds, rng);
        }
        // Parameters that the method refuses could not be read again.
        if method.breaker.problem(&named).is_none() {
            done.params = named;
        }
    }
    let kept = cells.kept(pattern, &done.params);
    // Dabs of the brush may have joined kept cells to one of a lower number.
    done.kept = kept.first().map(|cell| pattern.objects[*cell as usize]).map(|object| {
        let mut of = (0..done.parts.len()).filter(|part| done.objects[*part].contains(&object));
        let part = of.next();
        Kept { part, parts: usize::from(part.is_some()) + of.count(), cells: kept }
    });
    cutter.finish(&mut done, octrees);
    Ok(done)
}

/// One cut, with all that follows from it alone.
fn cut(
    source: &CutSource<'_>,
    cutter: &dyn Cutter,
    pattern: Pattern,
    params: &FractureParams,
) -> Result<(Break, Option<Fracture>), FractureError> {
    source.context.cancel.check()?;
    let pieces = cutter.cut(&pattern, params)?;
    source.context.cancel.check()?;
    let (done, octrees) = match pieces {
        Pieces::Octrees(fracture) => {
            let (octree, cancel) = (source.octree()?, source.context.cancel);
            let work = small::Work { source: (&octree.forest, octree.tree), pattern: &pattern, cancel };
            let fracture = small::keep_together(&work, fracture)?;
            let fracture = small::apply(&work, fracture, params.smallest.as_ref())?;
            (of_octrees(source.shape, octree, &pattern, &fracture), Some(fracture))
        }
        Pieces::Meshes(mesh) => (of_meshes(source, mesh, &pattern, params)?, None),
    };
    Ok((Break { pattern: Some(pattern), params: params.clone(), ..done }, octrees))
}

fn of_octrees(shape: &Shape, octree: &Octree, pattern: &Pattern, fracture: &Fracture) -> Break {
    let dropped = fracture.dropped.as_ref();
    Break {
        parts: parts_of(shape, octree, &fracture.forest, &fracture.pieces),
        objects: fracture.objects(pattern),
        lost: Lost {
            dust_m3: fracture.dust_volume * octree.grid.h.powi(3),
            dropped: dropped.map_or(Vec::new(), |all| parts_of(shape, octree, &all.forest, &all.pieces)),
        },
        counts: fracture.counts,
        timings: fracture.timings.clone(),
        ..Break::default()
    }
}

/// Pieces as parts: they keep the whole's grid, density and look.
pub fn parts_of(shape: &Shape, whole: &Octree, forest: &Arc<Forest>, pieces: &[Piece]) -> Vec<Part> {
    let part = |piece: &Piece| {
        let octree =
            Octree { forest: Arc::clone(forest), tree: piece.tree, grid: whole.grid, mass: piece.mass };
        let shape = Arc::new(Shape::octree(octree, shape.density(), *shape.look()));
        Part { shape, cell: piece.cell, size: piece.voxels }
    };
    pieces.iter().map(part).collect()
}

fn of_meshes(
    source: &CutSource<'_>,
    mesh: CutMesh,
    pattern: &Pattern,
    params: &FractureParams,
) -> Result<Break, FractureError> {
    let (volume, mut timings, detail) = (mesh.source.volume, mesh.timings, mesh.detail);
    let started = Instant::now();
    let stand_in = proxy_grid(source.shape, mesh.source.bounds(), mesh.voxel_level);
    let assembling = Assembling {
        source: &mesh.source,
        shape: source.shape,
        pattern,
        params,
        grid: &source.octree()?.grid,
        // Nothing touches what is only looked at.
        stand_in: (!source.strike.preview).then_some(stand_in),
    };
    let made = assembling.parts(mesh.pieces)?;
    timings.push(StageTiming::since("voxels of the pieces", started));
    let owners: std::collections::BTreeSet<u32> = made.parts.iter().map(|part| part.cell).collect();
    let pieces = made.parts.len() as u64;
    Ok(Break {
        counts: FractureCounts {
            cells: made.cells as u64,
            islands: pieces.saturating_sub(owners.len() as u64),
            pieces,
            dropped: made.lost.dropped.len() as u64,
            merged: made.merged as u64,
            ..FractureCounts::default()
        },
        parts: made.parts,
        objects: made.objects,
        lost: made.lost,
        before_m3: Some(volume),
        timings,
        detail,
        ..Break::default()
    })
}

/// Levels between a coarse copy and the octree, and the lowest level of a copy that is worth its while.
const COARSE_BELOW: u32 = 2;
const LEAST_COARSE: u32 = 5;

/// A copy of an octree two levels coarser, on which numbers of seeds are tried first: it has the same cells and costs a
/// twentieth.
struct Coarse {
    arena: Arena,
    octree: Octree,
}

impl Coarse {
    /// `None` where the source is no octree, or too coarse itself.
    fn of(source: &CutSource<'_>) -> Result<Option<Self>, FractureError> {
        let Geometry::Octree(octree) = source.shape.geometry() else { return Ok(None) };
        if octree.level() < LEAST_COARSE + COARSE_BELOW {
            return Ok(None);
        }
        let forest = Arc::new(coarsen(&octree.forest, octree.level() - COARSE_BELOW));
        let mut arena = Arena::new(source.context.arena.compute())?;
        arena.insert(&forest)?;
        // Nothing reads its sums.
        let octree = Octree { forest, tree: octree.tree, grid: octree.grid, mass: GridMass::default() };
        Ok(Some(Self { arena, octree }))
    }

    /// How many pieces come of a pattern. Surfaces do not matter to that, and the smallest piece counts in the copy's
    /// larger voxels.
    fn pieces(
        &self,
        source: &CutSource<'_>,
        pattern: Pattern,
        params: &FractureParams,
    ) -> Result<u32, FractureError> {
        let standard = FractureParams::default();
        let smaller =
            |rule: Smallest| Smallest { voxels: rule.voxels.div_ceil(1 << (3 * COARSE_BELOW)), ..rule };
        let params = FractureParams {
            surface: Surface::Planar,
            crack: standard.crack,
            labelling: standard.labelling,
            interior: standard.interior,
            island_level: params.island_level.map(|island| island.min(self.octree.level())),
            smallest: params.smallest.map(smaller),
            ..params.clone()
        };
        let shape = Shape::octree(self.octree.clone(), source.shape.density(), *source.shape.look());
        let context = BreakContext { arena: &self.arena, ..source.context };
        let strike = Strike { full_level: None, params: &params, ..source.strike };
        let source = CutSource { context, shape: &shape, strike };
        let cutter = params.method.entry().breaker.cutter(&source)?;
        Ok(cut(&source, &*cutter, pattern, &params)?.0.parts.len() as u32)
    }
}

/// Largest number of trials on a coarse copy, and in full.
const QUICK_TRIALS: u32 = 10;
const FULL_TRIALS: u32 = 6;
/// Largest number of changes of the random seed, if no number of seeds gives the wanted number of pieces.
const MOST_SHAKES: u32 = 8;

/// Breaks by parameters without a wanted number of pieces, and returns the number of pieces.
pub(super) type BreakTrial<'a, T> = &'a mut dyn FnMut(&FractureParams) -> Result<(T, u32), FractureError>;

/// Counts the pieces that parameters give.
type CountPieces<'a> = dyn Fn(&FractureParams) -> Result<u32, FractureError> + 'a;

/// A coarse copy for quick trials.
pub(super) struct Quick<'a> {
    /// Level of its leaves.
    pub level: u32,
    /// How many pieces come of parameters that name no number of pieces.
    pub pieces: Box<CountPieces<'a>>,
}

/// Breaks by `params`; if these have a wanted number of pieces, by the number of seeds that comes nearest to it, in at
/// most ten quick trials and six full ones.
///
/// # Errors
/// Errors of a trial.
pub(super) fn seeds_for<T>(
    params: &FractureParams,
    quick: Option<Quick<'_>>,
    trial: BreakTrial<'_, T>,
) -> Result<(T, Option<Solved>), FractureError> {
    let Some(wanted) = params.target_pieces else {
        return Ok((trial(params)?.0, None));
    };
    let with = |at: Trial| FractureParams {
        seeds: at.seeds,
        rng: shaken(params.rng, at.shake),
        target_pieces: None,
        ..params.clone()
    };
    let mut solved = Solved { wanted, ..Solved::default() };
    let mut start = Trial { seeds: wanted, shake: 0 };
    if let Some(quick) = quick {
        solved.preview_level = quick.level;
        let mut search = Search::new(wanted, start);
        while let Some(next) = search.propose().filter(|_| solved.preview_trials < QUICK_TRIALS) {
            search.tell(next, (quick.pieces)(&with(next))?);
            solved.preview_trials += 1;
        }
        start = search.best.map_or(start, |(trial, _)| trial);
    }
    let mut search = Search::new(wanted, start);
    let mut best = None;
    while let Some(next) = search.propose().filter(|_| solved.trials < FULL_TRIALS) {
        let with = with(next);
        let (broken, pieces) = trial(&with)?;
        solved.trials += 1;
        if search.tell(next, pieces) {
            (solved.seeds, solved.rng, solved.reached) = (with.seeds, with.rng, pieces);
            best = Some(broken);
        }
    }
    let best = best.ok_or_else(|| FractureError::Params("no number of seeds was tried".into()))?;
    Ok((best, Some(solved)))
}

/// Another random seed for each change: an odd constant of the golden ratio spreads consecutive numbers over all bits.
fn shaken(rng: u64, shake: u32) -> u64 {
    rng.wrapping_add(u64::from(shake).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> u32::from(shake > 0)
}

/// A number of seeds, and how many times the random seed was changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Trial {
    seeds: u32,
    shake: u32,
}

/// Searches the argument at which a growing, noisy function has a wanted value.
#[derive(Debug)]
struct Search {
    wanted: u32,
    start: Trial,
    /// Largest number known to give too little, smallest known to give too much, with their values.
    low: Option<(u32, u32)>,
    high: Option<(u32, u32)>,
    best: Option<(Trial, u32)>,
    told: u32,
    shakes: u32,
}

impl Search {
    fn new(wanted: u32, start: Trial) -> Self {
        let start = Trial { seeds: start.seeds.clamp(1, MAX_SEEDS), ..start };
        Self { wanted, start, low: None, high: None, best: None, told: 0, shakes: 0 }
    }

    /// The next trial; `None` if the value is reached (to a twentieth) or there is nothing more to try.
    fn propose(&mut self) -> Option<Trial> {
        let off = self.best.map(|(_, value)| value.abs_diff(self.wanted));
        if off.is_some_and(|off| off <= self.wanted / 20) {
            return None;
        }
        if let Some(seeds) = self.bracketed() {
            return Some(Trial { seeds, ..self.start });
        }
        // Neighbouring numbers lie on either side of the value. That is good enough within a tenth or one piece, else
        // other seeds of the same number may hit it.
        let near = off.is_some_and(|off| off <= (self.wanted / 10).max(1));
        if near || self.shakes >= MOST_SHAKES {
            return None;
        }
        self.shakes += 1;
        let sides = [self.high.or(self.low), self.low.or(self.high)];
        let (seeds, _) = sides[(self.shakes % 2) as usize]?;
        Some(Trial { seeds, shake: self.start.shake + self.shakes })
    }

    fn bracketed(&self) -> Option<u32> {
        let most = u64::from(MAX_SEEDS);
        let scaled = |(at, value): (u32, u32)| {
            (u64::from(at) * u64::from(self.wanted)).div_ceil(u64::from(value.max(1))).min(most) as u32
        };
        match (self.low, self.high) {
            (None, None) => Some(self.start.seeds),
            // Beyond the expected point, so that it is bracketed soon.
            (Some(low), None) if low.0 < MAX_SEEDS => {
                let aim = scaled(low);
                Some((aim + aim.abs_diff(low.0) / 4).clamp(low.0 + 1, MAX_SEEDS))
            }
            (None, Some(high)) if high.0 > 1 => {
                let aim = scaled(high).min(high.0);
                Some(aim.saturating_sub((high.0 - aim) / 4).clamp(1, high.0 - 1))
            }
            (Some(low), Some(high)) if high.0 > low.0 + 1 => {
                let middle = low.0.midpoint(high.0);
                let part = f64::from(self.wanted - low.1) / f64::from(high.1 - low.1);
                let aim = low.0 + (part * f64::from(high.0 - low.0)) as u32;
                // The straight line is faster for a smooth function; halving always converges.
                let next = if self.told % 3 == 2 { middle } else { aim };
                Some(next.clamp(low.0 + 1, high.0 - 1))
            }
            _ => None,
        }
    }

    /// Records a value; returns whether it is the best so far.
    fn tell(&mut self, at: Trial, value: u32) -> bool {
        self.told += 1;
        let better = self.best.is_none_or(|(_, old)| value.abs_diff(self.wanted) < old.abs_diff(self.wanted));
        if better {
            self.best = Some((at, value));
        }
        // Trials with other random seeds do not change the bracket.
        if at.shake == self.start.shake && value < self.wanted {
            self.low = Some((at.seeds, value));
        } else if at.shake == self.start.shake && value > self.wanted {
            self.high = Some((at.seeds, value));
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials, and the nearest value.
    fn search(wanted: u32, start: u32, most: u32, f: impl Fn(u32) -> u32) -> (u32, u32) {
        let mut search = Search::new(wanted, Trial { seeds: start, shake: 0 });
        let mut trials = 0;
        while let Some(at) = search.propose().filter(|_| trials < most) {
            assert!((1..=MAX_SEEDS).contains(&at.seeds));
            search.tell(at, f(at.seeds));
            trials += 1;
        }
        (trials, search.best.unwrap().1)
    }

    #[test]
    fn growing_functions_are_solved_within_a_twentieth() {
        for wanted in [1, 2, 5, 20, 60, 300, 900] {
            for (name, f) in [
                ("the same", (|n| n) as fn(u32) -> u32),
                ("a third", |n| n.div_ceil(3)),
                ("twice", |n| 2 * n),
                ("bent", |n| (f64::from(n).powf(0.8) * 1.3) as u32 + 1),
                ("noisy", |n| n * 7 / 10 + n * 37 % 5),
            ] {
                let (trials, value) = search(wanted, wanted, 16, f);
                println!("{wanted} {name}: {value} in {trials}");
                assert!(value.abs_diff(wanted) <= (wanted / 20).max(1), "{wanted} {name}: {value}");
            }
        }
    }

    #[test]
    fn what_cannot_be_reached_ends() {
        assert_eq!(search(100, 100, 1000, |_| 1).1, 1);
        assert_eq!(search(5, 5, 1000, |n| if n < 40 { 1 } else { 50 }).1, 1);
        assert_eq!(search(1, 30, 1000, |n| n + 2).1, 3);
        assert!(search(100, 100, 1000, |_| 1).0 < 40);
        assert!(search(5, 5, 1000, |n| if n < 40 { 1 } else { 50 }).0 < 40);
    }
}
