//! What large heaps are on the cores and in passes alike: what a step does, manifolds, and contacts.
//!
//! In: a manifold and its points, and how its bodies lie and move. Out: the numbers of its constraints at the start of the step, in
//! double precision; and, the other way, what a contact pressed and rubbed goes back into its point.

use glam::DVec3;

use crate::{
    Body,
    collide::{Manifold, Point, tangents},
    scale::Scale,
    solver::sequential::{self, ContactEdge, Frame, RollingArms, Soft, SolverBodies, Surface},
};

/// What a step does.
#[derive(Clone, Copy)]
pub struct Passes {
    /// Sweeps of a substep: with springs, and without.
    pub iterations: [u32; 2],
    /// How fast slip is drawn back, 1/s.
    pub stick: f64,
    /// Slower impacts do not bounce, m/s.
    pub bounce_threshold: f64,
    /// Sweeps of the bounce.
    pub bounces: usize,
}

/// A manifold that is solved.
pub(super) struct Filling<'a> {
    /// Which manifold.
    pub index: usize,
    pub manifold: &'a Manifold,
    /// Its bodies among the solver's.
    pub bodies: [usize; 2],
    pub frames: [&'a Frame; 2],
    /// Velocities of both, m/s and rad/s.
    pub velocities: [[DVec3; 2]; 2],
    pub surface: Surface,
    pub scale: Scale,
    pub soft: Soft,
    /// Torque of rolling resistance for a newton of load, N m.
    pub arm: f64,
}

impl<'a> Filling<'a> {
    /// The manifold of an edge; `None` where one of its bodies does not exist.
    pub fn new(
        edge: &ContactEdge,
        (bodies, manifolds): (&[Body], &'a [Manifold]),
        (solver_bodies, arms): (&'a SolverBodies, &RollingArms),
        springs: impl Fn(Scale) -> Soft,
    ) -> Option<Self> {
        let manifold = &manifolds[edge.manifold];
        let pair = sequential::pair(bodies, manifold)?;
        let places = pair.map(|k| solver_bodies.place(k));
        let frames = places.map(|k| &solver_bodies.frames[k]);
        let scale = frames[0].scale.smaller(frames[1].scale);
        let velocities = places.map(|k| {
            let motion = &solver_bodies.motions[k];
            [motion.linear, motion.angular]
        });
        Some(Self {
            index: edge.manifold,
            manifold,
            bodies: places,
            frames,
            velocities,
            surface: sequential::surface(bodies, pair),
            scale,
            soft: springs(scale),
            arm: arms.between(places, manifold.resolution_m),
        })
    }
}

/// A contact at the start of a step, world axes where nothing else is said.
pub(super) struct Row {
    pub normal: DVec3,
    /// The first tangent; the second one is the normal times it.
    pub tangent: DVec3,
    /// Along the normal and both tangents, N s.
    pub impulse: [f64; 3],
    /// In the axes of both bodies, m.
    pub anchors: [DVec3; 2],
    /// Added to the first anchor, m: a ball touches below its middle.
    pub offset: DVec3,
    /// From both centres to the contact, m. What cannot move has none: the floor's would be as long as the world is large.
    pub arms: [DVec3; 2],
    /// From the second body's place to the first's, less both arms, m.
    pub apart: DVec3,
    /// Separation when both places were one, m.
    pub adjusted: f64,
    /// Share of the way from the second place to the first at which the impulse acts.
    pub middle: f64,
    /// Slip along both tangents, less what `apart` has of it, m.
    pub slip: [f64; 2],
    /// 1 where friction draws slip back, else 0.
    pub sticks: f64,
    /// Approach speed at the start of the step, m/s, 0 where the contact does not bounce; and that times the restitution.
    pub struck: f64,
    pub rebound: f64,
}

impl Row {
    /// The row of one point of a manifold.
    pub fn new(p: &Point, filling: &Filling<'_>) -> Self {
        let [a, b] = filling.frames;
        let moves = [a, b].map(|frame| frame.inverse_mass > 0.0);
        let (t, u) = tangents(p.normal);
        let local = [0, 1].map(|side| {
            let frame = filling.frames[side];
            frame.rotation.transpose() * (p.position - frame.position)
        });
        // As the sequential solver has it: both places are where the point is now.
        let (first, offset) = match p.ball {
            Some(ball) => (ball.centre, -p.normal * ball.radius),
            None => (local[0], DVec3::ZERO),
        };
        let place = a.position + a.rotation * first + offset;
        let apart = place - p.position;
        let arms = [
            if moves[0] { a.rotation * first + offset } else { DVec3::ZERO },
            if moves[1] { b.rotation * local[1] } else { DVec3::ZERO },
        ];
        let anchors =
            [if moves[0] { first } else { DVec3::ZERO }, if moves[1] { local[1] } else { DVec3::ZERO }];
        let speeds = [0, 1].map(|side| {
            let [linear, angular] = filling.velocities[side];
            linear + angular.cross(p.position - filling.frames[side].position)
        });
        let approach = (speeds[0] - speeds[1]).dot(p.normal);
        let restitution = filling.surface.restitution;
        let struck = if restitution > 0.0 && approach < 0.0 { approach } else { 0.0 };
        Self {
            normal: p.normal,
            tangent: t,
            impulse: [p.normal_impulse, p.friction_impulse.dot(t), p.friction_impulse.dot(u)],
            anchors,
            offset: if moves[0] { offset } else { DVec3::ZERO },
            arms,
            apart: apart - arms[0] + arms[1],
            adjusted: p.separation,
            middle: match (p.ball, p.follows) {
                (Some(_), _) | (None, Some(0)) => 0.0,
                (None, None) => 0.5,
                (None, Some(_)) => 1.0,
            },
            slip: [p.slip.dot(t), p.slip.dot(u)],
            // A ball touches ever other points, so its friction draws nothing back.
            sticks: f64::from(u8::from(p.ball.is_none())),
            struck,
            rebound: restitution * struck,
        }
    }
}

/// What a contact pressed and rubbed in a step, N s: along the normal and both tangents.
pub(super) struct Answer {
    /// In the last substep.
    pub impulse: [f32; 3],
    /// In all substeps.
    pub total: [f32; 3],
    /// Whether its friction slid.
    pub slid: bool,
}

impl Answer {
    /// Writes it into the point.
    pub fn write(&self, p: &mut Point) {
        let (t, u) = tangents(p.normal);
        let along = |impulses: [f32; 3]| {
            let [pressed, along_t, along_u] = impulses.map(f64::from);
            (pressed, t * along_t + u * along_u)
        };
        (p.normal_impulse, p.friction_impulse) = along(self.impulse);
        (p.total_impulse, p.total_friction) = along(self.total);
        p.slid = self.slid || p.total_impulse == 0.0;
    }
}
