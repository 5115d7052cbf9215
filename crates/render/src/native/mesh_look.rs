//! Appearance of a surface's triangle at a hit, like `shaders/render/mesh_look.wgsl`.

use glam::{Vec2, Vec3, Vec4};

use super::{scene::Surface, surface::Surface as Look};
use crate::{
    effects::Effect,
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
    /// Emitted light, linear.
    pub light: Vec3,
}

/// `point` and the ray direction `d` in the body's grid, `triangle` in the order of the leaves; `effects` of the
/// surface's materials, or none.
#[inline(always)]
pub(super) fn mesh_look(
    surface: &Surface<'_>,
    effects: &[Effect],
    triangle: u32,
    point: Vec3,
    d: Vec3,
) -> MeshLook {
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
        color = rgb(*base) * texel.truncate();
    }
    let mut light = Vec3::ZERO;
    if let Side::Outside { material } = side
        && let Some(effect) = effects.get(material as usize)
    {
        let map = effect.map.as_ref().filter(|_| uv.abs().max_element() < 1e6);
        let texel = map.and_then(|map| sample(map, uv)).map_or(Vec3::ONE, Vec4::truncate);
        light = effect.light * texel * texel;
    }
    // A hit from inside, or on an open surface's back.
    if flat.dot(d) > 0.0 {
        normal = -normal;
    }
    let look = Look { normal, color: color * color };
    MeshLook { look, is_inside: side.is_crack(), triangle: stored.index, light }
}

fn rgb([r, g, b]: [u8; 3]) -> Vec3 {
    Vec3::new(f32::from(r), f32::from(g), f32::from(b)) / 255.0
}

/// Whether a triangle, in the order of the leaves, has a hole where its corners have these weights: its material is
/// less opaque there than what is drawn.
pub(super) fn is_hole(surface: &Surface<'_>, effects: &[Effect], triangle: u32, weights: [f32; 3]) -> bool {
    let shown = surface.solid.surface();
    let index = surface.tree.triangles[triangle as usize].index as usize;
    let Side::Outside { material } = shown.faces[index].side else { return false };
    let Some(least) = effects.get(material as usize).map(|effect| effect.least_opacity) else { return false };
    if least <= 0.0 {
        return false;
    }
    let corners = shown.corners[index].iter().zip(weights);
    let uv = corners.fold(Vec2::ZERO, |uv, (corner, weight)| uv + Vec2::from(corner.uv) * weight);
    let texture = surface.solid.materials().get(material as usize).and_then(|of| of.texture.as_deref());
    let texture = texture.filter(|_| uv.abs().max_element() < 1e6);
    texture.and_then(|texture| sample(texture, uv)).map_or(1.0, |texel| texel.w) < least
}

/// Colour and opacity, bilinear and repeating; v points up while rows run down. `None` if texels are missing.
fn sample(texture: &Texture, uv: Vec2) -> Option<Vec4> {
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
        Vec4::from(texels[y * width + x].map(f32::from)) / 255.0
    };
    let top = at(0.0, 0.0).lerp(at(1.0, 0.0), part.x);
    let bottom = at(0.0, 1.0).lerp(at(1.0, 1.0), part.x);
    Some(top.lerp(bottom, part.y))
}
