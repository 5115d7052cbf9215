//! What a bond leaves where it fails: crumbs and dust, as points with velocities.
//!
//! In: the bond that failed, an amount. Out: its grains, the same for the same crack; where they are later is a
//! closed form ([`Grain::at`]). Sizes follow N(>r) ~ r^-2.5, the fractal dimension of what is crushed (Turcotte 1986).
//! docs/physics.md, "Debris".

use glam::{DMat3, DVec3};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{
    bodies::structure::Mode,
    export::debris::{Grain, GrainKind},
};

/// Thickness of the layer that becomes crumbs, as a share of the square root of the crack's area.
const LAYER: f64 = 0.002;
/// Exponent of the number of crumbs above a radius.
const DIMENSION: f64 = 2.5;
/// Radius of the largest crumb, as a share of the same length: the largest is a twelfth of it across.
const LARGEST: f64 = 1.0 / 24.0;
/// Radius of the smallest crumb there is, as a share of it, and m.
const SMALLEST: (f64, f64) = (1.0 / 400.0, 0.0005);
/// Most crumbs, and clouds of dust, of a bond at an amount of 1; of four times that and more four times as many.
const MOST_CRUMBS: f64 = 64.0;
const DUST: f64 = 32.0;
/// Most times as many grains as at an amount of 1, whatever the amount is.
const MOST_TIMES: f64 = 4.0;
/// Radii of clouds of dust, as shares of the length.
const CLOUD: (f64, f64) = (1.0 / 20.0, 1.0 / 8.0);
/// Highest speed that a crack gives to its grains, m/s.
const FASTEST: f64 = 3.0;
/// Halvings after which the smallest radius is found to the last bit that matters.
const HALVINGS: usize = 50;

/// A bond that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondFailure {
    /// Simulated time, s.
    pub time: f64,
    /// The object of the body.
    pub object: usize,
    /// Index of the break in the log.
    pub record: usize,
    /// The parts of that break that it joined.
    pub parts: [u32; 2],
    /// How it failed.
    pub mode: Mode,
    /// Its load when it failed, as a share of its strength; infinite if it had none.
    pub load: f64,
    /// What the whole blow would have put on it, had no bond failed, as a share of its strength; without a blow its load.
    pub whole_load: f64,
    /// The stress when it failed, Pa: its load times its strength, or what it bore if it had none.
    pub stress: f64,
    /// Its strength against that load, Pa, with scatter, grain and damage; of shear what it is without compression.
    pub strength: f64,
    /// Whether a blow loaded it.
    pub by_blow: bool,
    /// Energy of the blow of that step, J.
    pub energy: f64,
    /// Its area, m^2, and its centre, world, m.
    pub area: f64,
    /// See `area`.
    pub centre: DVec3,
    /// Unit normal of its crack, world, from the first part to the second.
    pub normal: DVec3,
    /// Half the sides of the rectangle that has the second moments of its area, world, m.
    pub half_axes: [DVec3; 2],
    /// Velocity of the body at the centre, m/s.
    pub velocity: DVec3,
    /// Speed that the material at the crack gets as the stress goes, m/s: stress / sqrt(Young's modulus x density), as in
    /// a bar whose end is let go.
    pub release: f64,
}

/// Half the sides of the rectangle that has the second moments (m^4) of an area (m^2) about its centre, in its plane;
/// of a square as large where the moments say nothing.
#[must_use]
pub fn half_axes(area: f64, normal: DVec3, moments: &DMat3) -> [DVec3; 2] {
    let (s, t) = normal.any_orthonormal_pair();
    let (ss, st, tt) = (s.dot(*moments * s), s.dot(*moments * t), t.dot(*moments * t));
    let (mean, half) = (0.5 * (ss + tt), 0.5 * (ss - tt));
    let root = (half * half + st * st).sqrt();
    if !(mean - root > 0.0 && mean.is_finite() && area > 0.0) {
        let side = 0.5 * area.max(0.0).sqrt();
        return [s * side, t * side];
    }
    // Of two rows of the matrix the one that subtracts nothing.
    let along = if half >= 0.0 { s * (half + root) + t * st } else { s * st + t * (root - half) };
    let along = along.normalize_or(s);
    // A rectangle of the half sides a and b has the moments area a^2 / 3 and area b^2 / 3.
    let side = |moment: f64| (3.0 * moment / area).sqrt();
    [along * side(mean + root), normal.cross(along) * side(mean - root)]
}

/// Most grains that a bond leaves at this amount.
#[must_use]
pub fn most_grains(amount: f64) -> usize {
    if amount > 0.0 { most_crumbs(amount) + clouds(amount) } else { 0 }
}

fn most_crumbs(amount: f64) -> usize {
    (MOST_CRUMBS * amount.clamp(1.0, MOST_TIMES)) as usize
}

fn clouds(amount: f64) -> usize {
    (DUST * amount.min(MOST_TIMES)).round() as usize
}

/// The grains of a crack: crumbs, the largest first, and then dust. `amount` scales their volume.
#[must_use]
pub fn grains(crack: &BondFailure, amount: f64) -> Vec<Grain> {
    let length = crack.area.max(0.0).sqrt();
    if !(length > 0.0 && amount > 0.0 && length.is_finite()) {
        return Vec::new();
    }
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&(crack.record as u64).to_le_bytes());
    seed[8..12].copy_from_slice(&crack.parts[0].to_le_bytes());
    seed[12..16].copy_from_slice(&crack.parts[1].to_le_bytes());
    seed[16..24].copy_from_slice(&crack.time.to_bits().to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(seed);
    let mut made: Vec<Grain> = radii(crack.area, amount)
        .into_iter()
        .map(|radius| thrown(crack, GrainKind::Crumb, radius, &mut random))
        .collect();
    for _ in 0..clouds(amount) {
        let share: f64 = random.random();
        let radius = length * (CLOUD.0 + share * (CLOUD.1 - CLOUD.0));
        made.push(thrown(crack, GrainKind::Dust, radius, &mut random));
    }
    made
}

/// A grain somewhere on the crack, thrown to either side of it or along it.
fn thrown(crack: &BondFailure, kind: GrainKind, radius: f64, random: &mut ChaCha8Rng) -> Grain {
    let mut either = || 2.0 * random.random::<f64>() - 1.0;
    let [a, b] = crack.half_axes;
    let position = crack.centre + a * either() + b * either();
    // Compression and shear throw grains along the crack.
    let (across, along) = if crack.mode == Mode::Tension { (1.0, 0.5) } else { (0.3, 1.0) };
    let side = if either() < 0.0 { -across } else { across };
    let within = a.normalize_or_zero() * either() + b.normalize_or_zero() * either();
    let direction = (crack.normal * side + within * along).normalize_or(crack.normal);
    let speed = crack.release.clamp(0.0, FASTEST) * random.random::<f64>();
    Grain { born: crack.time, position, velocity: crack.velocity + direction * speed, radius, kind }
}

/// Radii of the crumbs of a crack, m, from the largest.
///
/// The power law is cut into as many steps as there are crumbs, and each crumb has the mean volume of its step, so that
/// together the crumbs have the volume of the layer. Where they would be too many, the smallest are left out and the
/// others are more.
fn radii(area: f64, amount: f64) -> Vec<f64> {
    let length = area.sqrt();
    let wanted = amount * area * (LAYER * length);
    let largest = LARGEST * length;
    let (least, most) = ((SMALLEST.0 * length).max(SMALLEST.1).min(0.5 * largest), most_crumbs(amount));
    let all = wanted / mean_volume(least, largest);
    if all <= most as f64 {
        return steps(least, largest, all.round() as usize);
    }
    let (mut low, mut high) = (least, 0.5 * largest);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        match most as f64 * mean_volume(middle, largest) < wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    steps(high, largest, most)
}

/// What the number of crumbs above a radius is proportional to.
fn above(radius: f64) -> f64 {
    libm::pow(radius, -DIMENSION)
}

/// What the volume of crumbs below a radius is proportional to.
fn below(radius: f64) -> f64 {
    libm::pow(radius, 3.0 - DIMENSION)
}

/// Mean volume of crumbs between two radii, m^3.
fn mean_volume(least: f64, largest: f64) -> f64 {
    let cube =
        DIMENSION / (3.0 - DIMENSION) * (below(largest) - below(least)) / (above(least) - above(largest));
    4.0 / 3.0 * std::f64::consts::PI * cube
}

/// Radii of `count` crumbs between two radii, from the largest.
fn steps(least: f64, largest: f64, count: usize) -> Vec<f64> {
    let (from, to) = (above(largest), above(least));
    let bound = |k: usize| libm::pow(from + (to - from) * (k as f64 / count as f64), -1.0 / DIMENSION);
    let radius = |k: usize| {
        let cube = below(bound(k)) - below(bound(k + 1));
        libm::cbrt(DIMENSION / (3.0 - DIMENSION) * cube * count as f64 / (to - from))
    };
    (0..count).map(radius).collect()
}

#[cfg(test)]
impl BondFailure {
    /// A bond of 1 m^2 between the parts 0 and 1, torn at the time 0.
    pub(crate) fn example() -> Self {
        Self {
            time: 0.0,
            object: 0,
            record: 0,
            parts: [0, 1],
            mode: Mode::Tension,
            load: 1.2,
            whole_load: 1.2,
            stress: 3.6e6,
            strength: 3e6,
            by_blow: false,
            energy: 0.0,
            area: 1.0,
            centre: DVec3::ZERO,
            normal: DVec3::X,
            half_axes: [DVec3::Y * 0.5, DVec3::Z * 0.5],
            velocity: DVec3::ZERO,
            release: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crack() -> BondFailure {
        let normal = DVec3::new(1.0, 2.0, 2.0) / 3.0;
        let (s, t) = normal.any_orthonormal_pair();
        BondFailure {
            time: 0.25,
            record: 3,
            parts: [4, 9],
            area: 0.06,
            centre: DVec3::new(1.0, 2.0, 3.0),
            normal,
            half_axes: [s * 0.15, t * 0.1],
            velocity: DVec3::new(0.0, 7.0, 0.0),
            release: 2.0,
            ..BondFailure::example()
        }
    }

    fn volume(grains: &[Grain]) -> f64 {
        let crumbs = grains.iter().filter(|grain| grain.kind == GrainKind::Crumb);
        crumbs.map(|grain| 4.0 / 3.0 * std::f64::consts::PI * grain.radius.powi(3)).sum()
    }

    /// Fails where the seed leaves out a part, the time or the record, or where a generator of the thread is used.
    #[test]
    fn a_crack_leaves_the_same_grains_each_time_and_another_crack_others() {
        let first = crack();
        assert_eq!(grains(&first, 1.0), grains(&first, 1.0));
        let others = [
            BondFailure { time: 0.26, ..first },
            BondFailure { record: 4, ..first },
            BondFailure { parts: [5, 9], ..first },
            BondFailure { parts: [4, 8], ..first },
        ];
        for other in others {
            assert_ne!(grains(&other, 1.0)[0].position, grains(&first, 1.0)[0].position, "{other:?}");
        }
    }

    /// Fails where the layer is measured by another length, or where the cap takes volume away.
    #[test]
    fn crumbs_have_the_volume_of_the_layer_and_stay_few() {
        for area in [1e-5, 0.06, 4.0] {
            for amount in [0.1, 0.5, 1.0, 2.0, 3.5, 10.0] {
                let all = grains(&BondFailure { area, ..crack() }, amount);
                let wanted = amount * 0.002 * area * area.sqrt();
                assert!(
                    (volume(&all) / wanted - 1.0).abs() < 0.05,
                    "{area} {amount} {}",
                    volume(&all) / wanted
                );
                assert!(all.len() <= most_grains(amount) && all.len() <= 4 * 96, "{}", all.len());
            }
        }
        let counts = |amount| grains(&crack(), amount).len();
        assert_eq!([counts(1.0), counts(10.0), counts(0.0), counts(f64::NAN)], [96, 384, 0, 0]);
        assert!(grains(&BondFailure { area: 0.0, ..crack() }, 1.0).is_empty());
    }

    /// Fails with an exponent of 2 or 3, and where radii are spread evenly.
    #[test]
    fn counts_above_a_radius_follow_the_power_law() {
        let radii = radii(0.06, 10.0);
        let (largest, least) = (0.06_f64.sqrt() / 24.0, radii[radii.len() - 1]);
        assert!(radii.is_sorted_by(|a, b| a > b) && radii[0] <= largest && least < 0.6 * largest);
        let above = |radius: f64| libm::pow(radius, -2.5);
        let bottom = (above(least) - above(largest)) * radii.len() as f64 / (radii.len() as f64 - 0.5);
        for share in [1.1, 1.3, 1.5, 1.7] {
            let radius = least * share;
            let counted = radii.iter().filter(|r| **r > radius).count() as f64;
            let expected = radii.len() as f64 * (above(radius) - above(largest)) / bottom;
            assert!((counted - expected).abs() < 3.0, "above {radius}: {counted} and {expected}");
        }
    }

    /// Fails where grains begin beside the plane, where one axis is taken for the other, or where speeds have no bound.
    #[test]
    fn grains_begin_on_the_crack_and_leave_it_to_both_sides() {
        let crack = crack();
        let [a, b] = crack.half_axes;
        let all = grains(&crack, 10.0);
        let mut reach = [0.0f64; 2];
        for grain in &all {
            let place = grain.position - crack.centre;
            assert!(place.dot(crack.normal).abs() < 1e-12);
            for (far, axis) in reach.iter_mut().zip([a, b]) {
                *far = far.max(place.dot(axis.normalize()).abs() / axis.length());
            }
            let own = grain.velocity - crack.velocity;
            assert!(own.length() <= 2.0 + 1e-12);
        }
        assert!(reach.iter().all(|far| *far > 0.95 && *far <= 1.0 + 1e-12), "{reach:?}");
        let to_second = |grain: &&Grain| (grain.velocity - crack.velocity).dot(crack.normal) > 0.0;
        let share = all.iter().filter(to_second).count() as f64 / all.len() as f64;
        assert!((share - 0.5).abs() < 0.12, "{share}");
        let fast = grains(&BondFailure { release: 1e9, ..crack }, 1.0);
        assert!(fast.iter().all(|grain| (grain.velocity - crack.velocity).length() <= FASTEST + 1e-12));
        // What shear crushes is thrown along the crack rather than across it.
        let across = |crack: &BondFailure| -> f64 {
            grains(crack, 10.0)
                .iter()
                .map(|grain| (grain.velocity - crack.velocity).dot(crack.normal).abs())
                .sum()
        };
        assert!(across(&BondFailure { mode: Mode::Shear, ..crack }) < 0.6 * across(&crack));
    }

    /// Fails where a factor of the moments is wrong, or where the longer side gets the shorter axis.
    #[test]
    fn the_rectangle_has_the_moments_of_the_area() {
        let normal = DVec3::new(2.0, -1.0, 2.0) / 3.0;
        let (s, t) = normal.any_orthonormal_pair();
        for turn in [0.0, 0.4, 1.2, 2.5] {
            let (sin, cos) = (libm::sin(turn), libm::cos(turn));
            let axes = [(s * cos + t * sin) * 0.4, (t * cos - s * sin) * 0.1];
            let area = 4.0 * 0.4 * 0.1;
            let outer = |v: DVec3| DMat3::from_cols(v * v.x, v * v.y, v * v.z);
            let moments = (outer(axes[0]) + outer(axes[1])) * (area / 3.0);
            for (found, axis) in half_axes(area, normal, &moments).iter().zip(axes) {
                assert!(found.distance(axis).min(found.distance(-axis)) < 1e-9, "{turn}: {found} {axis}");
            }
        }
        let square = half_axes(4.0, normal, &DMat3::ZERO);
        assert!(square.iter().all(|axis| (axis.length() - 1.0).abs() < 1e-12));
    }
}
