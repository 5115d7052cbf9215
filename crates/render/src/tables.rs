//! Input of the kernels besides the octrees: the frame's constants, a row per body, and a bounding volume hierarchy
//! over the bodies' world boxes.
//!
//! In: the bodies of a frame. Out: plain data in the layout of `shaders/render/frame.wgsl` and `trace.wgsl`.
//!
//! The *grid* of a body is the space in which its rays are cast: voxels for an octree, the hierarchy's space for a
//! surface.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::{DMat4, DVec3, Mat4, Vec3};

use super::{Clips, PieceMark, RenderBody};
use crate::{
    fracture::{LATER, Volume},
    gpu::layout,
    shape::SolidMesh,
    svo::{Forest, Slot},
};

/// Constants of a frame; `Frame` in `shaders/render/frame.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct FrameData {
    pub eye: Vec3,
    pub pixel_cone: f32,
    pub forward: Vec3,
    pub ao_reach: f32,
    pub right: Vec3,
    pub floor_y: f32,
    pub up: Vec3,
    pub fade: f32,
    pub sun: Vec3,
    pub sun_radius: f32,
    pub target: Vec3,
    pub flags: u32,
    pub ahead: Vec3,
    pub light_step: u32,
    pub sun_tint: Vec3,
    pub samples: u32,
    pub sky_tint: Vec3,
    pub filter_radius: u32,
    pub lamp: Vec3,
    pub color_by: u32,
    pub lamp_tint: Vec3,
    pub body_count: u32,
    pub horizon: Vec3,
    pub accumulated: u32,
    pub zenith: Vec3,
    pub hairline: f32,
    pub floor_color: Vec3,
    pub hairline_reach: u32,
    pub checker: Vec3,
    pub checker_size: f32,
    pub size: [u32; 2],
    pub light_size: [u32; 2],
    pub jitter: [f32; 2],
    pub seam_body: u32,
    pub seam_level: u32,
    pub seam_first: u32,
    pub seam_seeds: u32,
    pub kept_object: u32,
    pub hovered_cell: u32,
    pub clips: [[f32; 4]; Clips::MOST],
}

layout!(FrameData as "Frame" {
    eye, pixel_cone, forward, ao_reach, right, floor_y, up, fade, sun, sun_radius, target: [target_point], flags, ahead, light_step,
    sun_tint, samples, sky_tint, filter_radius, lamp, color_by, lamp_tint, body_count, horizon, accumulated, zenith, hairline,
    floor_color, hairline_reach, checker, checker_size, size, light_size, jitter, seam_body, seam_level, seam_first, seam_seeds,
    kept_object, hovered_cell, clips
});

/// A body; `Body` in `shaders/render/trace.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct BodyData {
    pub grid_from_world: [[f32; 4]; 3],
    pub world_from_grid: [[f32; 4]; 3],
    pub low: Vec3,
    pub node_base: u32,
    pub high: Vec3,
    pub leaf_base: u32,
    pub root: u32,
    pub level: u32,
    pub hue_and_marks: u32,
    pub voxel: f32,
    pub interior: Volume,
    pub later: [Volume; LATER],
    /// For a surface, the map from its grid to its voxels: a translation, and a scale in the last number.
    pub to_voxels: [f32; 4],
}

layout!(BodyData as "Body" {
    grid_from_world, world_from_grid, low, node_base, high, leaf_base, root, level, hue_and_marks, voxel, interior, later,
    to_voxels
});

/// A box of the hierarchy; `Box` in `shaders/render/trace.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct BoxData {
    pub low: Vec3,
    /// First of two adjacent children, or [`BOX_LEAF`] | body.
    pub first: u32,
    pub high: Vec3,
    pub pad: u32,
}

layout!(BoxData as "Box" { low, first, high, pad });

/// Marks a box with one body.
pub(super) const BOX_LEAF: u32 = 1 << 31;
const MARK_SELECTED: u32 = 1 << 25;
const BODY_KEPT: u32 = 1 << 26;
const BODY_HOVERED: u32 = 1 << 27;
/// Marks a body that is a surface.
pub(super) const BODY_MESH: u32 = 1 << 28;
/// Marks a body whose file says nothing of its outside, which is glass where the inside is.
const BODY_BARE: u32 = 1 << 29;
/// Light rays start as far off a surface as off an octree with this number of voxels along its longest side.
const SURFACE_VOXELS: f32 = 512.0;
/// Size of the traversal stack; median splits of n boxes need log2(n).
const DEEPEST: u32 = 24;

/// Body rows and boxes of a frame; `slot_of` maps a forest and `place_of` a surface to its offset on the GPU. A body
/// that cannot be drawn (not uploaded, not finite, degenerate, no such level) is left out of the boxes but keeps its
/// row, so that rows have the same indices as bodies.
pub(super) fn tables(
    bodies: &[RenderBody],
    slot_of: impl Fn(&Arc<Forest>) -> Option<Slot>,
    place_of: impl Fn(&SolidMesh) -> Option<u32>,
) -> (Vec<BodyData>, Vec<BoxData>) {
    let mut rows = Vec::with_capacity(bodies.len());
    let mut leaves = Vec::with_capacity(bodies.len());
    for (i, body) in bodies.iter().enumerate().take(1 << DEEPEST) {
        let slot = body.shape.as_octree().and_then(|octree| slot_of(&octree.forest));
        let (row, bounds) = match body.shape.drawn_surface() {
            Some(solid) => surface_row(body, solid, slot, place_of(solid)),
            None => row(body, slot),
        };
        rows.push(row);
        if let Some((low, high)) = bounds {
            leaves.push(BoxData { low, first: BOX_LEAF | i as u32, high, pad: 0 });
        }
    }
    let boxes = hierarchy(leaves);
    (rows, boxes)
}

/// The row of a body whose octree is at `slot`.
fn row(body: &RenderBody, slot: Option<Slot>) -> (BodyData, Option<(Vec3, Vec3)>) {
    let (root, level) = body.shape.as_octree().map_or((0, 0), |octree| (octree.tree, octree.level()));
    let world_from_grid = body.world_from_local;
    let grid_from_world = world_from_grid.inverse();
    let (low, high) = body.bounds();
    let voxel = world_from_grid.x_axis.truncate().length();
    let data = BodyData {
        grid_from_world: rows_of(grid_from_world),
        world_from_grid: rows_of(world_from_grid),
        low,
        node_base: slot.map_or(0, |slot| slot.node_base),
        high,
        leaf_base: slot.map_or(0, |slot| slot.leaf_base),
        root,
        level,
        hue_and_marks: hue(body) | marks(body),
        voxel,
        interior: body.interior,
        later: body.later,
        to_voxels: [0.0, 0.0, 0.0, 1.0],
    };
    let drawable = world_from_grid.is_finite()
        && grid_from_world.is_finite()
        && voxel > 0.0
        && low.is_finite()
        && high.is_finite()
        && low.cmplt(high).all()
        && (1..=crate::svo::MAX_LEVEL).contains(&level)
        && slot.is_some_and(|slot| root < slot.nodes);
    (data, drawable.then(|| transformed_box(world_from_grid, low, high)))
}

fn marks(body: &RenderBody) -> u32 {
    let mark = match body.mark {
        None => 0,
        Some(PieceMark::Kept) => BODY_KEPT,
        Some(PieceMark::Hovered) => BODY_HOVERED,
    };
    let bare = if body.shape.look().is_bare { BODY_BARE } else { 0 };
    mark | bare | if body.selected { MARK_SELECTED } else { 0 }
}

/// The row of a body with a surface at `place`, and with its voxels' octree at `slot`.
fn surface_row(
    body: &RenderBody,
    solid: &SolidMesh,
    slot: Option<Slot>,
    place: Option<u32>,
) -> (BodyData, Option<(Vec3, Vec3)>) {
    let local_from_tree = solid.local_from_tree();
    // In f64, since the origin of local space may be far from the surface.
    let world_from_tree = body.world_from_local.as_dmat4() * local_from_tree;
    let (world_from_grid, grid_from_world) = (world_from_tree.as_mat4(), world_from_tree.inverse().as_mat4());
    let bounds = solid.tree().bounds();
    let (low, high) = bounds.unwrap_or_default();
    let octree = solid.voxels();
    let scale = world_from_grid.x_axis.truncate().length();
    let voxel = scale * (high - low).max_element() / SURFACE_VOXELS;
    let data = BodyData {
        grid_from_world: rows_of(grid_from_world),
        world_from_grid: rows_of(world_from_grid),
        low,
        node_base: slot.map_or(0, |slot| slot.node_base),
        high,
        leaf_base: place.unwrap_or(0),
        root: octree.map_or(0, |octree| octree.tree),
        level: octree.map_or(0, |octree| octree.level().min(crate::svo::MAX_LEVEL)),
        hue_and_marks: hue(body) | marks(body) | BODY_MESH,
        voxel,
        // Material volumes are in voxel coordinates; without voxels, crack faces show their vertices' colours.
        interior: if octree.is_some() { body.interior } else { Volume::default() },
        later: body.later,
        to_voxels: to_voxels(local_from_tree),
    };
    let drawable =
        world_from_grid.is_finite() && grid_from_world.is_finite() && voxel > 0.0 && place.is_some();
    (data, bounds.filter(|_| drawable).map(|(low, high)| transformed_box(world_from_grid, low, high)))
}

fn to_voxels(local_from_tree: DMat4) -> [f32; 4] {
    let shift = local_from_tree.transform_point3(DVec3::ZERO).as_vec3();
    [shift.x, shift.y, shift.z, local_from_tree.x_axis.x as f32]
}

fn rows_of(m: Mat4) -> [[f32; 4]; 3] {
    [m.row(0).to_array(), m.row(1).to_array(), m.row(2).to_array()]
}

/// World box of a transformed grid box, slightly enlarged so that rounding cannot cut a face off.
fn transformed_box(m: Mat4, low: Vec3, high: Vec3) -> (Vec3, Vec3) {
    let centre = m.transform_point3(low.midpoint(high));
    let half = (high - low) * 0.5;
    let reach = m.x_axis.truncate().abs() * half.x
        + m.y_axis.truncate().abs() * half.y
        + m.z_axis.truncate().abs() * half.z;
    let reach = reach * 1.0001 + centre.abs() * 1e-6;
    (centre - reach, centre + reach)
}

/// Median splits along the longest axis of the centres: depth log2(n), and fast enough to rebuild in every frame.
fn hierarchy(mut leaves: Vec<BoxData>) -> Vec<BoxData> {
    if leaves.is_empty() {
        return Vec::new();
    }
    let mut boxes = vec![BoxData::zeroed()];
    let count = leaves.len();
    let mut work = vec![(0usize, 0usize, count)];
    while let Some((at, from, to)) = work.pop() {
        let group = &mut leaves[from..to];
        if let [only] = group {
            boxes[at] = *only;
            continue;
        }
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (mut centre_low, mut centre_high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for leaf in group.iter() {
            (low, high) = (low.min(leaf.low), high.max(leaf.high));
            let centre = leaf.low.midpoint(leaf.high);
            (centre_low, centre_high) = (centre_low.min(centre), centre_high.max(centre));
        }
        let axis = (centre_high - centre_low).max_position();
        let middle = group.len() / 2;
        let key = |leaf: &BoxData| leaf.low[axis] + leaf.high[axis];
        group.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)));
        let first = boxes.len();
        boxes.extend([BoxData::zeroed(); 2]);
        boxes[at] = BoxData { low, first: first as u32, high, pad: 0 };
        work.push((first, from, from + middle));
        work.push((first + 1, from + middle, to));
    }
    boxes
}

/// Colours distinguishable by all eyes: any two differ (CIE76) by more than 11 for normal sight, and by more than 10
/// without red or green cones. Found by repeatedly taking the farthest of all colours of medium chroma; consecutive
/// colours differ most.
#[rustfmt::skip]
const COLORS: [[u8; 3]; 40] = [
    [196, 64, 112], [244, 220, 40], [40, 112, 244], [160, 40, 52], [64, 220, 244], [208, 232, 88],
    [40, 52, 184], [160, 244, 232], [244, 160, 40], [76, 52, 160], [172, 196, 172], [220, 124, 40],
    [88, 52, 136], [220, 232, 196], [220, 40, 40], [88, 88, 208], [196, 148, 184], [184, 244, 160],
    [100, 100, 196], [136, 40, 76], [232, 232, 124], [40, 148, 244], [76, 100, 64], [232, 172, 76],
    [40, 172, 244], [208, 52, 88], [136, 64, 136], [220, 184, 112], [52, 196, 244], [124, 40, 100],
    [232, 100, 76], [184, 148, 208], [196, 196, 148], [124, 124, 52], [76, 136, 136], [148, 124, 208],
    [148, 160, 100], [232, 88, 148], [172, 100, 172], [184, 136, 124],
];
/// Shades for a second and third round of the colours, parts of 256.
const SHADES: [u32; 3] = [256, 214, 236];

/// Colour of a body, sRGB.
#[must_use]
pub fn piece_color(id: u32) -> [u8; 3] {
    let many = COLORS.len() as u32;
    let shade = SHADES[(id / many % 3) as usize];
    COLORS[(id % many) as usize].map(|channel| ((u32::from(channel) * shade) >> 8) as u8)
}

fn hue(body: &RenderBody) -> u32 {
    let [r, g, b] = body.color.unwrap_or_else(|| piece_color(body.id));
    u32::from(r) | u32::from(g) << 8 | u32::from(b) << 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        shape::{GridMass, Look, Octree, Shape},
        svo::{Grid, Leaves, build},
    };

    /// Matrices that simulate colour vision in linear light (Machado, Oliveira & Fernandes 2009, at full strength),
    /// columns.
    const EYES: [(&str, [[f64; 3]; 3]); 3] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "without red cones",
            [
                [0.152286, 0.114503, -0.003882],
                [1.052583, 0.786281, -0.048116],
                [-0.204868, 0.099216, 1.051998],
            ],
        ),
        (
            "without green cones",
            [
                [0.367322, 0.280085, -0.011820],
                [0.860646, 0.672501, 0.042940],
                [-0.227968, 0.047413, 0.968881],
            ],
        ),
    ];

    /// CIE L*a*b* (D65) of an sRGB colour as seen with a simulated colour vision.
    fn lab(color: [u8; 3], eye: [[f64; 3]; 3]) -> glam::DVec3 {
        let linear = color.map(crate::geometry::srgb::precise_linear);
        let seen = glam::DMat3::from_cols_array_2d(&eye) * glam::DVec3::from(linear);
        let seen = seen.clamp(glam::DVec3::ZERO, glam::DVec3::ONE);
        let x = 0.4124564 * seen.x + 0.3575761 * seen.y + 0.1804375 * seen.z;
        let y = 0.2126729 * seen.x + 0.7151522 * seen.y + 0.0721750 * seen.z;
        let z = 0.0193339 * seen.x + 0.1191920 * seen.y + 0.9503041 * seen.z;
        let f = |t: f64| {
            if t > 216.0 / 24389.0 { libm::cbrt(t) } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
        };
        let (x, y, z) = (f(x / 0.95047), f(y), f(z / 1.08883));
        glam::DVec3::new(116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z))
    }

    #[test]
    fn all_eyes_tell_pieces_apart() {
        for (name, eye) in EYES {
            let seen: Vec<_> = (0..40).map(|id| lab(piece_color(id), eye)).collect();
            for (a, one) in seen.iter().enumerate() {
                for (b, other) in seen[..a].iter().enumerate() {
                    let apart = one.distance(*other);
                    assert!(apart > 10.0, "{a} and {b} differ by {apart:.1} {name}");
                }
            }
        }
        assert_ne!(piece_color(3), piece_color(43));
    }

    const SLOT: Slot = Slot { node_base: 0, leaf_base: 0, nodes: 1, leaves: 1 };

    fn body_at(p: Vec3) -> RenderBody {
        let forest = Arc::new(build(4, Leaves::default(), &|_: crate::svo::Key, _: u32| false));
        let bounds = crate::geometry::Aabb::new(glam::DVec3::splat(2.0), glam::DVec3::splat(9.0));
        let grid = Grid { level: 4, origin: glam::DVec3::ZERO, h: 0.1 };
        let octree = Octree { forest, tree: 0, grid, mass: GridMass { bounds, ..GridMass::default() } };
        RenderBody {
            shape: Arc::new(Shape::octree(octree, 1.0, Look::default())),
            world_from_local: Mat4::from_translation(p)
                * Mat4::from_rotation_x(1.0)
                * Mat4::from_scale(Vec3::splat(0.1)),
            id: 0,
            object: 0,
            color: None,
            selected: false,
            mark: None,
            interior: Volume::default(),
            later: Default::default(),
        }
    }

    #[test]
    fn every_body_is_in_one_box_and_every_box_holds_its_children() {
        for count in [0usize, 1, 2, 3, 63, 1000] {
            let bodies: Vec<_> = (0..count)
                .map(|i| body_at(Vec3::new((i * 37 % 101) as f32, (i * 11 % 17) as f32, i as f32)))
                .collect();
            let (rows, boxes) = tables(&bodies, |_| Some(SLOT), |_| None);
            assert_eq!((rows.len(), boxes.len()), (count, (2 * count).saturating_sub(1)));
            let mut seen = vec![0; count];
            let mut work: Vec<(usize, u32)> = if count > 0 { vec![(0, 0)] } else { vec![] };
            while let Some((at, depth)) = work.pop() {
                assert!(depth < DEEPEST);
                if boxes[at].first & BOX_LEAF != 0 {
                    seen[(boxes[at].first & !BOX_LEAF) as usize] += 1;
                    continue;
                }
                for child in [boxes[at].first as usize, boxes[at].first as usize + 1] {
                    assert!(boxes[child].low.cmpge(boxes[at].low).all());
                    assert!(boxes[child].high.cmple(boxes[at].high).all());
                    work.push((child, depth + 1));
                }
            }
            assert!(seen.iter().all(|&n| n == 1), "{count}: {seen:?}");
        }
    }

    #[test]
    fn bodies_that_cannot_be_drawn_are_left_out() {
        let mut flat = body_at(Vec3::ZERO);
        flat.world_from_local = Mat4::from_scale(Vec3::ZERO);
        let lost = body_at(Vec3::NAN);
        let (rows, boxes) = tables(&[flat, body_at(Vec3::ONE), lost], |_| Some(SLOT), |_| None);
        assert_eq!((rows.len(), boxes.len()), (3, 1));
        assert!(tables(&[body_at(Vec3::ONE)], |_| None, |_| None).1.is_empty());
        assert_eq!(boxes[0].first, BOX_LEAF | 1);
    }

    #[test]
    fn neighbouring_ids_have_different_colours() {
        for id in 0..500 {
            let (a, b) = (piece_color(id), piece_color(id + 1));
            let apart: i32 = (0..3).map(|k| (i32::from(a[k]) - i32::from(b[k])).abs()).sum();
            assert!(apart > 60, "{id}: {a:?} {b:?}");
            assert!(a.iter().copied().max() > Some(80), "{id}: {a:?}");
        }
    }
}
