//! Texture coordinates of cracks: box projection in world size.

use glam::{DVec3, Vec3};

/// Metres along the two coordinate axes most parallel to a face with this normal, not mirrored when seen from outside.
/// `at` is in shape space.
#[must_use]
pub fn world_uv(at: DVec3, normal: Vec3) -> [f32; 2] {
    let across = normal.abs();
    let axis = if across.x >= across.y && across.x >= across.z {
        0
    } else if across.y >= across.z {
        1
    } else {
        2
    };
    let (u, v) = (at[(axis + 1) % 3], at[(axis + 2) % 3]);
    [if normal[axis] < 0.0 { -u as f32 } else { u as f32 }, v as f32]
}
