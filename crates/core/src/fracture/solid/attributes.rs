//! Attributes of corners of cut triangles.

use glam::{DVec3, Vec3};

use crate::{
    fracture::Volume,
    geometry::srgb,
    shape::{Corner, world_uv},
};

/// A corner of a crack: `units` is its position in units of the pattern, `place` in shape space.
#[must_use]
pub fn crack_corner(volume: &Volume, units: DVec3, place: DVec3, normal: Vec3) -> Corner {
    let color = volume.color_at(units.round().as_ivec3().to_array());
    Corner { normal, color, uv: world_uv(place, normal), uv2: [0.0; 2] }
}

/// Attributes of a point of a triangle, by its shares of the three corners.
#[must_use]
pub fn mixed(corners: &[Corner; 3], shares: [f32; 3]) -> Corner {
    if let Some(k) = shares.iter().position(|share| *share == 1.0) {
        return corners[k];
    }
    let sum = |of: &dyn Fn(&Corner) -> f32| corners.iter().zip(shares).map(|(c, w)| of(c) * w).sum::<f32>();
    let normal = Vec3::new(sum(&|c| c.normal.x), sum(&|c| c.normal.y), sum(&|c| c.normal.z));
    Corner {
        normal: normal.normalize_or(corners[0].normal),
        color: srgb::mixed(corners.map(|c| c.color), shares.map(f64::from)),
        uv: [0, 1].map(|k| sum(&|c| c.uv[k])),
        uv2: [0, 1].map(|k| sum(&|c| c.uv2[k])),
    }
}
