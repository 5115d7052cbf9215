//! The brush: dabs on the surface of bodies.
//!
//! In: a body and a point under the pointer. Out: dabs among the tuned fracture parameters, so that undo, scenes and
//! breaks have them.

use glam::DVec3;

use super::Sandbox;
use crate::{
    bodies::BodyId,
    fracture::{Dab, MAX_DABS, Paint},
    scene::{StressReport, Tuning},
};

/// A stroke leaves a dab wherever the pointer is farther than this share of the radius from the dabs of its kind.
const SPACING: f64 = 0.5;

/// Most dabs that the stress makes at once.
const MOST_BY_STRESS: usize = 24;

impl Sandbox {
    /// Longest side of the object that a body is, or is a piece of, m.
    #[must_use]
    pub fn object_size(&self, id: BodyId) -> f64 {
        self.stage.body(id).map_or(1.0, |body| body.def.object_size_m)
    }

    /// Paints a dab at a point (world, m) of a body, or takes away the dabs whose middles lie within the brush. Consecutive
    /// dabs of one stroke are one undo step.
    pub fn dab(&mut self, id: BodyId, point: DVec3, erases: bool) {
        let Some(body) = self.stage.body(id) else { return };
        let shape = &body.def.shape;
        let local = shape.to_local(body.state.position, body.state.rotation, point);
        let (at, size) = (shape.shape_from_local(local), body.def.object_size_m);
        let object = self.stage.info_or_whole(id).object as u32;
        let mut tuning = self.document.tuning().clone();
        let brush = tuning.brush;
        let radius = brush.radius * size;
        let paint = &mut tuning.fracture.paint;
        let before = paint.len();
        let near = |dab: &Dab, reach: f64| dab.body == object && dab.at.distance(at) <= reach;
        if erases {
            paint.retain(|dab| !near(dab, radius));
        } else if paint.len() < MAX_DABS
            && !paint.iter().any(|dab| dab.kind == brush.kind && near(dab, SPACING * radius))
        {
            let amount = match brush.kind {
                Paint::Dense => Some(f64::from(brush.seeds)),
                Paint::Weak => Some(brush.strength),
                Paint::Whole | Paint::Anchor => None,
            };
            paint.push(Dab { kind: brush.kind, body: object, at, radius, amount });
        }
        if paint.len() != before {
            self.tune(if erases { "erased paint" } else { "paint" }, tuning);
        }
    }

    /// Figures of the stress on display, if it is shown.
    #[must_use]
    pub fn stress(&self) -> Option<StressReport> {
        self.stress.report()
    }

    /// Whether a worker solves for the stress to be shown, so that another frame is due.
    #[must_use]
    pub fn is_solving_stress(&self) -> bool {
        self.stress.is_busy()
    }

    /// Paints dense dabs where the tension on display is greatest, with as many seeds in all as the pattern has. Returns how
    /// many dabs there are.
    pub fn paint_by_stress(&mut self) -> usize {
        let Some(body) = self.stress.body() else { return 0 };
        let object = self.stage.info_or_whole(body).object as u32;
        let mut tuning: Tuning = self.document.tuning().clone();
        let radius = tuning.brush.radius * self.object_size(body);
        let dabs = self.stress.dabs(object, radius, tuning.fracture.seed_count(), MOST_BY_STRESS);
        let count = dabs.len().min(MAX_DABS.saturating_sub(tuning.fracture.paint.len()));
        if count > 0 {
            tuning.fracture.paint.extend(dabs.into_iter().take(count));
            self.end_gesture();
            self.tune("paint by stress", tuning);
            self.end_gesture();
        }
        count
    }

    /// Takes all dabs away.
    pub fn erase_all(&mut self) {
        let mut tuning: Tuning = self.document.tuning().clone();
        if !tuning.fracture.paint.is_empty() {
            tuning.fracture.paint.clear();
            self.end_gesture();
            self.tune("erased paint", tuning);
            self.end_gesture();
        }
    }

    /// Sets whether the dabs of the brush are drawn.
    pub fn show_paint(&mut self, is_shown: bool) {
        self.painted.show(is_shown);
    }
}
