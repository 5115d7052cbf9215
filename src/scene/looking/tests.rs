//! Looking inside without a window.

use super::*;
use crate::{
    bodies::BodyId,
    fracture::Surface,
    gpu::Gpu,
    scene::{
        Arrived, LabelView, Sandbox,
        sandbox::testing::{aim, opened, until},
    },
};
use glam::Vec3;

fn settle(sandbox: &mut Sandbox) {
    let start = Instant::now();
    sandbox.update_looking();
    while sandbox.looking().is_reading {
        assert!(start.elapsed() < Duration::from_secs(120), "it never comes");
        std::thread::sleep(Duration::from_millis(5));
        sandbox.update_looking();
    }
}

fn choose(sandbox: &mut Sandbox, change: impl FnOnce(&mut InsideView)) {
    let mut tuning = sandbox.tuning().clone();
    change(&mut tuning.view.inside);
    sandbox.tune("inside", tuning);
    sandbox.end_gesture();
}

#[test]
fn the_pinned_impact_is_looked_into_and_then_its_break() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 6);
    let aim = aim(&sandbox);
    sandbox.look_at(Some(aim), None);
    settle(&mut sandbox);
    assert!(sandbox.inside_overlay().is_none(), "nothing is chosen");

    choose(&mut sandbox, |view| view.of(Maker::Fbs).on = true);
    settle(&mut sandbox);
    let pinned = Arc::clone(sandbox.inside_overlay().expect("it is drawn"));
    assert_eq!(sandbox.looking().subject, Some(Subject::Pin));
    let revision = sandbox.looking_revision();
    settle(&mut sandbox);
    assert_eq!(sandbox.looking_revision(), revision, "nothing has moved");

    // The copies lie where the body is drawn.
    let (low, high) = sandbox.bounds(None).unwrap();
    let outside = |p: &Vec3| (*p - p.clamp(low, high)).length() > 1e-4;
    assert_eq!(pinned.points.iter().filter(|p| outside(&p.at)).count(), 0);

    let (point, direction) = sandbox.aimed(&aim).unwrap();
    let params = sandbox.tuning().fracture.clone();
    sandbox.break_at(aim.body, point, direction);
    until(&mut sandbox, Arrived::Broke);
    sandbox.look_at(None, None);
    settle(&mut sandbox);
    assert_eq!(sandbox.looking().subject, Some(Subject::LastBreak));
    let broken = sandbox.inside_overlay().expect("it is drawn");
    let copies = sandbox.last_break().unwrap().counts.fbs;
    assert_eq!((broken.points.len() as u64, params.surface), (copies, Surface::Planar));
    assert_eq!(broken.points.len(), pinned.points.len(), "what was previewed is what broke");

    assert!(sandbox.undo().is_some());
    settle(&mut sandbox);
    assert!(sandbox.inside_overlay().is_none(), "the break was taken back");
}

#[test]
fn the_labelling_goes_forwards_and_backwards() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 6);
    sandbox.look_at(None, Some(aim(&sandbox)));
    choose(&mut sandbox, |view| view.labels = LabelView::Published);
    settle(&mut sandbox);
    let first = sandbox.looking().labels.clone().expect("it is watched");
    assert_eq!((first.at, first.distinct, first.agrees), (0, first.voxels, false));
    let last = first.changes.len();
    assert!(last >= 2 && first.changes[last - 1] == 0, "{:?}", first.changes);
    let colors = |sandbox: &Sandbox| -> Vec<[u8; 4]> {
        sandbox.inside_overlay().unwrap().points.iter().map(|p| p.color).collect()
    };
    let before = colors(&sandbox);
    choose(&mut sandbox, |view| view.step = last as u32);
    sandbox.update_looking();
    let end = sandbox.looking().labels.clone().unwrap();
    assert!(!sandbox.looking().is_reading, "a step needs no worker");
    assert_eq!((end.at, end.distinct, end.agrees), (last, end.islands, true));
    assert_eq!(end.resting[0], end.resting[1]);
    assert_ne!(colors(&sandbox), before);
    choose(&mut sandbox, |view| view.step = 0);
    sandbox.update_looking();
    assert_eq!(colors(&sandbox), before);
    assert_eq!(sandbox.looking().subject, Some(Subject::Hover));
}

#[test]
fn what_is_gone_is_not_shown() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 6);
    let gone = Aim { body: BodyId(u32::MAX), ..aim(&sandbox) };
    sandbox.look_at(Some(gone), None);
    choose(&mut sandbox, |view| view.of(Maker::Seeds).on = true);
    settle(&mut sandbox);
    assert_eq!((sandbox.inside_overlay(), sandbox.looking().subject), (None, None));
}
