//! The search for contacts whole in compute passes: broad phase, walk of pairs of octrees, contact geometry, floor and
//! walls, reduction to manifolds (Domaradzki & Martyn 2016, sec. 5.1; Karras 2012 for the broad phase).
//!
//! In: bodies, planes, the manifolds of the last search and what is known of them. Out: near pairs and manifolds, with one
//! wait for the device. `ask.rs` writes down what the host knows, `search.rs` is the recipe of the passes, `answer.rs`
//! makes manifolds of what comes back. On the device nothing outlives a search but the octrees and their samples: what is
//! known of contacts is the finder's, so that snapshots, undo and another device need nothing of it.
//!
//! A step that looks for contacts once takes its near pairs and its contacts from the same search: the search begins
//! before it is known how often the step has to look, and finds that out itself.

mod answer;
mod ask;
mod broad;
mod search;
mod shared;
mod solids;
#[cfg(test)]
mod tests;

use super::{records::Before, surfel_buffer::SurfelBuffer, surfel_cache::SurfelCache};
use crate::{
    BodyState, Detail,
    broad_phase::NearPair,
    collide::ContactQuery,
    gpu::{Gpu, GpuError},
    svo::Arena,
};
pub use answer::{Answer, OfPairs};
use ask::{Question, Rounds};
use search::ContactPasses;
#[cfg(test)]
pub(crate) use tests::run_every_kernel;

/// The passes, and the answer that waits to be asked for.
pub struct ContactSearch {
    passes: ContactPasses,
    surfels: SurfelBuffer,
    ahead: Option<Ahead>,
}

/// What a search said that began with the step.
struct Ahead {
    answer: Answer,
    states: Vec<BodyState>,
    /// How long its contacts are to hold, s.
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

    /// Finds the pairs that may meet in the step of `query`, and their contacts. `rounds`: how often contacts are looked
    /// for in the step; where that is open, at most `substeps` times. None where an octree is not in the arena.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn look_ahead(
        &mut self,
        (gpu, arena): (&Gpu, &Arena),
        query: &ContactQuery<'_>,
        (before, detail, cache): (Before<'_>, Detail<'_>, &mut SurfelCache),
        (rounds, substeps): (Option<u32>, u32),
    ) -> Result<Option<Near>, GpuError> {
        self.ahead = None;
        let asked = rounds.map_or(Rounds::AsNeeded(substeps), Rounds::Known);
        let Some(question) = Question::new(query, before, detail, arena, (true, asked)) else {
            return Ok(None);
        };
        let answer = self.answer((gpu, arena), question, cache)?;
        let rounds = rounds.unwrap_or_else(|| needed_rounds(answer.fastest(), substeps));
        let near = answer.near(query.bodies, query.boxes, query.dt);
        let states = query.bodies.iter().map(|body| body.state).collect();
        self.ahead = Some(Ahead { answer, states, dt: query.dt / f64::from(rounds) });
        Ok(Some(near))
    }

    /// The contacts of the pairs of `query`: those that were looked for ahead, where nothing has moved since. None where
    /// an octree is not in the arena.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn find(
        &mut self,
        on: (&Gpu, &Arena),
        query: &ContactQuery<'_>,
        (before, detail, cache): (Before<'_>, Detail<'_>, &mut SurfelCache),
    ) -> Result<Option<Answer>, GpuError> {
        let same = |ahead: &Ahead| {
            ahead.dt == query.dt
                && ahead.states.len() == query.bodies.len()
                && ahead.states.iter().zip(query.bodies).all(|(then, body)| *then == body.state)
        };
        if let Some(ahead) = self.ahead.take().filter(same) {
            return Ok(Some(ahead.answer));
        }
        match Question::new(query, before, detail, on.1, (false, Rounds::Known(1))) {
            Some(question) => self.answer(on, question, cache).map(Some),
            None => Ok(None),
        }
    }

    /// Asks until there are samples of all that meets: on most days once.
    fn answer(
        &mut self,
        (gpu, arena): (&Gpu, &Arena),
        mut question: Question,
        cache: &mut SurfelCache,
    ) -> Result<Answer, GpuError> {
        loop {
            self.surfels.upload(gpu, cache)?;
            question.look_up(cache);
            let raw = self.passes.search(gpu, arena, &self.surfels, &question.wanted)?;
            if raw.wanted.iter().all(|levels| *levels == 0) {
                return Ok(Answer::new(&question, raw));
            }
            for (forest, levels) in question.solids.forests.iter().zip(&raw.wanted) {
                (0..32)
                    .filter(|level| levels >> level & 1 == 1)
                    .for_each(|level| _ = cache.get(forest, level));
            }
        }
    }
}

/// Near pairs, and the levels at which they meet.
pub type Near = (Vec<NearPair>, Vec<([usize; 2], [u32; 2])>);

/// As `rounds.wgsl`.
fn needed_rounds(fastest: f32, substeps: u32) -> u32 {
    let wanted = (fastest / 0.5).ceil().clamp(1.0, 4.0) as u32;
    wanted.next_power_of_two().min(substeps)
}

/// What the kernels share with Rust.
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
