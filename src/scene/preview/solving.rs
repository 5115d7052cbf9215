//! Solves for the number of seeds that gives a number of pieces, on a worker, as the blow itself would.
//!
//! In: an aimed blow whose parameters set a number of pieces. Out: the same with a number of seeds: at first an
//! estimate from the last solution, and once the user has let go the number that the break will use.

use std::{sync::Arc, time::Instant};

use super::{Aim, KeptCells, Target, full::LET_GO_AFTER};
use crate::{
    bodies::BodyDef,
    fracture::{
        BreakContext, Cancel, FractureError, FractureParams, Fracturer, MAX_SEEDS, Solved, Strike,
        break_shape,
    },
    scene::{
        breaking::{Workshop, seeds_in_local},
        jobs::Worker,
    },
    svo::Arena,
};

/// The problem to solve.
#[derive(Clone, PartialEq)]
struct Question {
    aim: Aim,
    params: FractureParams,
    kept: Option<Arc<KeptCells>>,
}

/// The last problem, its worker, and the solution.
#[derive(Default)]
pub(super) struct Solving {
    asked: Option<(Question, Instant)>,
    job: Option<Worker<Option<Solved>>>,
    answer: Option<Solved>,
    /// Whether the last problem was tried; one without a solution is not tried again.
    is_over: bool,
    /// Seeds per piece in the last solution.
    seeds_a_piece: Option<f64>,
}

impl Solving {
    /// Whether a solution is still expected.
    pub fn is_on_its_way(&self) -> bool {
        self.asked.is_some() && !self.is_over
    }

    /// The solution for the aimed blow.
    pub fn solved(&self) -> Option<Solved> {
        self.answer
    }

    /// Cancels the solving, because no number of pieces is set.
    pub fn forget(&mut self) {
        (self.asked, self.job, self.answer, self.is_over) = (None, None, None, false);
    }

    /// Follows the blow on `target`; `resting` while the user is not changing a value.
    pub fn update(
        &mut self,
        tools: Workshop<'_>,
        aim: Aim,
        target: &Target<'_>,
        kept: Option<Arc<KeptCells>>,
        resting: bool,
    ) {
        let params = &target.params;
        if params.target_pieces.is_none() || !params.method.entry().by_seeds {
            return self.forget();
        }
        let question = Question { aim, params: params.clone(), kept };
        if self.asked.as_ref().is_none_or(|(asked, _)| *asked != question) {
            self.forget();
            self.asked = Some((question, Instant::now()));
        }
        if let Some(ended) = self.job.as_ref().and_then(Worker::ended) {
            let answer = ended.flatten();
            (self.job, self.answer, self.is_over) = (None, answer, true);
            if let Some(solved) = answer.filter(|solved| solved.reached > 0) {
                self.seeds_a_piece = Some(f64::from(solved.seeds) / f64::from(solved.reached));
            }
        }
        if self.job.is_none() && !self.is_over && resting {
            self.start(tools, target);
        }
    }

    /// The parameters of a blow with a number of seeds in place of a number of pieces: the solution, or else an
    /// estimate.
    pub fn with_seeds(&self, aim: &Aim, params: FractureParams) -> FractureParams {
        let Some(wanted) = params.target_pieces.filter(|_| params.method.entry().by_seeds) else {
            return params;
        };
        let is_asked = |(asked, _): &&(Question, Instant)| asked.aim == *aim && asked.params == params;
        let answer = self.answer.filter(|_| self.asked.as_ref().is_some_and(|asked| is_asked(&asked)));
        let (seeds, rng) = match answer {
            Some(solved) => (solved.seeds, solved.rng),
            None => {
                let guessed = f64::from(wanted) * self.seeds_a_piece.unwrap_or(1.0);
                (guessed.round() as u32, params.rng)
            }
        };
        FractureParams { target_pieces: None, seeds: seeds.clamp(1, MAX_SEEDS), rng, ..params }
    }

    fn start(&mut self, tools: Workshop<'_>, target: &Target<'_>) {
        let Some((question, since)) = &self.asked else { return };
        if since.elapsed() < LET_GO_AFTER || tools.passes.ready::<Fracturer>().is_none() {
            return;
        }
        let Ok(arena) = tools.arena.try_read() else { return };
        // A clone of the buffers' handles suffices, so the lock is free for later changes.
        let (arena, def, intact) = (arena.clone(), target.body.def.clone(), target.intact);
        let (passes, question) = (Arc::clone(tools.passes), question.clone());
        self.job = Some(Worker::start(move |cancel| {
            solve(&arena, &passes, cancel, (&def, intact), &question).unwrap_or_else(|error| {
                // The break will report the error.
                tracing::debug!("no seeds for the preview: {error}");
                None
            })
        }));
    }
}

fn solve(
    arena: &Arena,
    passes: &crate::fracture::Passes,
    cancel: &Cancel,
    (def, intact): (&BodyDef, bool),
    question: &Question,
) -> Result<Option<Solved>, FractureError> {
    let params = &question.params;
    let seeds = if intact { seeds_in_local(params, def)? } else { None };
    let impact = question.aim.impact();
    let strike =
        Strike { painted: question.kept.as_deref(), seeds: seeds.as_ref(), ..Strike::new(impact, params) };
    let context = BreakContext { arena, passes, cancel };
    Ok(break_shape(&context, &def.shape, &strike)?.solved)
}
