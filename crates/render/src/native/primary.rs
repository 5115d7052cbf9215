//! First hits and their appearance, like `shaders/render/primary.wgsl`.

use glam::Vec3;

use super::{
    mesh_look::mesh_look,
    scene::{
        BODY_FLOOR, BODY_SKY, FLAG_EMITS, GOLD_MOST, GOLD_SHIFT, Hit, MARK_GLASS, MARK_MATT, MARK_SELECTED,
        NO_LEAF, Scene, point_through, smoothstep, vector_through,
    },
    seams::{CELL_NONE, nearest_cell, seam_at},
    surface::{Blends, Surface, UNKNOWN_INSIDE, color_of, inside_look, painter_of},
    wide::{cut_of, has_cut, normal_of},
};
use crate::geometry::simd::F32x8;
use crate::{
    effects::glow_word,
    fracture::{Material, Volume},
    surfaces::HitData,
    svo::pack_normal,
    tables::BodyData,
};

/// Grain size of material volumes, units (2^14 per grid side); if a pixel covers more grains, the voxels' colours are
/// used.
const GRAIN: f32 = 75.0;
/// A cut face, where crack faces and the original surface have colours of their own; sRGB.
const CAP: Vec3 = Vec3::new(0.34, 0.36, 0.40);
/// Cosine beyond which a leaf of the original surface is seen from behind. A sheet thinner than a voxel has a normal of
/// either side; a closed surface's normals lean away from the camera by less.
const BACK: f32 = 0.3;
/// How far below a hit the cell of its voxel is looked up, voxels: a hit may lie on the cell's side.
const INWARD: f32 = 1e-3;
const BODY_KEPT: u32 = 1 << 26;
const BODY_HOVERED: u32 = 1 << 27;
const BODY_BARE: u32 = 1 << 29;
/// How far the outside of clear glass is from the colour inside to white, and how bright: composing dyes by the hue alone.
const PALE: f32 = 0.35;
const FAINT: f32 = 0.25;
/// Tint of kept pieces and of the piece under the pointer; sRGB and share.
const KEPT: (Vec3, f32) = (Vec3::new(0.16, 0.50, 0.56), 0.62);
const HOVER: (Vec3, f32) = (Vec3::new(1.0, 0.97, 0.88), 0.34);

/// Stored values of a pixel whose ray hit no body up to `last`.
#[inline(always)]
pub(super) fn beyond(last: f32) -> HitData {
    // The upward normal, packed.
    const UP: u32 = 32767 << 16;
    HitData {
        body: if last < 1e9 { BODY_FLOOR } else { BODY_SKY },
        leaf: NO_LEAF,
        distance: last,
        normal: UP,
    }
}

/// Stored appearance of a hit: leaf, packed normal, colour word, and word of the light that it emits. `cap` has the
/// distance and the world normal of the face that a clipping plane opens, if the ray meets one.
#[inline(always)]
pub(super) fn appearance<L: F32x8>(
    scene: &Scene<'_>,
    (hit, cap): (&Hit, Option<(f32, Vec3)>),
    direction: Vec3,
    blends: &mut Blends,
) -> (u32, u32, u32, u32) {
    let frame = &scene.frame;
    let body = &scene.bodies[hit.body as usize];
    let tree = &scene.trees[hit.body as usize];
    let distance = cap.map_or(hit.distance, |(distance, _)| distance);
    let world = frame.eye + direction * distance;
    let in_grid = point_through(&body.grid_from_world, world);
    let [x, y, z, scale] = body.to_voxels;
    let point = in_grid * scale + Vec3::new(x, y, z);
    let d = vector_through(&body.grid_from_world, direction);
    let mesh = scene.surfaces[hit.body as usize].as_ref();
    let effects = scene.effects[hit.body as usize].as_deref().unwrap_or_default();
    let mesh = mesh.map(|surface| mesh_look(surface, effects, hit.leaf, in_grid, d));
    let axis = hit.axis as usize;
    let mut surface = Surface { normal: Vec3::ZERO, color: Vec3::ZERO };
    surface.normal[axis] = if d[axis] > 0.0 { -1.0 } else { 1.0 };
    let mut is_crack = true;
    let leaf = (hit.leaf != NO_LEAF && mesh.is_none() && cap.is_none()).then_some(hit.leaf as usize);
    let own = leaf.map_or(crate::svo::LeafColor(0), |leaf| tree.colors[leaf]);
    if leaf.is_some() {
        is_crack = own.crack() || hit.cut;
    }
    let pixel = frame.pixel_cone * distance;
    // Width of a pixel, voxels.
    let mut pixel_voxels = pixel / body.voxel;
    if let Some(own) = &mesh {
        is_crack = own.is_inside || cap.is_some();
        let [x, y, z, _] = body.grid_from_world[0];
        pixel_voxels = pixel * Vec3::new(x, y, z).length() * scale;
    }
    if let Some((_, normal)) = cap {
        surface = Surface { normal: vector_through(&body.grid_from_world, normal), color: UNKNOWN_INSIDE };
    } else if let Some(own) = &mesh {
        surface = own.look;
    } else if let Some(leaf) = leaf {
        let cut = tree.cuts[leaf];
        let is_cut = hit.cut && has_cut(cut);
        surface.normal = Vec3::from(if is_cut { cut_of(cut).0 } else { normal_of(tree.normals[leaf]) });
        if !is_cut && !own.crack() && surface.normal.dot(d) > BACK * d.length() {
            surface.normal = -surface.normal;
        }
    }
    // What cracks show here: of a piece that broke more than once, the material of the break that made this one.
    let mut shown = body.interior;
    if is_crack && cap.is_none() && body.later[0] != Volume::default() {
        if mesh.is_some() {
            shown = Volume::default();
        } else if leaf.is_some() {
            let cell = (point + d * (INWARD / d.length())).floor().as_ivec3();
            // At a rim the voxel has the colour of the original surface.
            let painted = match own.crack() {
                true => None,
                false => blends.crack_near((hit.body, body, tree), surface.normal, point),
            };
            shown = painter_of(body, painted.unwrap_or((own.rgb(), cell)));
        }
    }
    let material = shown.0[0] >> 24;
    let has_gloss = [Material::Porcelain, Material::Glass].iter().any(|of| *of as u32 == material);
    let units = (1u32 << (14 - body.level)) as f32;
    // Share of the colours of single grains that pixels of this size can show.
    let fine = 1.0 - smoothstep(0.4, 1.2, pixel_voxels * units / GRAIN);
    let smooth = surface.normal / surface.normal.length().max(1e-20);
    let mut bent = smooth;
    let mut inside = Vec3::ZERO;
    if is_crack {
        (inside, bent) = inside_look(&shown, point * units, smooth, pixel_voxels * units);
        if mesh.is_none() || cap.is_some() && material != 0 {
            surface.color = inside;
        }
    }
    if mesh.is_none() && leaf.is_some() {
        if own.crack() || !hit.cut {
            surface.color = color_of(own);
        }
        if body.voxel > 0.7 * pixel {
            surface = blends.blended::<L>((hit.body, body, tree), surface, is_crack, point);
        }
    }
    if is_crack && material != 0 {
        surface.color = surface.color.lerp(inside, fine);
        // The voxel's own normal is bent; what the blend with its neighbours adds is added here, too.
        let blended = surface.normal / surface.normal.length().max(1e-20);
        surface.normal = if cap.is_some() { blended } else { blended + bent - smooth };
    }
    if !is_crack && material == Material::Glass as u32 && body.hue_and_marks & BODY_BARE != 0 {
        let base = color_of(crate::svo::LeafColor::new(body.interior.base(), false, 0.0));
        surface.color = base.lerp(Vec3::ONE, PALE) * FAINT;
    }
    let mut gold = 0.0;
    let mut stays = body.hue_and_marks & BODY_KEPT != 0;
    let mut pointed = body.hue_and_marks & BODY_HOVERED != 0;
    if hit.body == frame.seam_body && cap.is_none() {
        let normal = surface.normal / surface.normal.length().max(1e-20);
        let seam = seam_at(scene, hit.body, point, d / d.length(), normal, pixel_voxels);
        gold = seam.gold;
        surface.normal += seam.lean * 0.55;
        if seam.cell != CELL_NONE {
            let object = scene.seams[4 * seam.cell as usize + 3];
            stays = frame.kept_object != CELL_NONE && object == frame.kept_object;
            pointed = seam.cell == frame.hovered_cell;
        }
    } else if stays && frame.hovered_cell != CELL_NONE {
        let p = point * (16384.0 / (1u32 << body.level) as f32);
        pointed = nearest_cell(scene, p, frame.kept_object) == frame.hovered_cell;
    }
    let mut normal = vector_through(&body.world_from_grid, surface.normal);
    normal /= normal.length().max(1e-20);
    // A normal that leans away from the camera would be lit from behind, so it is bent back to the silhouette.
    let away = normal.dot(direction);
    if away > 0.0 {
        normal -= direction * (away + 0.02);
        normal *= normal.length_recip();
    }
    let rgb =
        glazed(colored(scene, (hit, body), surface.color, normal, (is_crack, cap.is_some())), stays, pointed);
    let bytes = (rgb.clamp(Vec3::ZERO, Vec3::ONE) * 255.0 + 0.5).to_array().map(|v| v as u32);
    let look = bytes[0]
        | bytes[1] << 8
        | bytes[2] << 16
        | if is_crack && !has_gloss { MARK_MATT } else { 0 }
        | if material == Material::Glass as u32 { MARK_GLASS } else { 0 }
        | (body.hue_and_marks & MARK_SELECTED)
        | ((gold * GOLD_MOST + 0.5) as u32) << GOLD_SHIFT;
    let emits = frame.flags & FLAG_EMITS != 0 && cap.is_none();
    let glow = mesh.as_ref().filter(|_| emits).map_or(0, |own| glow_word(own.light));
    (mesh.map_or(hit.leaf, |own| own.triangle), pack_normal(normal), look, glow)
}

/// Colour of a hit in the chosen colouring.
#[inline(always)]
fn colored(
    scene: &Scene<'_>,
    (hit, body): (&Hit, &BodyData),
    color: Vec3,
    normal: Vec3,
    (is_crack, is_cap): (bool, bool),
) -> Vec3 {
    match scene.frame.color_by {
        1 => {
            let [r, g, b, _] = body.hue_and_marks.to_le_bytes();
            Vec3::new(f32::from(r), f32::from(g), f32::from(b)) / 255.0
        }
        2 => normal * 0.5 + 0.5,
        3 if is_cap => CAP,
        3 if is_crack => Vec3::new(0.86, 0.42, 0.12),
        3 => Vec3::new(0.62, 0.64, 0.67),
        4 => level_color(hit.level),
        _ => {
            let c = color.clamp(Vec3::ZERO, Vec3::ONE);
            Vec3::new(c.x.sqrt(), c.y.sqrt(), c.z.sqrt())
        }
    }
}

#[inline(always)]
fn glazed(rgb: Vec3, stays: bool, pointed: bool) -> Vec3 {
    let kept = if stays { rgb.lerp(KEPT.0, KEPT.1) } else { rgb };
    if pointed { kept.lerp(HOVER.0, HOVER.1) } else { kept }
}

fn level_color(level: u32) -> Vec3 {
    let x = level as f32 / 10.0;
    Vec3::new(1.6 * x - 0.25, 0.9 - (x - 0.55).abs() * 1.7, 1.0 - 1.5 * x).clamp(Vec3::splat(0.04), Vec3::ONE)
}
