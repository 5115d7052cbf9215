//! Appearance of a surface's triangle at a hit, like `shaders/render/mesh_look.wgsl`.

use glam::{Vec2, Vec3};

use super::{scene::Surface, surface::Surface as Look};
use crate::{
    mesh::{Material, Texture},
    shape::Side,
};

/// Appearance of a triangle.
pub(super) struct MeshLook {
    /// Normal in the body's grid, towards the camera; colour as from [`color_of`](super::surface::color_of).
    pub look: Look,
    pub is_inside: bool,
    /// Index of the surface's triangle.
    pub triangle: u32,
}

/// `point` and the ray direction `d` in the body's grid, `triangle` in the order of the leaves.
#[inline(always)]
pub(super) fn mesh_look(surface: &Surface<'_>, triangle: u32, point: Vec3, d: Vec3) -> MeshLook {
    let stored = &surface.tree.triangles[triangle as usize];
    let [a, b, c] = [stored.a, stored.b, stored.c].map(Vec3::from);
    let flat = (b - a).cross(c - a);
    let areas = Vec3::new(
        flat.dot((c - b).cross(point - b)),
        flat.dot((a - c).cross(point - c)),
        flat.dot((b - a).cross(point - a)),
    );
    let inner = areas.max(Vec3::ZERO);
    let whole = inner.element_sum();
    let weights = if whole > 1e-37 { inner / whole } else { Vec3::X };
    let shown = surface.solid.surface();
    let index = stored.index as usize;
    let corners = &shown.corners[index];
    let (mut normal, mut color, mut uv) = (Vec3::ZERO, Vec3::ZERO, Vec2::ZERO);
    for (corner, weight) in corners.iter().zip(weights.to_array()) {
        normal += corner.normal * weight;
        color += rgb(corner.color) * weight;
        uv += Vec2::from(corner.uv) * weight;
    }
    let side = shown.faces[index].side;
    if let Side::Outside { material } = side
        && let Some(Material { color: base, texture: Some(texture), .. }) =
            surface.solid.materials().get(material as usize)
        && uv.abs().max_element() < 1e6
        && let Some(texel) = sample(texture, uv)
    {
        color = rgb(*base) * texel;
    }
    // A hit from inside, or on an open surface's back.
    if flat.dot(d) > 0.0 {
        normal = -normal;
    }
    let look = Look { normal, color: color * color };
    MeshLook { look, is_inside: side == Side::Inside, triangle: stored.index }
}

fn rgb([r, g, b]: [u8; 3]) -> Vec3 {
    Vec3::new(f32::from(r), f32::from(g), f32::from(b)) / 255.0
}

/// Bilinear and repeating; v points up while rows run down. `None` if texels are missing.
fn sample(texture: &Texture, uv: Vec2) -> Option<Vec3> {
    let (width, height) = (texture.width as usize, texture.height as usize);
    let texels = texture.rgba.as_chunks::<4>().0.get(..width.checked_mul(height)?)?;
    if texels.is_empty() {
        return None;
    }
    let size = Vec2::new(width as f32, height as f32);
    let place = Vec2::new(uv.x - uv.x.floor(), 1.0 - (uv.y - uv.y.floor())) * size - 0.5;
    let low = place.floor();
    let part = place - low;
    let at = |x: f32, y: f32| {
        let (x, y) = ((low.x + size.x + x) as usize % width, (low.y + size.y + y) as usize % height);
        let [r, g, b, _] = texels[y * width + x];
        rgb([r, g, b])
    };
    let top = at(0.0, 0.0).lerp(at(1.0, 0.0), part.x);
    let bottom = at(0.0, 1.0).lerp(at(1.0, 1.0), part.x);
    Some(top.lerp(bottom, part.y))
}
