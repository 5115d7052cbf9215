//! The hand: the user's, and that of events.
//!
//! In: a point that was grabbed, and where the hand is. Out: a spring that pulls the body in every step, and an event with
//! the hand's path, by which a scene from its start plays the same again.

use glam::DVec3;

use super::Sandbox;
use crate::{
    bodies::Drag,
    scene::{Event, ScenePick, stage::Hand},
};

impl Sandbox {
    /// Grabs a body where a ray hit it, as an undo step. Does nothing for an immovable body.
    pub fn grab(&mut self, pick: &ScenePick) {
        if !self.stage.can_be_held(pick) {
            return;
        }
        self.keep_step("move by hand");
        self.document.take_by_hand();
        self.stage.grab(pick);
        let Some(Drag { body, anchor, .. }) = self.stage.hold() else { return };
        let info = self.stage.info_or_whole(body);
        self.document.happened(Event::Hand {
            time: self.stage.time(),
            body: info.object as u32,
            parts: self.breaks.parts_that_led_to(info.origin),
            anchor,
            path: Vec::new(),
        });
        self.hand = Hand::OfUser(self.document.events_over() - 1);
        self.record_anew();
    }

    /// Moves the hand to `target`, m.
    pub fn drag(&mut self, target: DVec3) {
        self.stage.drag(target);
    }

    /// Releases the body.
    pub fn release(&mut self) {
        if self.held().is_some() {
            self.document.homes.changed();
        }
        self.stage.release();
        if let Hand::OfUser(at) = std::mem::take(&mut self.hand)
            && self.document.ended_hold(at)
        {
            self.record_anew();
        }
    }

    /// The grabbed point and the hand, m.
    #[must_use]
    pub fn held(&self) -> Option<(DVec3, DVec3)> {
        self.stage.held()
    }

    /// Notes where the user's hand is in the step that begins, or moves the hand as an event says.
    pub(super) fn lead_hand(&mut self) {
        let now = (self.stage.time(), self.stage.settings().dt);
        match (self.hand, self.stage.hold()) {
            (Hand::OfUser(at), Some(hold)) => return self.document.lead_hand(at, now, hold.target),
            // What it held was locked, or is gone.
            (Hand::OfUser(_), None) => self.hand = Hand::Free,
            _ => {}
        }
        let held = self.document.hand_at(now.0, now.1);
        let hold = held.and_then(|(piece, anchor, target)| {
            Some(Drag { body: self.breaks.find(&piece, &self.stage)?, anchor, target })
        });
        if hold.is_some() || self.hand == Hand::OfEvent {
            self.hand = if hold.is_some() { Hand::OfEvent } else { Hand::Free };
            self.stage.set_hold(hold);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::{super::testing, *};
    use crate::{
        gpu::Gpu,
        render::Camera,
        scene::{Scene, SceneBody, parse_scene},
    };

    /// A box on the floor, and a thing that it is dragged against.
    fn dragged() -> Option<(Sandbox, [f64; 2])> {
        let at = |x: f64| SceneBody {
            position: DVec3::new(x, 0.0, 0.0),
            ..SceneBody::standing("builtin:box".to_owned(), 4)
        };
        let scene = Scene { bodies: vec![at(0.0), at(1.6)], ..Scene::default() };
        let mut sandbox = testing::shown(&Gpu::for_test()?, scene);
        steps(&mut sandbox, 5);
        let start = sandbox.time();
        let pick = sandbox.pick(Vec3::new(0.1, 0.6, 5.0), Vec3::NEG_Z).unwrap();
        sandbox.grab(&pick);
        for step in 0..40u32 {
            sandbox.drag(pick.point + DVec3::new(0.03, 0.01, 0.0) * f64::from(step));
            sandbox.step().unwrap();
        }
        let end = sandbox.time();
        sandbox.release();
        steps(&mut sandbox, 30);
        Some((sandbox, [start, end]))
    }

    fn steps(sandbox: &mut Sandbox, count: usize) {
        (0..count).for_each(|_| sandbox.step().unwrap());
    }

    fn poses(sandbox: &Sandbox) -> Vec<[u64; 7]> {
        let bits = |b: &crate::bodies::Body| {
            let (p, r) = (b.state.position, b.state.rotation);
            [p.x, p.y, p.z, r.x, r.y, r.z, r.w].map(f64::to_bits)
        };
        sandbox.bodies().iter().map(bits).collect()
    }

    fn path(scene: &Scene) -> Vec<DVec3> {
        let paths = scene.events.iter().filter_map(|event| match event {
            Event::Hand { path, .. } => Some(path.clone()),
            _ => None,
        });
        paths.flatten().collect()
    }

    /// Fails where a step of the hand is left out, comes twice or a step late, or where the hand does not let go.
    #[test]
    fn what_the_hand_did_plays_the_same_again_to_the_bit() {
        let Some((sandbox, [start, end])) = dragged() else { return };
        let other = sandbox.bodies()[1].state.position;
        assert!(other.distance(DVec3::new(1.6, other.y, 0.0)) > 0.05, "it was pushed: {other}");
        let scene = sandbox.scene_of_take(Camera::default()).unwrap();
        assert_eq!(path(&scene).len(), 40);
        let read = parse_scene(&scene.to_text(), "hand.toml").unwrap();
        let mut again = testing::shown(&Gpu::for_test().unwrap(), read);
        while again.time() + 1e-6 < sandbox.time() {
            again.step().unwrap();
            // In the middle of the step that was taken.
            let at = again.time() - 0.5 * again.settings().dt;
            assert_eq!(again.held().is_some(), (start..end).contains(&at), "{at}");
        }
        assert_eq!(poses(&again), poses(&sandbox));
    }

    /// Fails where the pieces of a blow between two steps begin to move a step later than they did.
    #[test]
    fn what_the_user_broke_plays_the_same_again_to_the_bit() {
        let Some((mut sandbox, _)) = dragged() else { return };
        let broken = |sandbox: &mut Sandbox| {
            while sandbox.is_breaking() {
                sandbox.poll().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        for body in [0, 1] {
            let (id, at) = (sandbox.bodies()[body].id, sandbox.bodies()[body].state.position);
            sandbox.break_at(id, at + DVec3::new(0.1, 0.2, 0.1), DVec3::new(-0.53, -0.35, -0.77));
            broken(&mut sandbox);
            steps(&mut sandbox, 12);
        }
        let scene = sandbox.scene_of_take(Camera::default()).unwrap();
        let read = parse_scene(&scene.to_text(), "blows.toml").unwrap();
        let mut again = testing::shown(&Gpu::for_test().unwrap(), read);
        while again.time() + 1e-6 < sandbox.time() {
            again.step().unwrap();
            broken(&mut again);
        }
        assert!(sandbox.bodies().len() > 4);
        assert_eq!(poses(&again), poses(&sandbox));
    }

    /// Fails where going back in time forgets the hand, or where the hand of a moment to come pulls already.
    #[test]
    fn before_the_hand_took_hold_it_pulls_nothing_and_at_the_end_its_path_is_there() {
        let Some((mut sandbox, [start, end])) = dragged() else { return };
        let last = sandbox.timeline().len() - 1;
        let now = poses(&sandbox);
        let (before, amid) =
            (sandbox.timeline().frame_at(0.5 * start), sandbox.timeline().frame_at(0.5 * (start + end)));
        for frame in [before, amid, last] {
            assert!(sandbox.show_recorded(frame));
        }
        assert_eq!(poses(&sandbox), now);
        assert_eq!(path(&sandbox.scene(Camera::default())).len(), 40);
        // From before, and from amid, nothing holds the box.
        for frame in [amid, before] {
            sandbox.show_recorded(frame);
            let speed = |sandbox: &Sandbox| sandbox.bodies()[0].state.linear_velocity.x;
            let first = speed(&sandbox);
            steps(&mut sandbox, 12);
            assert!(sandbox.held().is_none());
            assert!(speed(&sandbox) <= first.max(1e-6), "nothing pulls it on");
            sandbox.show_take(1);
        }
        // A hand that held nothing while time stood still is no event.
        let events = sandbox.scene(Camera::default()).events.len();
        let pick = sandbox.pick(Vec3::new(1.7, 0.6, 5.0), Vec3::NEG_Z).unwrap();
        sandbox.grab(&pick);
        sandbox.drag(pick.point + DVec3::Y);
        sandbox.release();
        assert_eq!(sandbox.scene(Camera::default()).events.len(), events);
    }
}
