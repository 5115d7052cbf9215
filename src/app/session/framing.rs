//! The camera follows what is drawn farther apart.

use super::Session;
use crate::scene::Tuning;

impl Session {
    /// Changes tuned values. While *Explode* grows, the camera moves back as far as pieces need that would leave the
    /// picture; it stays where the user looks at a part of them from near.
    pub(super) fn tune(&mut self, gesture: &'static str, tuning: Tuning) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let grows = tuning.view.explode > sandbox.tuning().view.explode;
        let follows = grows && self.sees_all();
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.tune(gesture, tuning);
        }
        if follows {
            self.move_back();
        }
    }

    /// Whether everything that is drawn lies within the picture.
    pub(super) fn sees_all(&self) -> bool {
        let points = self.sandbox.as_ref().map(|sandbox| sandbox.surface_points(None)).unwrap_or_default();
        let is_inside = |seen: [f32; 2]| seen.iter().all(|at| (0.0..=1.0).contains(at));
        points.iter().all(|point| self.camera.project(*point, self.aspect).is_some_and(is_inside))
    }

    /// Frames everything that is drawn, if the camera moves farther away by that.
    fn move_back(&mut self) {
        let points = self.sandbox.as_ref().map(|sandbox| sandbox.surface_points(None)).unwrap_or_default();
        let mut framed = self.camera;
        framed.frame_points(&points, self.aspect);
        if framed.distance > self.camera.distance {
            self.camera = framed;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        app::session::{Session, files_tests::settle, testing::session},
        ui::Command,
    };

    #[test]
    fn pieces_that_are_drawn_apart_stay_in_the_picture() {
        let mut session = session();
        session.aspect = 0.8;
        session.frame_scene();
        let sandbox = session.sandbox.as_mut().unwrap();
        let (body, at) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
        sandbox.break_at(body, at, glam::DVec3::NEG_Y);
        settle(&mut session);
        let explode = |session: &mut Session, explode: f64| {
            let mut tuning = session.sandbox.as_ref().unwrap().tuning().clone();
            tuning.view.explode = explode;
            session.apply(Command::Tune { gesture: "explode", tuning: Box::new(tuning) });
        };
        let near = session.camera;
        for step in 1..=20 {
            explode(&mut session, f64::from(step) / 20.0);
        }
        let sandbox = session.sandbox.as_ref().unwrap();
        let centres = sandbox.drawn_centres();
        assert!(centres.len() > 5);
        let seen = |point: glam::Vec3| session.camera.project(point, session.aspect).unwrap();
        for (id, centre) in &centres {
            let [x, y] = seen(*centre);
            assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y), "{x}, {y}");
            let (low, _) = sandbox.bounds(Some(*id)).unwrap();
            assert!(low.y > -0.01, "{low} is below the floor");
        }
        assert!(session.camera.distance > near.distance, "it had to move");
        // It does not come back by itself.
        let far = session.camera;
        explode(&mut session, 0.2);
        assert_eq!(session.camera, far);
        // Whoever looks at one piece from near goes on doing so.
        session.camera.zoom(0.2);
        let at_a_piece = session.camera;
        explode(&mut session, 0.9);
        assert_eq!(session.camera, at_a_piece);
    }
}
