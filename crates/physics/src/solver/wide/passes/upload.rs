//! A heap as the passes read it, and what comes home from them.
//!
//! In: manifolds and the solver's bodies in double precision. Out: single precision, manifolds by colour, each with its contacts in
//! a row. Home come changes of velocity, displacements and turns, which are small numbers: added to the state in double precision,
//! they lose nothing that a substep can feel.

use glam::{DMat3, DQuat, DVec3, Vec3};

use super::{
    super::heap::{Answer, Filling, Row},
    colours::Colours,
    data::{
        ContactAnswer, ContactGeometry, STILL, SolverBody, SolverContact, SolverManifold, SolverMotion,
        SolverPose,
    },
};
use crate::{
    Body,
    collide::Manifold,
    context::SubstepImpulses,
    scale::Scale,
    solver::sequential::{Carried, ContactEdge, Frame, RollingArms, Soft, SolverBodies},
};

/// What goes to the device.
#[derive(Default)]
pub(super) struct Upload {
    pub motions: Vec<SolverMotion>,
    pub poses: Vec<SolverPose>,
    pub bodies: Vec<SolverBody>,
    pub manifolds: Vec<SolverManifold>,
    pub contacts: Vec<SolverContact>,
    pub geometry: Vec<ContactGeometry>,
    pub answers: Vec<ContactAnswer>,
    /// By manifold as sent: which it is, and the radius of the smaller body, m.
    names: Vec<(usize, f32)>,
    pub colours: Colours,
    pub bounces: bool,
}

fn single(v: DVec3) -> [f32; 3] {
    v.as_vec3().to_array()
}

fn double(v: [f32; 3]) -> DVec3 {
    Vec3::from_array(v).as_dvec3()
}

/// Diagonal and rest of a symmetric matrix.
fn symmetric(m: &DMat3) -> [[f32; 3]; 2] {
    let diagonal = DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z);
    [single(diagonal), single(DVec3::new(m.y_axis.x, m.z_axis.x, m.z_axis.y))]
}

impl SolverBody {
    fn new(frame: &Frame) -> Self {
        let [diagonal, rest] = symmetric(&frame.inverse_inertia);
        let [start_inertia_diagonal, start_inertia_rest] = symmetric(&frame.inertia());
        Self {
            inverse_diagonal: diagonal,
            inverse_mass: frame.inverse_mass as f32,
            inverse_rest: rest,
            start_inverse_diagonal: diagonal,
            start_inverse_rest: rest,
            start_inertia_diagonal,
            start_inertia_rest,
            ..Self::default()
        }
    }
}

impl Upload {
    /// The heap of these edges; the first `moving` of the solver's bodies move.
    pub fn new(
        (bodies, manifolds): (&[Body], &[Manifold]),
        edges: &[ContactEdge],
        (solver_bodies, moving): (&SolverBodies, usize),
        springs: impl Fn(Scale) -> Soft,
    ) -> Self {
        let arms = RollingArms::new(bodies, solver_bodies);
        let colours = Colours::new(edges.iter().map(|edge| edge.bodies), bodies.len());
        let mut out = Self::default();
        for (motion, frame) in solver_bodies.motions.iter().zip(&solver_bodies.frames).take(moving) {
            let (linear, angular) = (single(motion.linear), single(motion.angular));
            out.motions.push(SolverMotion { linear, angular, ..SolverMotion::default() });
            out.poses.push(SolverPose { turn: [0.0, 0.0, 0.0, 1.0], ..SolverPose::default() });
            out.bodies.push(SolverBody::new(frame));
        }
        for k in &colours.order {
            // `edges` names only manifolds whose bodies exist; one of others would have no contacts.
            let found = Filling::new(&edges[*k], (bodies, manifolds), (solver_bodies, &arms), &springs);
            match found {
                Some(filling) => out.push(&filling, moving),
                None => out.push_nothing(edges[*k].manifold),
            }
        }
        out.colours = colours;
        out
    }

    fn push_nothing(&mut self, index: usize) {
        let first = self.contacts.len() as u32;
        self.manifolds.push(SolverManifold { bodies: [STILL; 2], first, ..SolverManifold::default() });
        self.names.push((index, f32::MAX));
    }

    fn push(&mut self, filling: &Filling<'_>, moving: usize) {
        let Filling { manifold, frames, surface, scale, soft, .. } = filling;
        let body = |place: usize| if place < moving { place as u32 } else { STILL };
        self.names.push((filling.index, surface.size as f32));
        self.manifolds.push(SolverManifold {
            bodies: filling.bodies.map(body),
            first: self.contacts.len() as u32,
            count: manifold.points.len() as u32,
            roll: single(manifold.rolling_impulse),
            roll_arm: filling.arm as f32,
            bias_rate: soft.bias_rate as f32,
            softness: soft.softness as f32,
            push_out: soft.push_out as f32,
            stick: (1.0 / scale.time) as f32,
            speed: scale.speed as f32,
            linear_mass: (1.0 / (frames[0].inverse_mass + frames[1].inverse_mass)) as f32,
            ..SolverManifold::default()
        });
        for point in &manifold.points {
            let row = Row::new(point, filling);
            self.contacts.push(SolverContact {
                normal: single(row.normal),
                tangent: single(row.tangent),
                friction: surface.friction as f32,
                ..SolverContact::default()
            });
            // Arms are anchors in the axes of the world.
            self.geometry.push(ContactGeometry {
                anchor_a: single(row.arms[0] - row.offset),
                anchor_b: single(row.arms[1]),
                offset: single(row.offset),
                apart: single(row.apart),
                adjusted: row.adjusted as f32,
                middle: row.middle as f32,
                sticks: row.sticks as f32,
                slip: row.slip.map(|slip| slip as f32),
                struck: row.struck as f32,
                rebound: row.rebound as f32,
                ..ContactGeometry::default()
            });
            let impulse = row.impulse.map(|impulse| impulse as f32);
            self.answers.push(ContactAnswer { impulse, ..ContactAnswer::default() });
            self.bounces |= row.struck < 0.0;
        }
    }

    /// The contacts of each manifold, and which manifold it is.
    fn rows(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + '_ {
        self.manifolds.iter().zip(&self.names).map(|(own, (index, _))| {
            let first = own.first as usize;
            (*index, first..first + own.count as usize)
        })
    }
}

/// What comes home.
pub(super) struct Home {
    pub motions: Vec<SolverMotion>,
    pub poses: Vec<SolverPose>,
    pub manifolds: Vec<SolverManifold>,
    pub answers: Vec<ContactAnswer>,
    /// The answers after each substep, where somebody asked for them.
    pub substeps: Vec<Vec<ContactAnswer>>,
}

/// A unit quaternion of single precision: where it turns by little, the real part follows from the others.
fn unit([x, y, z, w]: [f32; 4]) -> DQuat {
    let [x, y, z, w] = [x, y, z, w].map(f64::from);
    let square = x * x + y * y + z * z;
    if square <= 0.5 {
        return DQuat::from_xyzw(x, y, z, (1.0 - square).sqrt().copysign(w));
    }
    DQuat::from_xyzw(x, y, z, w).normalize()
}

impl Home {
    /// How bodies have come on since they were sent.
    pub fn carried<'a>(&'a self, sent: &'a Upload) -> impl Iterator<Item = Carried> + 'a {
        let all = self.motions.iter().zip(&self.poses).zip(&sent.motions);
        all.map(|((own, pose), before)| Carried {
            moved: double(pose.moved),
            turn: unit(pose.turn),
            linear: double(own.linear) - double(before.linear),
            angular: double(own.angular) - double(before.angular),
        })
    }

    /// The least radius of the smaller bodies of contacts that press, m, by the solver's body, where it is less.
    pub fn lean_on(&self, sent: &Upload, leans: &mut [f64]) {
        for ((own, (_, size)), (_, contacts)) in sent.manifolds.iter().zip(&sent.names).zip(sent.rows()) {
            if self.answers[contacts].iter().any(|answer| answer.impulse[0] > 0.0) {
                for body in own.bodies.into_iter().filter(|body| *body != STILL) {
                    let least = &mut leans[body as usize];
                    *least = least.min(f64::from(*size));
                }
            }
        }
    }

    /// Writes all impulses back.
    pub fn finish(&self, sent: &Upload, manifolds: &mut [Manifold]) {
        for (own, (index, contacts)) in self.manifolds.iter().zip(sent.rows()) {
            let manifold = &mut manifolds[index];
            manifold.rolling_impulse = double(own.roll);
            for (p, answer) in manifold.points.iter_mut().zip(&self.answers[contacts]) {
                let ContactAnswer { impulse, total, slid, .. } = *answer;
                Answer { impulse, total, slid: slid != 0 }.write(p);
            }
        }
    }

    /// Notes the impulses of all contacts in each substep.
    pub fn note(&self, sent: &Upload, record: &mut SubstepImpulses) {
        for (substep, answers) in (0u32..).zip(&self.substeps) {
            record.open(substep);
            for (index, contacts) in sent.rows() {
                for (point, c) in (0u32..).zip(contacts) {
                    let (normal, tangent) =
                        (double(sent.contacts[c].normal), double(sent.contacts[c].tangent));
                    let [pressed, along_t, along_u] = answers[c].impulse.map(f64::from);
                    let rubbed = tangent * along_t + normal.cross(tangent) * along_u;
                    record.note(substep, [index as u32, point], (pressed, rubbed));
                }
            }
        }
    }
}
