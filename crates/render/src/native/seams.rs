//! Draws gold lines on an unbroken body where cracks would reach its surface, and marks cells, like
//! `shaders/render/seams.wgsl`.

use glam::Vec3;

use super::{
    scene::{Scene, smoothstep, unit_from_hash},
    wide::exp2,
};
use crate::svo::unpack_cut;

pub(super) const CELL_NONE: u32 = u32::MAX;
/// Layout of a voxel's list: `shaders/shared/seams.wgsl`.
const SEAM_WORDS: u32 = 8;
const SEAM_ALL: u32 = 15;
const SEAM_PLANES: u32 = 256;
const SEAM_QUIET: u32 = 512;
const SEAM_REACH: f32 = 128.0;
/// Half the width of a line and reach of its glow, units (16384 per grid side).
const SEAM_HALF: f32 = 42.0;
const SEAM_GLOW: f32 = 40.0;
/// Share of gold at the glow's inner edge.
const SEAM_HALO: f32 = 0.42;
const SEAM_UNITS: f32 = 16384.0;

/// Effect of a seam on a surface point.
#[derive(Clone, Copy)]
pub(super) struct Seam {
    /// 1 on the line, less in its glow, 0 elsewhere.
    pub gold: f32,
    /// Tilt of the line's rounded profile, to be added to the normal, grid space.
    pub lean: Vec3,
    /// The point's cell, if cells are marked; otherwise [`CELL_NONE`].
    pub cell: u32,
}

const NONE: Seam = Seam { gold: 0.0, lean: Vec3::ZERO, cell: CELL_NONE };

/// The nearest crack along the surface.
struct Border {
    /// Distance, units.
    distance: f32,
    /// Direction away from it within the surface, of length 1 or less.
    away: Vec3,
}

/// `point` and `normal` (unit) in grid space; `into` is the unit ray direction, `pixel` the width of a pixel, voxels.
pub(super) fn seam_at(
    scene: &Scene<'_>,
    body: u32,
    point: Vec3,
    into: Vec3,
    normal: Vec3,
    pixel: f32,
) -> Seam {
    let level = scene.bodies[body as usize].level;
    let side = (1u32 << level) as f32;
    // Moved slightly along the ray, since a hit on a voxel's face would be ambiguous.
    let inside = (point + into * 0.02).clamp(Vec3::ZERO, Vec3::splat(side - 1.0));
    let Some(record) = record(scene, body, inside.to_array().map(|v| v as u32)) else { return NONE };
    let Some(&listed) = scene.seams.get(record) else { return NONE };
    let thin = pixel * (SEAM_UNITS / side);
    let p = point * (SEAM_UNITS / side);
    let is_quiet = listed & SEAM_QUIET != 0;
    let cells_marked = scene.frame.kept_object & scene.frame.hovered_cell != CELL_NONE;
    if is_quiet && !cells_marked {
        return NONE;
    }
    if !is_quiet && (listed == 0 || listed >= SEAM_PLANES) {
        // Planes do not tell their side; the seeds' cells do.
        let mut found = NONE;
        if listed != 0 {
            let border = planes_border(scene, record, listed - SEAM_PLANES, level, point, normal);
            found = drawn(&border, p, thin);
        }
        if cells_marked {
            found.cell = nearest_cell(scene, p, CELL_NONE);
        }
        return found;
    }
    let number = listed & !SEAM_QUIET;
    let all = number == SEAM_ALL;
    let count = if all { scene.frame.seam_seeds } else { number };
    let cell = |k: u32| match all {
        true => k,
        false => (scene.seams[record + 1 + (k as usize >> 1)] >> (16 * (k & 1))) & 0xffff,
    };
    let (mut own, mut nearest) = (0, 3e38);
    for c in (0..count).map(cell) {
        let away = seed(scene, c) - p;
        let d = away.dot(away);
        if d < nearest {
            (own, nearest) = (c, d);
        }
    }
    if is_quiet {
        return Seam { cell: own, ..NONE };
    }
    let s = seed(scene, own);
    let object = object_of(scene, own);
    let mut border = Border { distance: 1e9, away: Vec3::ZERO };
    for c in (0..count).map(cell).filter(|c| *c != own && object_of(scene, *c) != object) {
        let t = seed(scene, c);
        let across = (t - s) / (t - s).length().max(1.0);
        // Measured along the surface, since a crack that enters at a slant would otherwise draw a broad line.
        let in_surface = across - normal * across.dot(normal);
        let slant = in_surface.length().max(0.22);
        let d = ((s + t) * 0.5 - p).dot(across) / slant;
        if d < border.distance {
            border = Border { distance: d, away: -in_surface / slant };
        }
    }
    Seam { cell: own, ..drawn(&border, p, thin) }
}

/// First word of the list of the voxel that contains a cell.
fn record(scene: &Scene<'_>, body: u32, cell: [u32; 3]) -> Option<usize> {
    let (body, tree) = (&scene.bodies[body as usize], &scene.trees[body as usize]);
    let frame = &scene.frame;
    let index = (1..=frame.seam_level.min(body.level)).try_fold(body.root, |index, k| {
        let node = tree.nodes[index as usize];
        let bit = body.level - k;
        let octant = (cell[0] >> bit & 1) | (cell[1] >> bit & 1) << 1 | (cell[2] >> bit & 1) << 2;
        (node.masks >> octant & 1 == 1).then(|| node.child(octant))
    })?;
    Some((4 * frame.seam_seeds + SEAM_WORDS * index.checked_sub(frame.seam_first)?) as usize)
}

fn seed(scene: &Scene<'_>, cell: u32) -> Vec3 {
    let at = 4 * cell as usize;
    Vec3::new(
        scene.seams[at] as i32 as f32,
        scene.seams[at + 1] as i32 as f32,
        scene.seams[at + 2] as i32 as f32,
    )
}

fn object_of(scene: &Scene<'_>, cell: u32) -> u32 {
    scene.seams[4 * cell as usize + 3]
}

/// The nearest of a list's planes, which are relative to the centre of the preview's voxel, in its edge lengths.
fn planes_border(
    scene: &Scene<'_>,
    record: usize,
    count: u32,
    level: u32,
    point: Vec3,
    normal: Vec3,
) -> Border {
    let seam_level = scene.frame.seam_level;
    let q = point / (1u32 << (level - seam_level)) as f32;
    let from_middle = q - q.floor() - 0.5;
    let mut best = Border { distance: 1e9, away: Vec3::ZERO };
    for k in 0..count.min(SEAM_WORDS - 1) as usize {
        let Some((across, offset)) = unpack_cut(scene.seams[record + 1 + k]) else { continue };
        let in_surface = across - normal * across.dot(normal);
        let slant = in_surface.length().max(0.22);
        let d = (from_middle.dot(across) - offset) / slant * (SEAM_UNITS / (1u32 << seam_level) as f32);
        if d.abs() < best.distance {
            let sign = if d > 0.0 {
                1.0
            } else if d < 0.0 {
                -1.0
            } else {
                0.0
            };
            best = Border { distance: d.abs(), away: in_surface * sign / slant };
        }
    }
    best
}

/// Smooth noise in [0, 1) with one knot per unit.
fn unevenness(p: Vec3) -> f32 {
    let low = p.floor();
    let f = p - low;
    let s = f * f * (3.0 - 2.0 * f);
    let cell = low.as_ivec3().as_uvec3();
    (0..8u32)
        .map(|k| {
            let o = [k & 1, k >> 1 & 1, k >> 2];
            let weight = |axis: usize| if o[axis] == 1 { s[axis] } else { 1.0 - s[axis] };
            let word = cell.x.wrapping_add(o[0]).wrapping_mul(73_856_093)
                ^ cell.y.wrapping_add(o[1]).wrapping_mul(19_349_663)
                ^ cell.z.wrapping_add(o[2]).wrapping_mul(83_492_791);
            weight(0) * weight(1) * weight(2) * unit_from_hash(word)
        })
        .sum()
}

/// Gold and tilt at point `p` (units) near a crack, if a pixel is `thin` units wide.
fn drawn(border: &Border, p: Vec3, thin: f32) -> Seam {
    // Varies the width as if drawn by hand.
    let laid = SEAM_HALF * (0.72 + 0.5 * unevenness(p * (1.0 / 420.0)));
    // Like the shader's `clamp`, the upper bound wins if the bounds cross.
    let half_width = (0.9 * thin).max(laid).min(0.7 * SEAM_REACH);
    // Neither line nor its soft edge reaches beyond the lists' data.
    let rim = (0.6 * thin).min(0.28 * SEAM_REACH);
    let line = 1.0 - smoothstep(half_width - rim, half_width + rim, border.distance);
    let beyond = (border.distance - half_width).max(0.0) / SEAM_GLOW;
    let halo = SEAM_HALO * exp2(-beyond * beyond * 1.4);
    let edge = (border.distance / half_width).clamp(0.0, 1.0);
    let halo = if halo > 0.03 { halo } else { 0.0 };
    Seam { gold: line.max(halo), lean: border.away * edge * line, cell: CELL_NONE }
}

/// The cell at point `p` (units): the nearest seed, the lowest of equally near ones; among the cells of `object`, or
/// all with [`CELL_NONE`].
pub(super) fn nearest_cell(scene: &Scene<'_>, p: Vec3, object: u32) -> u32 {
    let (mut own, mut nearest) = (CELL_NONE, 3e38);
    for k in 0..scene.frame.seam_seeds {
        let away = seed(scene, k) - p;
        let d = away.dot(away);
        if (object == CELL_NONE || object_of(scene, k) == object) && d < nearest {
            (own, nearest) = (k, d);
        }
    }
    own
}
