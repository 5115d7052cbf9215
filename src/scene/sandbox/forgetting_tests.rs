//! The log of breaks: what no body comes of goes, and what undo or the timeline can bring back stays.

use glam::DVec3;

use super::{Arrived, Sandbox, testing};
use crate::{
    bodies::BodyId,
    compute::Compute,
    fracture::{FractureParams, Fracturer},
    scene::{BodyInfo, PieceEdit, Scene, SceneBody},
};

fn opened() -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    Fracturer::shared(&sandbox.passes, Compute::Cpu).unwrap();
    let body = SceneBody {
        fracture: FractureParams { seeds: 4, ..FractureParams::default() },
        ..SceneBody::standing("builtin:box".to_owned(), 3)
    };
    sandbox.open_scene(Scene { bodies: vec![body], ..Scene::default() });
    testing::until(&mut sandbox, Arrived::Opened);
    sandbox
}

/// Strikes a body; false if it has no crack.
fn strike(sandbox: &mut Sandbox, id: BodyId) -> bool {
    let place = sandbox.stage.body(id).unwrap().state.position;
    sandbox.break_at(id, place, DVec3::NEG_Y);
    loop {
        match sandbox.poll() {
            Ok(Some(Arrived::Broke)) => return true,
            Ok(_) => std::thread::yield_now(),
            Err(error) => {
                assert!(error.to_string().contains("crack"), "{error}");
                return false;
            }
        }
    }
}

#[test]
fn a_thousand_fractures_and_resets_leave_few_breaks_in_the_log() {
    let mut sandbox = opened();
    let mut most = 0;
    for _ in 0..1000 {
        let id = sandbox.bodies()[0].id;
        assert!(strike(&mut sandbox, id));
        sandbox.step().unwrap();
        sandbox.reset();
        most = most.max(sandbox.breaks.records().count());
    }
    println!("{most} breaks at most");
    // Undo's hundred steps are fifty breaks, and the log is looked through when it has doubled.
    assert!(most < 130, "{most}");
}

/// Every body that is, or can come back, has all of its breaks in the log; the number of bodies.
fn all_resolve(sandbox: &Sandbox) -> usize {
    let (history, timeline) = (sandbox.history.moments(), sandbox.timeline.moments());
    let past = history.chain(timeline).flat_map(|moment| [Some(moment), moment.first.as_deref()]).flatten();
    let infos = sandbox.stage.infos().chain(past.flat_map(|moment| moment.stage.infos()));
    let resolves = |info: &BodyInfo| {
        let (mut at, mut joined, mut breaks) = (info.origin, info.joined, 0);
        while let Some(origin) = at {
            let parts = sandbox.breaks.parts(at, joined);
            assert!(joined.is_none() || parts.len() > 1, "{info:?}");
            let record = sandbox.breaks.get(origin.record).unwrap_or_else(|| panic!("{info:?}"));
            assert!(parts.iter().all(|part| *part < record.cells.len()), "{info:?}");
            (at, joined, breaks) = (record.broken, record.joined, breaks + 1);
        }
        assert_eq!(breaks, info.generation, "{info:?}");
    };
    infos.map(resolves).count()
}

#[test]
fn every_body_that_can_come_back_keeps_its_breaks() {
    let mut sandbox = opened();
    let mut random = 7u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let (mut struck, mut merged, mut forgotten, mut bodies) = (0, 0, 0, 0);
    for _ in 0..1500 {
        let ids: Vec<BodyId> = sandbox.bodies().iter().map(|body| body.id).collect();
        match next(12) {
            0..=3 if !ids.is_empty() => struck += u32::from(strike(&mut sandbox, ids[next(ids.len())])),
            4 if ids.len() > 1 => {
                let first = next(ids.len() - 1);
                sandbox.select(ids[first..].iter().take(2).copied());
                merged += u32::from(sandbox.merge_selected().is_ok());
            }
            5 if ids.len() > 1 => {
                sandbox.select([ids[next(ids.len())]]);
                sandbox.edit(PieceEdit::Delete).unwrap();
            }
            6 | 7 => {
                sandbox.undo();
            }
            8 => {
                sandbox.redo();
            }
            9 => {
                sandbox.show_recorded(next(sandbox.timeline().len()));
            }
            10 => {
                sandbox.show_take(next(9) as u32);
            }
            11 if next(4) == 0 => sandbox.reset(),
            _ => {
                sandbox.step().unwrap();
            }
        }
        let before = sandbox.breaks.records().count();
        sandbox.forget_breaks();
        forgotten += before - sandbox.breaks.records().count();
        bodies = bodies.max(all_resolve(&sandbox));
    }
    println!("{struck} breaks, {merged} merges, {forgotten} forgotten, {bodies} bodies at most");
    assert!(struck > 100 && merged > 10 && forgotten > 20);
}
