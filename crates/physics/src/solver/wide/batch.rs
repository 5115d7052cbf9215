//! Up to eight manifolds that share no moving body, one a lane, solved at once.
//!
//! In: manifolds, and how their bodies lie and move. Out: impulses, and changed velocities. A contact takes 25 numbers in
//! each lane that a sweep reads; what only a substep reads lies apart.

use glam::DVec3;

use super::{
    heap::{Answer, Filling, Row},
    vectors::{LANES, Lane, Matrices},
};
use crate::{
    collide::{Manifold, Point},
    context::SubstepImpulses,
};

/// A contact of each lane, as sweeps read it. World axes; a lane without a contact has no mass and gets no impulse.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Contact {
    pub normal: [Lane; 3],
    /// The second tangent is the normal times this one.
    pub tangent: [Lane; 3],
    pub arms: [[Lane; 3]; 2],
    /// Effective masses along the normal and both tangents, kg.
    pub masses: [Lane; 3],
    /// The mass along the normal with the spring's softness, kg.
    pub soft_mass: Lane,
    /// Speed for an impulse, m/s for 1 N s.
    pub softness: Lane,
    /// Approach speeds at which the contact gets an impulse, m/s: with springs, and without.
    pub bias: [Lane; 2],
    pub friction: Lane,
    /// Speeds that draw back what has slipped, along both tangents, m/s for a rate of 1/s.
    pub drift: [Lane; 2],
    /// Along the normal and both tangents, N s.
    pub impulse: [Lane; 3],
    /// Lanes whose friction slid.
    pub slid: u32,
}

/// What else a contact of each lane is: read once a substep, or once a step.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Geometry {
    /// In the axes of both bodies, m.
    pub anchors: [[Lane; 3]; 2],
    /// World, added to the first anchor: a ball touches below its middle.
    pub offset: [Lane; 3],
    /// From the second body's place to the first's when nothing had moved, less both anchors, m.
    pub apart: [Lane; 3],
    /// Separation when both places were one, m.
    pub adjusted: Lane,
    /// Share of the way from the second place to the first at which the impulse acts.
    pub middle: Lane,
    /// Slip along both tangents, less what `apart` has of it, m; what is drawn back is multiplied by `sticks`.
    pub slip: [Lane; 2],
    pub sticks: Lane,
    /// Approach speed at the start of the step, m/s, 0 where the contact does not bounce; and that times the restitution.
    pub struck: Lane,
    pub rebound: Lane,
    /// Normal impulses of all substeps, N s, and the largest one.
    pub total: Lane,
    pub most: Lane,
    /// Friction impulses of all substeps along both tangents, N s.
    pub rubbed: [Lane; 2],
    pub gap: Lane,
}

impl Contact {
    pub const NONE: Self = Self {
        normal: [[0.0; LANES]; 3],
        tangent: [[0.0; LANES]; 3],
        arms: [[[0.0; LANES]; 3]; 2],
        masses: [[0.0; LANES]; 3],
        soft_mass: [0.0; LANES],
        softness: [0.0; LANES],
        bias: [[0.0; LANES]; 2],
        friction: [0.0; LANES],
        drift: [[0.0; LANES]; 2],
        impulse: [[0.0; LANES]; 3],
        slid: 0,
    };
}

impl Geometry {
    pub const NONE: Self = Self {
        anchors: [[[0.0; LANES]; 3]; 2],
        offset: [[0.0; LANES]; 3],
        apart: [[0.0; LANES]; 3],
        adjusted: [0.0; LANES],
        middle: [0.0; LANES],
        slip: [[0.0; LANES]; 2],
        sticks: [0.0; LANES],
        struck: [0.0; LANES],
        rebound: [0.0; LANES],
        total: [0.0; LANES],
        most: [0.0; LANES],
        rubbed: [[0.0; LANES]; 2],
        gap: [0.0; LANES],
    };
}

/// See the head of the module.
#[repr(align(64))]
pub(super) struct WideBatch<'a> {
    pub bodies: [[u32; LANES]; 2],
    pub contacts: &'a mut [Contact],
    pub geometry: &'a mut [Geometry],
    pub inverse_mass: [Lane; 2],
    pub inverse_inertia: [Matrices; 2],
    /// Rolling resistance: torque for a newton, m; angular impulse, N m s; inertia of the relative spin, kg m^2.
    pub roll_arm: Lane,
    pub roll: [Lane; 3],
    pub roll_inertia: Matrices,
    /// Springs: speed for a depth (1/s), softness of a contact that carries a kilogram, and the largest speed (m/s).
    pub bias_rate: Lane,
    pub softness: Lane,
    pub push_out: Lane,
    /// Rate at which slip is drawn back, 1/s, where the step's is 1.
    pub stick: Lane,
    /// The unit of speed, m/s.
    pub speed: Lane,
    /// Mass between the centres, kg.
    pub linear_mass: Lane,
    /// Indices of the manifolds, and radii of the smaller bodies, m.
    pub manifolds: [u32; LANES],
    pub sizes: Lane,
    pub lanes: usize,
    pub bounces: bool,
}

fn put(into: &mut [Lane; 3], lane: usize, v: DVec3) {
    into.iter_mut().zip(v.as_vec3().to_array()).for_each(|(into, value)| into[lane] = value);
}

impl<'a> WideBatch<'a> {
    /// A batch of these manifolds, in memory for as many contacts as the largest has, which is written over.
    pub fn new(
        fillings: &[Filling<'_>],
        (contacts, geometry): (&'a mut [Contact], &'a mut [Geometry]),
    ) -> Self {
        contacts.fill(Contact::NONE);
        geometry.fill(Geometry::NONE);
        let none = [0.0; LANES];
        let mut batch = Self {
            bodies: [[u32::MAX; LANES]; 2],
            contacts,
            geometry,
            inverse_mass: [none; 2],
            inverse_inertia: [[none; 6]; 2],
            roll_arm: none,
            roll: [none; 3],
            roll_inertia: [none; 6],
            bias_rate: none,
            softness: none,
            push_out: none,
            stick: none,
            speed: none,
            linear_mass: none,
            manifolds: [u32::MAX; LANES],
            sizes: none,
            lanes: fillings.len(),
            bounces: false,
        };
        fillings.iter().enumerate().for_each(|(lane, filling)| batch.fill(lane, filling));
        batch
    }

    fn fill(&mut self, lane: usize, filling: &Filling<'_>) {
        let masses = filling.frames.map(|frame| frame.inverse_mass);
        self.manifolds[lane] = filling.index as u32;
        for (side, (body, mass)) in filling.bodies.into_iter().zip(masses).enumerate() {
            self.bodies[side][lane] = body as u32;
            self.inverse_mass[side][lane] = mass as f32;
        }
        self.roll_arm[lane] = filling.arm as f32;
        put(&mut self.roll, lane, filling.manifold.rolling_impulse);
        self.bias_rate[lane] = filling.soft.bias_rate as f32;
        self.softness[lane] = filling.soft.softness as f32;
        self.push_out[lane] = filling.soft.push_out as f32;
        self.stick[lane] = (1.0 / filling.scale.time) as f32;
        self.speed[lane] = filling.scale.speed as f32;
        self.linear_mass[lane] = (1.0 / (masses[0] + masses[1])) as f32;
        self.sizes[lane] = filling.surface.size as f32;
        for (place, point) in filling.manifold.points.iter().enumerate() {
            self.fill_point(lane, place, point, filling);
        }
    }

    fn fill_point(&mut self, lane: usize, place: usize, p: &Point, filling: &Filling<'_>) {
        let (contact, geometry) = (&mut self.contacts[place], &mut self.geometry[place]);
        let row = Row::new(p, filling);
        put(&mut contact.normal, lane, row.normal);
        put(&mut contact.tangent, lane, row.tangent);
        contact.friction[lane] = filling.surface.friction as f32;
        for (into, impulse) in contact.impulse.iter_mut().zip(row.impulse) {
            into[lane] = impulse as f32;
        }
        for (into, anchor) in geometry.anchors.iter_mut().zip(row.anchors) {
            put(into, lane, anchor);
        }
        put(&mut geometry.offset, lane, row.offset);
        put(&mut geometry.apart, lane, row.apart);
        geometry.adjusted[lane] = row.adjusted as f32;
        geometry.middle[lane] = row.middle as f32;
        geometry.slip[0][lane] = row.slip[0] as f32;
        geometry.slip[1][lane] = row.slip[1] as f32;
        geometry.sticks[lane] = row.sticks as f32;
        (geometry.struck[lane], geometry.rebound[lane]) = (row.struck as f32, row.rebound as f32);
        self.bounces |= row.struck < 0.0;
    }
}

impl WideBatch<'_> {
    /// After a substep.
    pub fn sum_up(&mut self) {
        for (contact, geometry) in self.contacts.iter().zip(&mut *self.geometry) {
            let [rubbed_t, rubbed_u] = &mut geometry.rubbed;
            for (totals, own) in [&mut geometry.total, rubbed_t, rubbed_u].into_iter().zip(&contact.impulse) {
                totals.iter_mut().zip(own).for_each(|(total, own)| *total += own);
            }
        }
    }

    /// Notes the impulses of its contacts in a substep.
    pub fn note(&self, substep: u32, record: &mut SubstepImpulses) {
        for (lane, manifold) in self.manifolds().iter().enumerate() {
            for (point, contact) in (0u32..).zip(&*self.contacts) {
                let of =
                    |v: &[Lane; 3]| DVec3::from_array(std::array::from_fn(|axis| f64::from(v[axis][lane])));
                let (normal, tangent) = (of(&contact.normal), of(&contact.tangent));
                let [pressed, along_t, along_u] = contact.impulse.map(|lanes| f64::from(lanes[lane]));
                let rubbed = tangent * along_t + normal.cross(tangent) * along_u;
                record.note(substep, [*manifold, point], (pressed, rubbed));
            }
        }
    }

    /// The radii of the smaller bodies of contacts that press, by body, where they are less.
    pub fn lean_on(&self, leans: &mut [f64]) {
        for contact in &*self.contacts {
            for lane in (0..self.lanes).filter(|lane| contact.impulse[0][*lane] > 0.0) {
                for bodies in &self.bodies {
                    let least = &mut leans[bodies[lane] as usize];
                    *least = least.min(f64::from(self.sizes[lane]));
                }
            }
        }
    }

    /// The manifolds of its lanes.
    pub fn manifolds(&self) -> &[u32] {
        &self.manifolds[..self.lanes]
    }

    /// Writes the impulses of a lane back.
    pub fn finish(&self, lane: usize, manifold: &mut Manifold) {
        manifold.rolling_impulse = std::array::from_fn(|axis| f64::from(self.roll[axis][lane])).into();
        let rows = self.contacts.iter().zip(&*self.geometry);
        for (p, (contact, geometry)) in manifold.points.iter_mut().zip(rows) {
            let [rubbed_t, rubbed_u] = geometry.rubbed.map(|lanes| lanes[lane]);
            let answer = Answer {
                impulse: contact.impulse.map(|lanes| lanes[lane]),
                total: [geometry.total[lane], rubbed_t, rubbed_u],
                slid: contact.slid >> lane & 1 == 1,
            };
            answer.write(p);
        }
    }
}
