//! The brush: dabs on the surface of bodies.
//!
//! In: a body and a point under the pointer. Out: dabs among the tuned fracture parameters, so that undo, scenes and
//! breaks have them.

use glam::DVec3;

use super::Sandbox;
use crate::{
    bodies::BodyId,
    elastic::ElasticError,
    fracture::{Dab, MAX_DABS, Paint},
    scene::{StressReport, Tuning, strength::meets_a_bond},
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

    /// Paints a dab at a point (world, m) of a body seen along `direction` (world), or takes away the dabs whose middles lie
    /// within the brush. Consecutive dabs of one stroke are one undo step.
    ///
    /// # Errors
    /// One line that says why the body cannot be painted.
    pub fn dab(
        &mut self,
        id: BodyId,
        (point, direction): (DVec3, DVec3),
        erases: bool,
    ) -> Result<(), &'static str> {
        let Some(body) = self.stage.body(id) else { return Ok(()) };
        let object = self.stage.info_or_whole(id).object;
        if object >= self.bodies_of_scene() {
            return Err(
                "A thrown body takes no paint, which no scene could keep: paint the objects of the scene",
            );
        }
        let object = object as u32;
        let shape = &body.def.shape;
        let local = shape.to_local(body.state.position, body.state.rotation, point);
        let (at, size) = (shape.shape_from_local(local), body.def.object_size_m);
        let direction = body.state.rotation.inverse() * direction;
        let mut tuning = self.document.tuning().clone();
        let brush = tuning.brush;
        let radius = brush.radius * size;
        let paint = &mut tuning.fracture.paint;
        let near = |dab: &Dab, reach: f64| dab.body == object && dab.at.distance(at) <= reach;
        if erases {
            let before = paint.len();
            paint.retain(|dab| !near(dab, radius));
            if paint.len() != before {
                self.tune("erased paint", tuning);
            }
            return Ok(());
        }
        let is_cut = brush.kind == Paint::Cut;
        let last = self.stroke.filter(|last| is_cut && last.body == object);
        let is_there = match last {
            Some(last) => near(&last, SPACING * radius),
            None => !is_cut && paint.iter().any(|dab| dab.kind == brush.kind && near(dab, SPACING * radius)),
        };
        if is_there {
            return Ok(());
        }
        if paint.len() >= MAX_DABS {
            return Err("No more dabs fit: erase some, or paint with a larger brush");
        }
        let amount = match brush.kind {
            Paint::Dense => Some(f64::from(brush.seeds)),
            Paint::Weak => Some(brush.strength),
            Paint::Whole | Paint::Cut | Paint::Anchor => None,
        };
        let (from, direction) = (last.map(|last| last.at), is_cut.then_some(direction));
        let dab = Dab { kind: brush.kind, body: object, at, radius, amount, from, direction };
        let held = body.def.structure.as_deref().filter(|_| brush.kind == Paint::Weak);
        if held.is_some_and(|structure| !meets_a_bond(structure, &dab)) {
            return Err("No bond meets this dab: paint over a crack, or with a larger brush");
        }
        paint.push(dab);
        self.stroke = Some(dab);
        self.tune("paint", tuning);
        Ok(())
    }

    /// Figures of the stress on display, if it is shown.
    #[must_use]
    pub fn stress(&self) -> Option<StressReport> {
        self.stress.report()
    }

    /// A number that grows whenever other stress is shown: how often it follows the pointer.
    #[must_use]
    pub fn stress_updates(&self) -> u64 {
        self.stress.revision()
    }

    /// Whether a worker solves for the stress to be shown, so that another frame is due.
    #[must_use]
    pub fn is_solving_stress(&self) -> bool {
        self.stress.is_busy()
    }

    /// Solves for the stress of every body with voxels under its weight, which quantities of stress show from then on. Waits.
    /// Returns one line about the bodies that have none.
    pub fn weigh(&mut self) -> Option<String> {
        let failed = self.stress.weigh(&self.document, &self.stage);
        self.without_stress(&failed)
    }

    /// The same for bodies that are new or have another shape since; the others keep their stress, however they have moved and
    /// turned. Waits. Returns one line about the new bodies that have none.
    pub fn weigh_new(&mut self) -> Option<String> {
        let failed = self.stress.weigh_new(&self.document, &self.stage);
        self.without_stress(&failed)
    }

    /// Solves for the stress of the body that the pinned blow strikes, which alone has one then, under a `force`: N, and the
    /// radius (m) within which it acts, without one a twentieth of the object's longest side. Waits. Returns one line where there
    /// is no stress.
    pub fn strike_by_pin(&mut self, force: (f64, Option<f64>)) -> Option<String> {
        let tuning = self.document.tuning();
        let Some(pin) = &tuning.pin else { return Some("no blow is pinned, so no body has a stress".into()) };
        let aim = (pin.aim.body, pin.aim.impact());
        let failed = self.stress.strike(aim, force, &self.document, &self.stage);
        self.without_stress(failed.as_slice())
    }

    fn without_stress(&self, failed: &[ElasticError]) -> Option<String> {
        let why = failed.first()?;
        Some(format!("{} of {} bodies have no stress: {why}", failed.len(), self.stage.bodies().len()))
    }

    /// Paints dabs where the tension on display is greatest: dense ones with as many seeds in all as the pattern has, or weak ones
    /// that leave what the brush leaves where it pulls most; where the weakness is on display, dense and weak dabs at the weak
    /// cracks. Returns how many dabs there are.
    pub fn paint_by_stress(&mut self, kind: Paint) -> usize {
        let Some(body) = self.stress.body(&self.stage) else { return 0 };
        let object = self.stage.info_or_whole(body.id).object;
        if object >= self.bodies_of_scene() {
            return 0;
        }
        let mut tuning: Tuning = self.document.tuning().clone();
        let radius = tuning.brush.radius * body.def.object_size_m;
        let amount = match kind {
            Paint::Weak => tuning.brush.strength,
            _ => f64::from(tuning.fracture.seed_count()),
        };
        let like = Dab { kind, body: object as u32, radius, amount: Some(amount), ..Dab::default() };
        let mut dabs = self.stress.dabs(&like, MOST_BY_STRESS);
        // As of a drag, a weak dab that meets no bond of a body that holds would change nothing.
        if let Some(structure) = &body.def.structure {
            dabs.retain(|dab| dab.kind != Paint::Weak || meets_a_bond(structure, dab));
        }
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
