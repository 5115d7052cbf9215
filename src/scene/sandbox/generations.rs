//! A user's blow over several generations: the largest pieces break again, as with `fracture --generations`.
//!
//! In: the pieces of a blow. Out: further blows, one after another, on the largest eighth of the pieces, for the chosen
//! number of generations; then the chips that the pieces lose. All of it is one undo step and happens at one moment of
//! simulated time.

use std::collections::VecDeque;

use super::Sandbox;
use crate::{
    bodies::{Body, BodyId},
    fracture::{
        FractureError, FractureParams,
        generations::{SMALLEST_TO_BREAK, impact_on_piece, random_number_again},
        shares_of_chips,
    },
    scene::{
        Blow, BreakJob,
        breaking::{Cause, Waiting, local_from_world, world_from_local},
    },
};

/// The remaining generations of a blow.
pub(super) struct Generations {
    left: u32,
    /// All pieces of the struck body.
    pieces: Vec<BodyId>,
    /// Pieces of this generation still to be broken, the largest first.
    waiting: VecDeque<BodyId>,
    /// Pieces that still lose chips, with the number of these; `None` before the last generation has ended.
    chips: Option<VecDeque<(BodyId, u32)>>,
    blow: Blow,
    params: FractureParams,
    /// Number of breaks so far.
    number: u64,
}

/// Whether a body is large enough to be broken.
fn is_worth_it(body: &Body) -> bool {
    body.def.shape.as_octree().is_none_or(|octree| octree.mass.voxels >= SMALLEST_TO_BREAK)
}

impl Sandbox {
    /// Called when the body of a job broke; `record` is the index of the break.
    pub(super) fn count_generations(&mut self, job: &BreakJob, record: usize) {
        let of_break = |body: &&Body| {
            let origin = self.stage.info_or_whole(body.id).origin;
            origin.is_some_and(|origin| origin.record == record)
        };
        let parts: Vec<BodyId> = self.stage.bodies().iter().filter(of_break).map(|body| body.id).collect();
        match (job.cause, &mut self.generations) {
            (Cause::User, generations) => {
                let left = self.document.tuning().generations.saturating_sub(1);
                let (blow, params) = (job.blow, job.params.clone());
                let waiting = VecDeque::new();
                let chips = (!params.chips_follow()).then(VecDeque::new);
                *generations = (left > 0 || chips.is_none()).then_some(Generations {
                    left,
                    pieces: parts,
                    waiting,
                    chips,
                    blow,
                    params,
                    number: 1,
                });
            }
            (Cause::Again, Some(work)) => {
                work.pieces.retain(|id| *id != job.body);
                work.pieces.extend(parts);
                work.number += 1;
            }
            _ => {}
        }
    }

    /// Called when a piece that was to break again did not split.
    pub(super) fn stayed_whole_again(&mut self) {
        if let Some(work) = &mut self.generations {
            work.number += 1;
        }
    }

    /// Breaks the next piece, if there is one.
    pub(super) fn break_again(&mut self) {
        if self.jobs.breaking.is_busy() {
            return;
        }
        let Some(mut work) = self.generations.take() else { return };
        if work.waiting.is_empty() && work.left > 0 {
            work.left -= 1;
            let mut bodies: Vec<&Body> = work.pieces.iter().filter_map(|id| self.stage.body(*id)).collect();
            let volume = |body: &&Body| body.def.shape.mass().volume_m3;
            bodies.sort_by(|a, b| volume(b).total_cmp(&volume(a)));
            let wanted = bodies.len().div_ceil(8);
            let large = bodies.into_iter().take(wanted).filter(|body| is_worth_it(body));
            work.waiting = large.map(|body| body.id).collect();
        }
        let next = match work.waiting.pop_front() {
            Some(id) => Some((id, None)),
            None => match self.next_to_chip(&mut work) {
                Ok(next) => next.map(|(id, share)| (id, Some(share))),
                Err(error) => return self.keep_error(Err(error.into())),
            },
        };
        let Some((body, share)) = next.and_then(|(id, share)| Some((self.stage.body(id)?, share))) else {
            // All remaining pieces are too small or gone.
            return;
        };
        let shape = &body.def.shape;
        let point = local_from_world(&body.state, shape, work.blow.point);
        let impact = impact_on_piece(shape, point, body.state.rotation.inverse() * work.blow.direction);
        let blow = Blow {
            point: world_from_local(&body.state, shape, impact.point),
            direction: body.state.rotation * impact.direction,
            speed: 0.0,
        };
        let rng = random_number_again(work.params.rng, work.number) & i64::MAX as u64;
        let params = match share {
            Some(share) => work.params.chipping(share, rng),
            None => FractureParams { rng, keep: Vec::new(), ..work.params.clone() },
        };
        let (body, kept, impact) = (body.id, None, Some(impact));
        self.jobs.breaking.push(Waiting {
            body,
            blow,
            params,
            kept,
            cause: Cause::Again,
            impact,
            piece: None,
            hold: None,
        });
        self.generations = Some(work);
        self.start_breaking();
    }

    /// The next piece that loses chips, and how many. The first call ends the generations and shares the chips out.
    fn next_to_chip(&self, work: &mut Generations) -> Result<Option<(BodyId, u32)>, FractureError> {
        if let Some(chips) = &mut work.chips {
            return Ok(chips.pop_front());
        }
        work.left = 0;
        let bodies: Vec<&Body> = work.pieces.iter().filter_map(|id| self.stage.body(*id)).collect();
        let shares = shares_of_chips(&work.params, bodies.iter().map(|body| &*body.def.shape))?;
        let shared = bodies.iter().zip(shares).filter(|(_, share)| *share > 0);
        let chips = work.chips.insert(shared.map(|(body, share)| (body.id, share)).collect());
        Ok(chips.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        compute::{Choice, Compute},
        render::Camera,
        scene::{Arrived, Sandbox, Scene},
    };
    use glam::DVec3;

    fn wait(sandbox: &mut Sandbox, until: impl Fn(&Sandbox, Option<Arrived>) -> bool) {
        loop {
            let arrived = sandbox.poll().unwrap();
            if until(sandbox, arrived) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn with_a_box() -> Sandbox {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh("builtin:box", 6));
        wait(&mut sandbox, |_, arrived| arrived == Some(Arrived::Opened));
        sandbox
    }

    /// All pieces with their sizes.
    fn told(sandbox: &Sandbox) -> Vec<String> {
        let of = |row: &crate::scene::PieceRow| format!("{} {:?}", sandbox.piece_name(row), row.voxels);
        let mut all: Vec<String> = sandbox.piece_rows().iter().map(of).collect();
        all.sort();
        all
    }

    /// Saves it and plays it from the start.
    fn play_again(sandbox: &mut Sandbox) {
        let saved = sandbox.scene(Camera::default());
        sandbox.open_scene(saved);
        wait(sandbox, |_, arrived| arrived == Some(Arrived::Opened));
        assert_eq!(sandbox.bodies().len(), 1);
        sandbox.step().unwrap();
        wait(sandbox, |sandbox, _| !sandbox.is_breaking());
    }

    #[test]
    fn the_largest_pieces_break_again_in_one_step_of_undo() {
        let mut sandbox = with_a_box();
        let blow = |sandbox: &mut Sandbox, generations: u32| {
            let mut tuning = sandbox.tuning().clone();
            (tuning.generations, tuning.fracture.seeds) = (generations, 20);
            sandbox.tune("generations", tuning);
            sandbox.end_gesture();
            let body = &sandbox.bodies()[0];
            let (id, at) = (body.id, body.state.position + DVec3::Y * 0.3);
            sandbox.break_at(id, at, DVec3::NEG_Y);
            wait(sandbox, |sandbox, _| !sandbox.is_breaking());
            sandbox.bodies().iter().map(|b| sandbox.info(b.id).unwrap().generation).collect::<Vec<_>>()
        };
        let once = blow(&mut sandbox, 1);
        assert!(once.len() > 8 && once.iter().all(|generation| *generation == 1));
        assert_eq!(sandbox.undo().as_deref(), Some("break box"));
        let thrice = blow(&mut sandbox, 3);
        println!("{} pieces of one generation, {} of three", once.len(), thrice.len());
        assert!(thrice.len() > once.len() + 8 && thrice.contains(&1) && thrice.contains(&2));
        let mass: f64 = sandbox.bodies().iter().map(|b| b.def.shape.mass().volume_m3).sum();
        // One step for undo, and one for redo.
        assert_eq!(sandbox.undo().as_deref(), Some("break box"));
        assert_eq!(sandbox.bodies().len(), 1);
        let whole = sandbox.bodies()[0].def.shape.mass().volume_m3;
        assert!((mass / whole - 1.0).abs() < 1e-6);
        sandbox.redo();
        assert_eq!(sandbox.bodies().len(), thrice.len());
        // Saved and played from the start the same happens again: an event names the piece, since several pieces share
        // the voxel that is hit.
        let before = told(&sandbox);
        play_again(&mut sandbox);
        assert_eq!(told(&sandbox), before);
    }

    #[test]
    fn chips_come_off_in_the_blows_step_of_undo_and_again_from_the_saved_scene() {
        let mut sandbox = with_a_box();
        let blow = |sandbox: &mut Sandbox, chips: u32| {
            let mut tuning = sandbox.tuning().clone();
            (tuning.fracture.chips, tuning.fracture.seeds) = (chips, 8);
            sandbox.tune("chips", tuning);
            sandbox.end_gesture();
            let body = &sandbox.bodies()[0];
            let (id, at) = (body.id, body.state.position + DVec3::Y * 0.3);
            sandbox.break_at(id, at, DVec3::NEG_Y);
            wait(sandbox, |sandbox, _| !sandbox.is_breaking());
            sandbox.bodies().len()
        };
        let without = blow(&mut sandbox, 0);
        assert_eq!(sandbox.undo().as_deref(), Some("break box"));
        let with = blow(&mut sandbox, 20);
        println!("{without} pieces, {with} with chips");
        assert!((without + 10..=without + 24).contains(&with), "{without} {with}");
        let whole: f64 = sandbox.bodies().iter().map(|b| b.def.shape.mass().volume_m3).sum();
        assert_eq!(sandbox.undo().as_deref(), Some("break box"));
        assert_eq!(sandbox.bodies().len(), 1);
        assert!((whole / sandbox.bodies()[0].def.shape.mass().volume_m3 - 1.0).abs() < 1e-6);
        sandbox.redo();
        let before = told(&sandbox);
        assert_eq!(before.len(), with);
        play_again(&mut sandbox);
        assert_eq!(told(&sandbox), before);
    }
}
