//! From which energy of a blow a body breaks that no bonds hold together.
//!
//! In: a shape, its [`Strength`], and the contacts of a step. Out: a [`Resistance`]. `docs/physics.md` derives it.
//!
//! A crack begins where both the stress reaches the strength and the energy pays for the crack (Leguillon 2002). The body
//! counts as three beams, one along each principal axis, whose section is the body's mean section there. The impulses of
//! the step, with the inertia of the body, say in which pattern the blow loads the beams; Castigliano's theorem gives the
//! energy that the beams store when the weakest section reaches the strength. A compact body also splits between the blow
//! and what it presses against (Hiramatsu & Oka 1966), with the energy of Hertz' contact (Tavares & King 1998).

use std::f64::consts::PI;

use glam::DVec3;

use super::{loads::PointLoad, response::INTERNAL_FRICTION, strength::Strength};
use crate::geometry::principal;
use crate::shape::Shape;

/// Sections of a beam at which loads are compared with the strength.
const SECTIONS: u32 = 129;
/// Young's modulus over the shear modulus, at a Poisson's ratio of 0.2.
const SHEARS: f64 = 2.4;
/// How much more energy an uneven shear stores in a rectangle than an even one.
const UNEVEN: f64 = 1.2;
/// One minus the square of that Poisson's ratio.
const LATERAL: f64 = 0.96;
/// Tension in a body of the size D that a force F presses together at two points, as a multiple of F / D^2.
const SPLITS: f64 = 0.9;

/// What a body bears of blows like that of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resistance {
    /// The least energy of a blow that breaks it, J; infinite where no energy does.
    pub needed: f64,
    /// Energy of one crack through it, J.
    pub crack: f64,
}

/// A beam along an axis of a body.
struct Beam {
    /// Which axis.
    axis: usize,
    /// Area of its mean section, m^2.
    area: f64,
    /// Share of the strength that the grain leaves of a crack across it.
    share: f64,
}

/// A body as three beams, in its principal axes.
struct Beams {
    /// Edges of the box with the same moments, m.
    edges: DVec3,
    kg: f64,
    beams: [Beam; 3],
    /// Acceleration times time, m/s, and the same of the turn, rad/s, by the impulses.
    motion: [DVec3; 2],
    /// Places from the centre and impulses of contacts.
    loads: Vec<[DVec3; 2]>,
}

impl Beams {
    fn new(shape: &Shape, strength: &Strength, contacts: &[PointLoad]) -> Option<Self> {
        let (mass, kg) = (shape.mass(), shape.mass_kg());
        let (moments, axes) = principal(shape.inertia());
        let half = 0.5 * (moments.x + moments.y + moments.z);
        let edges = ((DVec3::splat(half) - moments).max(DVec3::ZERO) * (12.0 / kg)).map(f64::sqrt);
        if !(mass.volume_m3 > 0.0 && edges.is_finite() && edges.min_element() > 0.0) {
            return None;
        }
        let beams = [0, 1, 2].map(|axis| Beam {
            axis,
            area: mass.volume_m3 / edges[axis],
            share: strength.share([0, 0], axes.col(axis)),
        });
        let back = axes.transpose();
        let loads: Vec<_> =
            contacts.iter().map(|c| [back * (c.point - mass.centre), back * c.impulse]).collect();
        let push: DVec3 = loads.iter().map(|[_, f]| *f).sum();
        let turn: DVec3 = loads.iter().map(|[r, f]| r.cross(*f)).sum();
        Some(Self { edges, kg, beams, motion: [push / kg, turn / moments], loads })
    }

    /// Force and torque on what lies beyond the section at `x` of the beam along `axis`: by contacts, and by inertia.
    fn cut(&self, axis: usize, x: f64) -> [DVec3; 2] {
        let half = 0.5 * self.edges[axis];
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let along = DVec3::AXES[axis];
        let ([speed, spin], per_length) = (self.motion, self.kg / self.edges[axis]);
        let swing = spin.cross(along);
        let (rest, squares) = (half - x, half * half - x * x);
        let cubes = (half * half * half - x * x * x) / 3.0 - 0.5 * x * squares;
        let second = self.edges * self.edges / 12.0;
        let mut turned = DVec3::ZERO;
        turned[axis] = spin[axis] * (second[i] + second[j]);
        (turned[i], turned[j]) = (spin[i] * second[j], spin[j] * second[i]);
        let mut force = -(speed * rest + swing * (0.5 * squares)) * per_length;
        let moved = along.cross(speed) * (0.5 * rest * rest) + along.cross(swing) * cubes;
        let mut torque = -(moved + turned * rest) * per_length;
        // What touches outside of the box acts on its end.
        for [r, f] in self.loads.iter().filter(|[r, _]| r[axis].clamp(-half, half) > x) {
            force += *f;
            torque += (*r - along * x).cross(*f);
        }
        [force, torque]
    }

    /// The greatest share of its strength that a section of the beam bears, and the energy that the beam stores (J), under
    /// the impulses as forces.
    fn bears(&self, beam: &Beam, strength: &Strength) -> [f64; 2] {
        let (axis, area) = (beam.axis, beam.area);
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let (a, b, length) = (self.edges[i], self.edges[j], self.edges[axis]);
        let polar = area * (a * a + b * b) / 12.0;
        let (mut worst, mut energy) = (0.0f64, 0.0);
        for k in 0..SECTIONS {
            let x = length * ((f64::from(k) + 0.5) / f64::from(SECTIONS) - 0.5);
            let [force, torque] = self.cut(axis, x);
            let (pull, slide) = (force[axis], libm::hypot(force[i], force[j]));
            let bend = 6.0 / area * (torque[j].abs() / a + torque[i].abs() / b);
            let (tension, twist) = (pull / area, torque[axis].abs() * (3.0 / (area * polar)).sqrt());
            let sheared = slide / area + twist - INTERNAL_FRICTION * (-tension).max(0.0);
            worst = worst
                .max((bend + tension) / strength.tension)
                .max((bend - tension) / strength.compression)
                .max(sheared / strength.shear);
            let bent = 12.0 / area * ((torque[j] / a).powi(2) + (torque[i] / b).powi(2));
            let of_shear = SHEARS * (UNEVEN * slide * slide / area + torque[axis].powi(2) / polar);
            energy += pull * pull / area + bent + of_shear;
        }
        [worst / beam.share, energy * length / f64::from(SECTIONS) / (2.0 * strength.stiffness)]
    }
}

/// What a body bears of blows that load it as these contacts do.
#[must_use]
pub fn resistance(shape: &Shape, strength: &Strength, contacts: &[PointLoad]) -> Resistance {
    let unbreakable = Resistance { needed: f64::INFINITY, crack: 0.0 };
    let Some(body) = Beams::new(shape, strength, contacts) else { return unbreakable };
    let of = |energy: f64, area: f64| {
        let crack = strength.toughness * area;
        Resistance { needed: energy.max(crack), crack }
    };
    // A blow stores its energy in all of them, until the weakest section of one fails.
    let borne = body.beams.each_ref().map(|beam| body.bears(beam, strength));
    let energy: f64 = borne.iter().map(|[_, energy]| energy).sum();
    let failing = body.beams.iter().zip(borne).filter(|(_, [worst, _])| *worst > 0.0);
    let bent = failing.map(|(beam, [worst, _])| of(energy / (worst * worst), beam.area));
    let share = body.beams.iter().map(|beam| beam.share).fold(f64::INFINITY, f64::min);
    let split = splitting(shape.mass().volume_m3, strength, share);
    // What is not a number breaks nothing.
    let all = bent.chain([of(split[0], split[1])]).filter(|one| one.needed >= 0.0);
    all.fold(unbreakable, |least, one| if one.needed < least.needed { one } else { least })
}

/// The energy that splits a compact body of this volume (m^3), J, and the area of that crack, m^2.
fn splitting(volume: f64, strength: &Strength, share: f64) -> [f64; 2] {
    let size = libm::cbrt(6.0 * volume / PI);
    let force = strength.tension * share * size * size / SPLITS;
    // Hertz: F = 4/3 E' sqrt(R) d^1.5, and the energy is 2/5 F d.
    let modulus = strength.stiffness / LATERAL;
    let pressed = libm::cbrt(9.0 * force * force / (16.0 * modulus * modulus * 0.5 * size));
    [0.4 * force * pressed, 0.25 * PI * size * size]
}
