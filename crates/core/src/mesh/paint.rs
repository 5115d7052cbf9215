//! Colours for the built-in shapes: smooth noise and mixing, in sRGB. In: a point. Out: bytes.

use glam::Vec3;

/// `a` at 0, `b` at 1.
pub(super) fn mix(a: [u8; 3], b: [u8; 3], t: f32) -> [u8; 3] {
    let t = t.clamp(0.0, 1.0);
    std::array::from_fn(|k| (f32::from(a[k]) * (1.0 - t) + f32::from(b[k]) * t).round() as u8)
}

/// A colour darkened (below 1) or lightened by a factor.
pub(super) fn shade(color: [u8; 3], factor: f32) -> [u8; 3] {
    color.map(|c| (f32::from(c) * factor).round().clamp(0.0, 255.0) as u8)
}

/// 0 below `low`, 1 above `high`, smooth between.
pub(super) fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Mottled stone between two colours, with thin darker veins; features of a few hundredths of the shape's size.
pub(super) fn stone(p: Vec3, light: [u8; 3], dark: [u8; 3]) -> [u8; 3] {
    let cloud = fractal(p * 5.0);
    let grain = noise(p * 61.0) * 0.18;
    let vein = 1.0 - ((fractal(p * 3.0 + Vec3::splat(7.3)) - 0.5).abs() * 14.0).min(1.0);
    mix(light, dark, (cloud - 0.35) * 1.3 + grain + vein * vein * 0.45)
}

/// Four octaves of [`noise`], 0..1.
pub(super) fn fractal(p: Vec3) -> f32 {
    let (mut sum, mut weight, mut scale) = (0.0, 0.5, 1.0);
    for _ in 0..4 {
        sum += weight * noise(p * scale);
        weight *= 0.5;
        scale *= 2.03;
    }
    sum / 0.9375
}

/// Value noise on the integer lattice, 0..1.
pub(super) fn noise(p: Vec3) -> f32 {
    let cell = p.floor();
    let f = p - cell;
    let w = f * f * (Vec3::splat(3.0) - 2.0 * f);
    let corner = |x: i32, y: i32, z: i32| {
        let mix_bits = |h: u32, k: i32| (h ^ k as u32).wrapping_mul(0x9e37_79b1).rotate_left(13);
        let mut h = [cell.x as i32 + x, cell.y as i32 + y, cell.z as i32 + z]
            .iter()
            .fold(0x5bd1, |h, &k| mix_bits(h, k));
        h = (h ^ (h >> 15)).wrapping_mul(0x85eb_ca6b);
        (h >> 8) as f32 / (1u32 << 24) as f32
    };
    let lerp = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let edge = |y, z| lerp(corner(0, y, z), corner(1, y, z), w.x);
    lerp(lerp(edge(0, 0), edge(1, 0), w.y), lerp(edge(0, 1), edge(1, 1), w.y), w.z)
}
