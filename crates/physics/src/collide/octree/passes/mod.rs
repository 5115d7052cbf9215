//! The search for contacts whole in compute passes: broad phase, walk of pairs of octrees, contact geometry, floor and
//! walls, reduction to manifolds (Domaradzki & Martyn 2016, sec. 5.1; Karras 2012 for the broad phase).
//!
//! In: bodies, planes, the manifolds of the last search and their records. Out: near pairs and manifolds, after one
//! wait for the device. `upload.rs` prepares the input, `search.rs` is the recipe of the passes, `decode.rs` makes
//! manifolds of their output. Only octrees and their samples stay on the device between searches: the data of contacts
//! belong to the generator, so that snapshots, undo and a change of the device need nothing from it.
//!
//! A step with one contact search takes its near pairs and its contacts from the same search: the search starts before
//! the number of searches in the step is known, and finds it.

mod broad;
mod decode;
mod search;
mod shared;
#[cfg(test)]
mod tests;
mod upload;

use super::{
    pair::{SurfelBuffer, SurfelCache},
    records::Before,
};
use crate::{
    BodyState, LevelOfDetail,
    broad_phase::NearPair,
    collide::ContactQuery,
    gpu::{Gpu, GpuError},
    svo::Arena,
};
pub use decode::{Decoded, OfPairs};
use search::{ContactPasses, SearchOutput};
#[cfg(test)]
pub(crate) use tests::run_every_kernel;
use upload::{Rounds, Upload};

/// The passes, and the result of a search that was started ahead.
pub struct ContactSearch {
    passes: ContactPasses,
    surfels: SurfelBuffer,
    ahead: Option<Ahead>,
}

/// Result of a search that was started with the step.
struct Ahead {
    answer: Decoded,
    states: Vec<BodyState>,
    /// How long its contacts are valid, s.
    dt: f64,
}

impl ContactSearch {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { passes: ContactPasses::new(gpu)?, surfels: SurfelBuffer::new(gpu)?, ahead: None })
    }

    /// Finds the pairs that may touch in the step of `query`, and their contacts. `rounds`: the number of searches in
    /// the step; if open, at most `most`. `None` if an octree is not in the arena.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn look_ahead(
        &mut self,
        (gpu, arena): (&Gpu, &Arena),
        query: &ContactQuery<'_>,
        (before, detail, cache): (Before<'_>, LevelOfDetail<'_>, &mut SurfelCache),
        (rounds, most): (Option<u32>, u32),
    ) -> Result<Option<Near>, GpuError> {
        self.ahead = None;
        let asked = rounds.map_or(Rounds::AsNeeded(most), Rounds::Known);
        let Some(question) = Upload::new(query, before, detail, arena, (true, asked)) else {
            return Ok(None);
        };
        let answer = self.answer((gpu, arena), question, cache)?;
        let rounds = rounds.unwrap_or_else(|| needed_rounds(answer.fastest(), most));
        let near = answer.near(query.bodies, query.boxes, query.dt);
        let states = query.bodies.iter().map(|body| body.state).collect();
        self.ahead = Some(Ahead { answer, states, dt: query.dt / f64::from(rounds) });
        Ok(Some(near))
    }

    /// The contacts of the pairs of `query`: those of the search with the step, if nothing has moved since. `None` if
    /// an octree is not in the arena.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn find(
        &mut self,
        on: (&Gpu, &Arena),
        query: &ContactQuery<'_>,
        (before, detail, cache): (Before<'_>, LevelOfDetail<'_>, &mut SurfelCache),
    ) -> Result<Option<Decoded>, GpuError> {
        let same = |ahead: &Ahead| {
            ahead.dt == query.dt
                && ahead.states.len() == query.bodies.len()
                && ahead.states.iter().zip(query.bodies).all(|(then, body)| *then == body.state)
        };
        if let Some(ahead) = self.ahead.take().filter(same) {
            return Ok(Some(ahead.answer));
        }
        match Upload::new(query, before, detail, on.1, (false, Rounds::Known(1))) {
            // Where hulls are the surface of all that is near, nothing is submitted and waited for.
            Some(question) if question.is_empty() => {
                Ok(Some(Decoded::new(&question, SearchOutput::default())))
            }
            Some(question) => self.answer(on, question, cache).map(Some),
            None => Ok(None),
        }
    }

    /// Repeats the search until all samples it needs exist: mostly one search is enough.
    fn answer(
        &mut self,
        (gpu, arena): (&Gpu, &Arena),
        mut question: Upload,
        cache: &mut SurfelCache,
    ) -> Result<Decoded, GpuError> {
        loop {
            self.surfels.upload(gpu, cache)?;
            question.look_up(cache);
            let raw = self.passes.search(gpu, arena, &self.surfels, &question.wanted)?;
            if raw.wanted.iter().all(|levels| *levels == 0) {
                return Ok(Decoded::new(&question, raw));
            }
            for (forest, levels) in question.solids.forests.iter().zip(&raw.wanted) {
                (0..32)
                    .filter(|level| levels >> level & 1 == 1)
                    .for_each(|level| _ = cache.get(forest, level));
            }
        }
    }
}

/// Near pairs, and the levels at which they collide.
pub type Near = (Vec<NearPair>, Vec<([usize; 2], [u32; 2])>);

/// As `rounds.wgsl`.
fn needed_rounds(fastest: f32, most: u32) -> u32 {
    let wanted = (fastest / 0.5).ceil().clamp(1.0, 4.0) as u32;
    wanted.next_power_of_two().min(most)
}

/// Types that the kernels share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    use crate::gpu::{Layout, Shared};
    vec![
        shared::Solid::LAYOUT,
        shared::ContactParams::LAYOUT,
        shared::Task::LAYOUT,
        shared::Slot::LAYOUT,
        shared::Old::LAYOUT,
        Layout::words("Contact", shared::CONTACT_WORDS),
    ]
}
