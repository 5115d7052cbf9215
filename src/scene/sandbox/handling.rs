//! Hands on the scene: dragging a body by a spring, throwing one in, and what pairs share.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{
    Sandbox, SandboxError, ScenePick,
    opening::{object_info, placed},
};
use crate::{
    bodies::{Drag, Overlap},
    scene::{Event, ImportJob, Imported, Missile, ReadMeshes, Scene, SceneBody, history::Step},
    svo::Arena,
};

/// Leaf level of what is thrown: 30 voxels across.
const MISSILE_LEVEL: u32 = 5;

/// What is thrown and what was: a shape is imported once.
#[derive(Default)]
pub(super) struct Throwing {
    waiting: Vec<(SceneBody, DVec3)>,
    import: Option<(Missile, ImportJob)>,
    known: BTreeMap<&'static str, Imported>,
}

impl Throwing {
    pub(super) fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl Sandbox {
    /// Takes hold of a body where a ray met it. Nothing happens to one that cannot move.
    pub fn grab(&mut self, pick: &ScenePick) {
        if let Some(body) = self.world.body(pick.body).filter(|b| !b.is_static()) {
            let anchor = body.state.rotation.inverse() * (pick.point - body.state.position);
            self.world.drag = Some(Drag { body: pick.body, anchor, target: pick.point });
        }
    }

    /// Where the hand is now, m.
    pub fn drag(&mut self, target: DVec3) {
        if let Some(hold) = self.world.drag.as_mut().filter(|_| target.is_finite()) {
            hold.target = target;
        }
    }

    /// Lets go.
    pub fn release(&mut self) {
        self.world.drag = None;
    }

    /// The point that is held, and where it should be, m.
    #[must_use]
    pub fn held(&self) -> Option<(DVec3, DVec3)> {
        let hold = self.world.drag?;
        let state = self.world.body(hold.body)?.state;
        Some((state.position + state.rotation * hold.anchor, hold.target))
    }

    /// Where levels that follow the distance look from, m.
    pub fn set_eye(&mut self, eye: DVec3) {
        self.world.eye = Some(eye);
    }

    /// Throws what the panels say from `origin` (m) along `direction`; it arrives through [`Sandbox::poll`].
    pub fn throw(&mut self, origin: DVec3, direction: DVec3) {
        let throw = self.tuning.throw;
        if !origin.is_finite() || self.objects.is_empty() {
            return;
        }
        let body = SceneBody {
            file: throw.missile.file().into(),
            level: MISSILE_LEVEL,
            physics_level: Some(MISSILE_LEVEL),
            size: Some(throw.size.clamp(0.01, 100.0)),
            density: throw.density.clamp(1e-3, 1e6),
            friction: self.tuning.friction,
            restitution: self.tuning.restitution,
            linear_velocity: direction.normalize_or(DVec3::NEG_Z) * throw.speed.clamp(0.0, 200.0),
            ..SceneBody::default()
        };
        self.throwing.waiting.push((body, origin));
    }

    /// Lets the first thrown body in as soon as its shape is there.
    pub(super) fn commit_throw(&mut self, arena: &mut Arena) -> Result<bool, SandboxError> {
        let Some((body, origin)) = self.throwing.waiting.first().cloned() else {
            return Ok(false);
        };
        let missile = if body.file == Missile::Box.file() { Missile::Box } else { Missile::Ball };
        let Some(one) = self.throwing.known.get(missile.file()).cloned() else {
            return self.import_missile(arena, missile, &body).map(|()| false);
        };
        self.throwing.waiting.remove(0);
        let mut scene_body = body;
        let wanted = |body: &SceneBody, scene: &Scene| placed(&one, body, scene);
        // A file's own origin may be anywhere; the middle flies from the hand.
        scene_body.position += origin - wanted(&scene_body, &self.scene).state.position;
        let def = wanted(&scene_body, &self.scene);
        let step = Step { label: "throw".into(), tuning: self.tuning.clone(), world: Some(self.snapshot()) };
        self.history.push(step);
        let object = self.objects.len();
        self.objects.push(object_info(&one, &scene_body, self.scene.meters_per_unit));
        let earlier = &self.scene.events[..self.next_event.min(self.scene.events.len())];
        let at = earlier.iter().filter(|e| matches!(e, Event::Projectile { .. })).count();
        self.projectiles.insert(at.min(self.projectiles.len()), (def.clone(), object));
        self.happened(Event::Projectile { time: self.time, body: Box::new(scene_body) });
        self.add(def, object, 0);
        self.record_change(false);
        self.revision += 1;
        Ok(true)
    }

    fn import_missile(
        &mut self,
        arena: &mut Arena,
        missile: Missile,
        body: &SceneBody,
    ) -> Result<(), SandboxError> {
        let Some((of, job)) = self.throwing.import.as_ref() else {
            self.throwing.import =
                Some((missile, ImportJob::start(std::slice::from_ref(body), ReadMeshes::new())));
            return Ok(());
        };
        let (of, Some(result)) = (*of, job.poll()) else {
            return Ok(());
        };
        self.throwing.import = None;
        let imported = result.inspect_err(|_| self.throwing.waiting.clear())?;
        if let Some(one) = imported.into_iter().next() {
            if let Err(error) = self.insert(arena, &one.forest) {
                self.throwing.waiting.clear();
                return Err(error.into());
            }
            self.throwing.known.insert(of.file(), one);
        }
        Ok(())
    }

    /// What each touching pair shares now, and each body with the floor and the walls: collision points, columns, volume and
    /// gradient (Domaradzki & Martyn 2016, sec. 5.1).
    pub fn pair_data(&mut self) -> Vec<Overlap> {
        let arena = self.arena.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.world.all_pair_data(Some((&self.gpu, &arena)))
    }
}
