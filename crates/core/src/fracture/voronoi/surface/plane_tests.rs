//! Whole-number planes against 64-bit floats.

use glam::DVec3;

use super::*;
use crate::{
    fracture::voronoi::surface::random::Random,
    svo::{LeafColor, unpack_cut, unpack_normal},
};

/// The most by which a word's coordinates, unfolded, differ from those of a normal, steps.
fn steps_off(word: u32, bits: u32, normal: DVec3) -> f64 {
    let steps = f64::from((1u32 << (bits - 1)) - 1);
    let part = |v: u32| f64::from((v << (32 - bits)) as i32 >> (32 - bits));
    let (x, y) = (part(word), part(word >> bits));
    let z = steps - x.abs() - y.abs();
    let inwards = |v: f64| v + z.min(0.0).copysign(-v);
    let wanted = normal * steps / (normal.x.abs() + normal.y.abs() + normal.z.abs());
    (DVec3::new(inwards(x), inwards(y), z) - wanted).abs().max_element()
}

/// A component of any size up to 2^bits.
fn any_size(rng: &mut Random, bits: u32) -> i32 {
    let end = 1u64 << rng.below(u64::from(bits) + 1);
    match rng.below(8) {
        0 => 0,
        1 => end as i32,
        2 => -(end as i32),
        _ => rng.below(2 * end + 1) as i32 - end as i32,
    }
}

fn vector(rng: &mut Random, bits: u32) -> IVec3 {
    IVec3::new(any_size(rng, bits), any_size(rng, bits), any_size(rng, bits))
}

#[test]
fn roots_are_the_nearest() {
    let mut rng = Random::new(3);
    let edges = (1..=65535u64).step_by(97).flat_map(|r| [r * r - 1, r * r, r * r + r, r * r + r + 1]);
    let squares: Vec<u64> = edges.chain((0..100_000).map(|_| rng.below(1 << 32))).collect();
    for n in squares {
        let r = u64::from(root(n as u32));
        // (r - 1/2)^2 < n < (r + 1/2)^2, times four.
        assert!((2 * r).saturating_sub(1).pow(2) <= 4 * n && 4 * n < (2 * r + 1).pow(2), "{n}: {r}");
    }
}

#[test]
fn scaled_vectors_keep_their_direction_and_length() {
    let mut rng = Random::new(5);
    for _ in 0..200_000 {
        let v = vector(&mut rng, 24);
        let Scaled { vector, length, shift } = Scaled::new(v);
        let largest = vector.abs().max_element();
        assert!((1 << 14..=1 << 15).contains(&largest) && (-15..=9).contains(&shift), "{v}: {vector}");
        if v == IVec3::ZERO {
            continue;
        }
        let back = vector.as_dvec3() * 2f64.powi(shift);
        let half = 2f64.powi(shift - 1);
        assert!((back - v.as_dvec3()).abs().max_element() <= if shift > 0 { half } else { 0.0 }, "{v}");
        assert!((f64::from(length) - vector.as_dvec3().length()).abs() <= 0.5, "{v}");
        assert_eq!(Scaled::new(-v), Scaled { vector: -vector, length, shift });
    }
}

#[test]
fn quotients_are_rounded_and_end_where_they_should() {
    let mut rng = Random::new(7);
    let mut ends = 0;
    for _ in 0..400_000 {
        let numerator = (rng.below(1 << 32) >> rng.below(33)) as u32;
        let denominator = 1 + (rng.below(56_756) >> rng.below(16)) as u32;
        let shift = rng.below(46) as i32 - 14;
        let exact = f64::from(numerator) * 2f64.powi(shift) / f64::from(denominator);
        let got = f64::from(quotient(numerator, shift, denominator));
        let wanted = exact.min(f64::from(FARTHEST));
        ends += u32::from(got == f64::from(FARTHEST));
        // Below a shift of -3 the numerator loses less than one part of eight denominators.
        let slack = if shift < -3 { 0.5 + 0.125 / f64::from(denominator) } else { 0.5 };
        assert!((got - wanted).abs() <= slack, "{numerator} << {shift} / {denominator}: {got}, not {wanted}");
    }
    assert!(ends > 10_000);
}

#[test]
fn bisectors_equal_those_of_floats() {
    let mut rng = Random::new(11);
    let (mut off, mut turned_by, mut near) = (0f64, 0f64, 0);
    for i in 0..200_000 {
        let level = 1 + rng.below(12) as u32;
        let edge = 1i32 << (14 - level);
        let centre =
            IVec3::from_array(std::array::from_fn(|_| rng.below(1 << level) as i32 * edge + edge / 2));
        // Half of them near the leaf, the others anywhere: also at the ends, and in one place.
        let mut seed = || {
            if i % 2 == 0 {
                (centre + vector(&mut rng, 15 - level)).clamp(IVec3::splat(-8192), IVec3::splat(24576))
            } else {
                (8192 + vector(&mut rng, 14)).clamp(IVec3::splat(-8192), IVec3::splat(24576))
            }
        };
        let (own, other) = (seed(), seed());
        let own_distance2 = (centre - own).length_squared();
        let plane = Plane::bisector(own, own_distance2, other, centre, edge);
        if own == other {
            assert_eq!(plane, Plane::UP);
            continue;
        }
        let back = Plane::bisector(other, (centre - other).length_squared(), own, centre, edge);
        assert_eq!(back, plane.turned());
        let towards = (other - own).as_dvec3();
        let (d, e) =
            ((centre - other).as_dvec3().length_squared(), (centre - own).as_dvec3().length_squared());
        let exact = (d - e) / (2.0 * towards.length() * f64::from(edge)) * 4096.0;
        let farthest = f64::from(FARTHEST);
        near += i32::from(exact.abs() < farthest);
        off = off.max((f64::from(plane.offset) - exact.clamp(-farthest, farthest)).abs());
        turned_by = turned_by.max(steps_off(plane.normal_word(), 16, towards));
        assert!(steps_off(plane.cut_word(), 12, towards) < 1.1);
    }
    println!("{near} near ones; offsets {off:.3} / 4096 off, normals {turned_by:.3} steps");
    assert!(near > 50_000 && off < 0.9 && turned_by < 1.1);
}

/// Leaves at the corners of the grid and seeds at the ends of where they may lie, at every level: what is squared and
/// subtracted on the way stays within 32 bits, and the plane is that of 128 bits.
#[test]
fn the_farthest_seeds_and_the_finest_leaves_stay_within_32_bits() {
    let ends = [-8192, 0, 8191, 8192, 16384, 24575, 24576];
    let seeds = || (0..7 * 7 * 7).map(|i| IVec3::new(ends[i % 7], ends[i / 7 % 7], ends[i / 49]));
    let squared = |v: IVec3| v.to_array().iter().map(|c| i128::from(*c).pow(2)).sum::<i128>();
    for level in [1, 9, 10, 11, 12] {
        let edge = 1i32 << (14 - level);
        let (low, high) = (edge / 2, 16384 - edge / 2);
        for corner in 0..8 {
            let centre = IVec3::from_array([0, 1, 2].map(|k| if corner >> k & 1 == 1 { high } else { low }));
            for (own, other) in seeds().flat_map(|own| seeds().step_by(5).map(move |other| (own, other))) {
                let [near, far] = [squared(centre - own), squared(centre - other)];
                assert!(near <= i128::from(i32::MAX) && far <= i128::from(i32::MAX));
                if own == other {
                    continue;
                }
                let plane = Plane::bisector(own, near as i32, other, centre, edge);
                let exact =
                    (far - near) as f64 / (2.0 * (squared(other - own) as f64).sqrt() * f64::from(edge));
                let exact = (exact * 4096.0).clamp(-f64::from(FARTHEST), f64::from(FARTHEST));
                assert!(
                    (f64::from(plane.offset) - exact).abs() < 0.9,
                    "{level} {own} {other}: {plane:?} {exact}"
                );
            }
        }
    }
}

#[test]
fn planes_of_triangles_equal_those_of_floats() {
    let mut rng = Random::new(13);
    let (mut off, mut turned_by, mut near) = (0f64, 0f64, 0);
    for _ in 0..200_000 {
        let normal = vector(&mut rng, 19);
        let bits = 1 + rng.below(9) as u32;
        let edge = f64::from(1 << bits);
        // Any height, mostly near.
        let reach = normal.as_dvec3().length() * edge * 2.5;
        let height = if rng.below(10) == 0 {
            any_size(&mut rng, 30)
        } else {
            ((rng.below(2001) as f64 / 1000.0 - 1.0) * reach).clamp(-2e9, 2e9) as i32
        };
        if normal == IVec3::ZERO {
            continue;
        }
        let plane = Plane::through(normal, height, bits);
        assert_eq!(Plane::through(-normal, -height, bits), plane.turned());
        let exact = f64::from(height) / (normal.as_dvec3().length() * edge) * 4096.0;
        let farthest = f64::from(FARTHEST);
        near += i32::from(exact.abs() < farthest);
        off = off.max((f64::from(plane.offset) - exact.clamp(-farthest, farthest)).abs());
        turned_by = turned_by.max(steps_off(plane.normal_word(), 16, normal.as_dvec3()));
    }
    println!("{near} near ones; offsets {off:.3} / 4096 off, normals {turned_by:.3} steps");
    assert!(near > 100_000 && off < 1.25 && turned_by < 3.0);
}

#[test]
fn words_come_back() {
    let mut rng = Random::new(17);
    for _ in 0..200_000 {
        let (normal, color, cut) =
            (rng.below(1 << 32) as u32, rng.below(1 << 32) as u32, rng.below(1 << 32) as u32);
        let plane = Plane::of_surface(normal, color);
        let wanted = unpack_normal(normal).as_dvec3();
        let got = plane.normal.as_dvec3().normalize();
        // The lowest number is no snorm; nothing writes it.
        let is_snorm = normal as u16 != 0x8000 && normal >> 16 != 0x8000;
        assert!(!is_snorm || (got - wanted).length() < 1e-5, "{normal:x}: {got}, not {wanted}");
        assert_eq!(f64::from(plane.offset) / 4096.0, f64::from(LeafColor(color).offset()));
        assert_eq!(plane.color_offset(), color & 0xfe00_0000);
        assert_eq!(plane.crack_word(), color & 0xfe00_0000 | 1 << 24);
        // Where z is 0 or a coordinate is, there are two words for one normal.
        let in_words = plane.normal.x != 0 && plane.normal.y != 0 && plane.normal.z != 0;
        assert!(!in_words || !is_snorm || plane.normal_word() == normal, "{normal:x}");

        let planes = (Plane::of_cut(cut), unpack_cut(cut));
        let (Some(plane), Some((wanted, offset))) = planes else {
            assert!(planes.0.is_none() && planes.1.is_none());
            continue;
        };
        assert_eq!(f64::from(plane.offset) / 4096.0, f64::from(offset));
        let got = plane.normal.as_dvec3().normalize();
        let is_snorm = cut & 0xfff != 0x800 && cut >> 12 & 0xfff != 0x800;
        assert!(!is_snorm || (got - wanted.as_dvec3()).length() < 1e-5, "{cut:x}: {got}, not {wanted}");
        let in_words = plane.normal.x != 0 && plane.normal.y != 0 && plane.normal.z != 0;
        assert!(!in_words || !is_snorm || plane.cut_word() == cut, "{cut:x}");
    }
    assert_eq!(Plane::UP.turned().turned(), Plane::UP);
    assert_eq!(Plane::UP.normal_word(), 0);
    for (offset, color, cut) in [(8192, 63, 255), (-8192, -64, 1), (32, 1, 129), (-32, -1, 127), (31, 0, 129)]
    {
        let plane = Plane { offset, ..Plane::UP };
        assert_eq!(plane.color_offset() as i32 >> 25, color);
        assert_eq!(plane.cut_word() >> 24, cut);
    }
}
