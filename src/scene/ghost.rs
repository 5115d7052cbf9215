//! Draws another take over the one shown, at the same time, as dots on the surfaces of its bodies.
//!
//! In: the timeline, and the present bodies. Out: an overlay, which includes those of fracture internals and contacts.
//! Bodies at the same place in both takes have no dots, so that only differences are visible.

use std::sync::{Arc, Weak};

use glam::Vec3;

use super::{
    Moment, Timeline,
    breaking::world_from_local_matrix,
    layer::Layer,
    stage::{Motion, Runs, Stage},
};
use crate::render::{Overlay, Point};

/// Colour and opacity of a dot, sRGB.
const COLOR: [u8; 4] = [120, 190, 255, 220];
/// Most dots.
const MOST_DOTS: usize = 12_000;
/// Opacity factor of hidden dots.
const THROUGH: f32 = 0.35;
/// Bodies nearer than this count as in the same place, m.
const SAME_PLACE: f64 = 1e-6;

/// The overlay, and what it was made from.
#[derive(Default)]
pub(super) struct Ghost {
    compared: Option<u32>,
    /// Made from the take's number, and the revisions of the stage and of the overlay below.
    pub layer: Layer<(u32, u64, u64)>,
    /// Surface points of each body of the take, local space, cached while the bodies are the same.
    dots: (Weak<Moment>, Vec<Vec<Vec3>>),
}

impl Ghost {
    /// Selects the take to draw.
    pub fn compare(&mut self, take: Option<u32>) {
        self.compared = take;
        self.layer.forget();
    }

    /// The take that is drawn.
    pub fn compared(&self) -> Option<u32> {
        self.compared
    }

    /// Updates the overlay, on top of the overlay `below` with its revision. Draws nothing unless `fits`, that is,
    /// bodies are drawn where they are.
    pub fn update(&mut self, fits: bool, timeline: &Timeline, stage: &Stage, below: (Option<&Overlay>, u64)) {
        let number = self.compared.filter(|_| fits);
        let there = number.and_then(|number| Some((number, timeline.in_take(number, stage.time())?)));
        let Some((number, (moment, motions))) = there else {
            self.layer.hide();
            return;
        };
        if !self.layer.begin((number, stage.revision(), below.1)) {
            return;
        }
        let mut made = below.0.cloned().unwrap_or(Overlay { through: THROUGH, ..Overlay::default() });
        made.points.extend(self.points(moment, motions, stage));
        self.layer.show(made);
    }

    fn points(&mut self, moment: &Arc<Moment>, motions: &Runs<Motion>, stage: &Stage) -> Vec<Point> {
        if !std::ptr::eq(self.dots.0.as_ptr(), Arc::as_ptr(moment)) {
            let shapes: Vec<_> = moment.stage.shapes().collect();
            let most = (MOST_DOTS / shapes.len().max(1)).clamp(24, 4000);
            let dots = shapes.iter().map(|(_, shape)| shape.surface_points(most)).collect();
            self.dots = (Arc::downgrade(moment), dots);
        }
        let mut points = Vec::new();
        for (((id, shape), motion), dots) in moment.stage.shapes().zip(motions.iter()).zip(&self.dots.1) {
            let state = &motion.state;
            let same = |body: &crate::bodies::Body| {
                body.state.position.distance(state.position) < SAME_PLACE
                    && body.state.rotation.dot(state.rotation).abs() > 1.0 - SAME_PLACE
            };
            if stage.body(id).is_some_and(same) {
                continue;
            }
            let world_from_local = world_from_local_matrix(state, shape);
            points.extend(dots.iter().map(|dot| Point {
                at: world_from_local.transform_point3(*dot),
                color: COLOR,
                radius_pixels: 1.3,
                radius_m: 0.0,
                back_pixels: 0.0,
            }));
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        compute::{Choice, Compute},
        scene::{Arrived, Sandbox, Scene},
    };
    use glam::DVec3;

    #[test]
    fn dots_lie_where_the_other_take_is_and_nowhere_else() {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        let until = |sandbox: &mut Sandbox, what: Arrived| {
            while sandbox.poll().unwrap() != Some(what) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        sandbox.open_scene(Scene::of_mesh("builtin:box", 4));
        until(&mut sandbox, Arrived::Opened);
        let body = sandbox.bodies()[0].id;
        sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
        until(&mut sandbox, Arrived::Broke);
        (0..12).for_each(|_| sandbox.step().unwrap());
        let there: Vec<DVec3> = sandbox.bodies().iter().map(|b| b.state.position).collect();
        // In the other take the pieces fall upwards.
        assert!(sandbox.show_recorded(4));
        let mut tuning = sandbox.tuning().clone();
        tuning.gravity = -400.0;
        sandbox.tune("gravity", tuning);
        (0..8).for_each(|_| sandbox.step().unwrap());
        let dots = |sandbox: &mut Sandbox| {
            sandbox.update_touching().unwrap();
            sandbox
                .inside_overlay()
                .map(|overlay| overlay.points.iter().map(|p| p.at.as_dvec3()).collect::<Vec<_>>())
        };
        assert_eq!(dots(&mut sandbox), None, "nothing is compared yet");
        sandbox.compare(Some(1));
        let seen = dots(&mut sandbox).unwrap();
        assert!(seen.len() >= there.len(), "{} dots of {} bodies", seen.len(), there.len());
        let largest = 1.2;
        assert!(seen.iter().all(|dot| there.iter().any(|at| at.distance(*dot) < largest)));
        let highest = seen.iter().map(|dot| dot.y).fold(f64::MIN, f64::max);
        let floating = sandbox.bodies().iter().map(|b| b.state.position.y).fold(f64::MIN, f64::max);
        assert!(highest < floating, "the dots are of the take that fell: {highest} and {floating}");
        // Before the takes diverge, there is nothing to see.
        assert!(sandbox.show_recorded(2));
        assert_eq!(dots(&mut sandbox), Some(Vec::new()));
        assert!(sandbox.swap_takes());
        assert_eq!((sandbox.timeline().take(), sandbox.compared()), (1, Some(2)));
        sandbox.compare(None);
        assert_eq!(dots(&mut sandbox), None);
    }
}
