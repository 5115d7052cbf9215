//! Groups side by side against groups one by one, which are the reference.

use super::super::{
    IslandSplit, SolverBodies, each, for_groups, look, pressing, rounds, solved, substep_secs,
};
use super::*;

use crate::solver::sequential::{Pass, Soft, Sweep, lanes::FEW};
use crate::{Body, WorldSettings, collide::Point, scale::Scale, solver::testing::couples};
use glam::DVec3;
use std::sync::{Mutex, atomic::AtomicBool, atomic::Ordering};

/// Whether all work as on a processor without wide vectors; what they give is the same.
pub static PLAIN: AtomicBool = AtomicBool::new(false);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The couples of these numbers, `steps` steps on: how their bodies move, and what all their points pressed.
fn solved_together(numbers: &[usize], steps: u32) -> (Vec<[DVec3; 2]>, Vec<[f64; 3]>) {
    let (settings, mut bodies, mut manifolds) = couples(numbers);
    let springs = |_: Scale, _| Soft { bias_rate: 20.0, softness: 0.3, push_out: 3.0 };
    for _ in 0..steps {
        let edges = pressing(&bodies, &mut manifolds, &settings);
        solved((&mut bodies, &mut manifolds, edges), &settings, springs, |whole, batches, solver_bodies| {
            assert_eq!(batches.len(), numbers.len().div_ceil(LANES));
            two_passes(whole, batches, solver_bodies, &settings);
        });
    }
    let moves = |body: &Body| [body.state.linear_velocity, body.state.angular_velocity];
    let pressed = |p: &Point| [p.total_impulse, p.normal_impulse, p.friction_impulse.length()];
    let above = bodies.iter().skip(1).step_by(2).map(moves).collect();
    (above, manifolds.iter().flat_map(|m| &m.points).map(pressed).collect())
}

/// As a response goes over a heap, but as many rounds for all.
fn two_passes(
    whole: &IslandSplit,
    batches: &mut [Batch<'_, '_>],
    solver_bodies: &mut SolverBodies,
    settings: &WorldSettings,
) {
    let h = substep_secs(settings);
    for _ in 0..settings.substeps {
        solver_bodies.accelerate(settings.gravity, h);
        for_groups(batches, |group| group.prepare(solver_bodies, h));
        let all = &mut solver_bodies.share();
        each(whole, batches, all, |group, share| group.warm_start(share));
        each(whole, batches, all, |group, share| group.warm_roll(share));
        for (pass, stick) in [(Pass::Springs, 5.0), (Pass::Rigid, 0.0)] {
            look(batches, |group| group.foresee(solver_bodies, pass, h));
            rounds(whole, batches, solver_bodies, Sweep { pass, h, stick }, (12, 0.0));
            if pass == Pass::Springs {
                solver_bodies.advance(h);
                look(batches, |group| group.aim(solver_bodies));
            }
        }
        for_groups(batches, |group| group.sum_up());
    }
}

/// Seen to fail where the second body's turn has the other sign, where the limit of friction is a tenth wider, where
/// rows that were left out are never taken in, and where impulses are given to the row beside.
#[test]
fn four_at_once_do_what_each_does_alone() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (mut farthest, mut pressing) = ([0.0f64; 2], 0);
    for first in (0..80).step_by(4) {
        // Most often all that will have something to do are taken at once. In the second half they come one by one,
        // each perhaps a round later than it would alone.
        let few = usize::from(first >= 40);
        FEW.store(few == 1, Ordering::Relaxed);
        let numbers: Vec<usize> = (first..first + 4).collect();
        let (moves, impulses) = solved_together(&numbers, 4);
        let mut rest = &impulses[..];
        for (number, moved) in numbers.iter().zip(moves) {
            let (alone, pressed) = solved_together(&[*number], 4);
            let (own, later) = rest.split_at(pressed.len());
            rest = later;
            let off = (0..2).map(|k| (moved[k] - alone[0][k]).length() / alone[0][k].length().max(1.0));
            let off = off.fold(0.0, f64::max);
            let most = pressed.iter().map(|p| p[0]).fold(1.0, f64::max);
            let apart = own.iter().flatten().zip(pressed.iter().flatten()).map(|(a, b)| (a - b).abs() / most);
            farthest[few] = farthest[few].max(off).max(apart.fold(0.0, f64::max));
            pressing += pressed.iter().filter(|p| p[0] > 0.0).count();
        }
    }
    FEW.store(false, Ordering::Relaxed);
    println!("{pressing} points press; off by {farthest:?} at most");
    assert!(pressing > 120 && farthest[0] < 1e-9 && farthest[1] < 0.05, "{farthest:?}");
}

#[test]
fn vectors_of_any_width_give_the_same_bytes() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let numbers: Vec<usize> = (0..10).collect();
    let both = [false, true].map(|plain| {
        PLAIN.store(plain, Ordering::Relaxed);
        let found = solved_together(&numbers, 3);
        PLAIN.store(false, Ordering::Relaxed);
        found
    });
    assert_eq!(both[0], both[1]);
}
