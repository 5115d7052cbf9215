//! Crack surfaces (2018, sec. 5.2): their triangles and separation points. For dusty surfaces, the border of each
//! object.

use std::rc::Rc;

use glam::{DVec3, Vec3};

use super::{
    CrackArrays, Inside, OverlayFileError, OverlayFiles, OverlayMaker, Part, Placing, Reads, color_of,
    equation,
    files::{colors, column, rgb},
};
use crate::{
    export::{ExportError, PlainPly},
    fracture::crack::UNITS,
    render::{Line, Overlay, Point, Triangle},
};

/// Colours of edge, face and voxel separation points; for dusty surfaces of the ends on edges and the centres of fans.
pub(super) const POINT_COLORS: [[u8; 4]; 3] =
    [[70, 200, 255, 255], [255, 110, 190, 255], [255, 225, 80, 255]];
/// Opacity of triangles.
const ALPHA: u8 = 165;
/// Colour of triangles' sides.
const SIDE: [u8; 4] = [255, 255, 255, 70];
/// Radius of points, as a share of a transition voxel's edge, and its limit in pixels.
const RADIUS: f32 = 0.045;
const LEAST_PIXELS: f32 = 1.6;

/// The maker.
pub(super) static TRIANGLES: OverlayMaker = OverlayMaker {
    name: "triangles",
    label: "Crack triangles",
    help: "The crack surfaces inside transition voxels",
    reads: Reads::Cracks,
    has_cut: false,
    number: None,
    add: add_triangles,
    write: Some(write_triangles),
};

/// The maker.
pub(super) static POINTS: OverlayMaker = OverlayMaker {
    name: "points",
    label: "Separation points",
    help: "Where cracks cut edges (blue), faces (pink) and voxels (yellow) of the transition level",
    reads: Reads::Cracks,
    has_cut: false,
    number: None,
    add: add_points,
    write: Some(write_points),
};

/// Coordinates within a transition voxel.
pub(super) struct Frame {
    /// Edge length of a transition voxel, voxels.
    pub edge: f64,
}

impl Frame {
    pub fn of(inside: &Inside) -> Option<Self> {
        let edge = f64::from(1u32 << (inside.forest.level - inside.transition?));
        Some(Self { edge })
    }

    pub fn at(&self, place: [u32; 3], point: [i64; 3]) -> DVec3 {
        let share = |a: usize| f64::from(place[a]) + point[a] as f64 / f64::from(UNITS);
        DVec3::new(share(0), share(1), share(2)) * self.edge
    }
}

/// Triangles with their sides, once for each adjacent object if those are drawn apart.
fn add_triangles(overlay: &mut Overlay, inside: &Inside, placing: &Placing, _: &Part) {
    let Some(frame) = Frame::of(inside) else { return };
    let mut push = |place, points: [[i64; 3]; 3], offset: Vec3, color| {
        let [a, b, c] = points.map(|p| placing.at(frame.at(place, p)) + offset);
        overlay.triangles.push(Triangle { a, color, b, c });
        // Each of these sides is the first side of one triangle and the second of its neighbour; the third lies in the
        // voxel's wall.
        for (start, end) in [(a, b), (a, c)] {
            overlay.lines.push(Line { start, color: SIDE, end, width: 0.8 });
        }
    };
    if !inside.dusty.is_empty() {
        for (voxel, dusty) in inside.voxels.iter().zip(&inside.dusty) {
            for object in dusty.owners() {
                let offset = inside.offset_of(placing, object);
                for triangle in dusty.border(object) {
                    push(voxel.place, triangle.points, offset, color_of(object, ALPHA));
                }
            }
        }
        return;
    }
    for voxel in &inside.voxels {
        for triangle in voxel.triangles() {
            let points = triangle.points.map(|p| p.map(i64::from));
            let [low, high] = triangle.sides.map(|object| inside.offset_of(placing, object));
            // Both faces have the colour of the pair of objects.
            let color = color_of(pair_of(triangle.sides), ALPHA);
            push(voxel.place, points, low, color);
            if low != high {
                push(voxel.place, points, high, color);
            }
        }
    }
}

/// A number for a pair of objects, independent of their order.
fn pair_of([a, b]: [u32; 2]) -> u32 {
    a.min(b).wrapping_mul(7).wrapping_add(a.max(b).wrapping_mul(3))
}

/// Separation points in their original places; they do not move with pieces.
fn add_points(overlay: &mut Overlay, inside: &Inside, placing: &Placing, _: &Part) {
    let Some(frame) = Frame::of(inside) else { return };
    let radius_m = RADIUS * frame.edge as f32 * placing.voxel();
    let mut push = |place, point: [i64; 3], kind: usize| {
        // Points in faces and voxels are fewer and more important.
        let radius_m = radius_m * [0.8, 1.0, 1.35][kind];
        let at = placing.at(frame.at(place, point));
        overlay.points.push(Point {
            at,
            color: POINT_COLORS[kind],
            radius_pixels: LEAST_PIXELS,
            radius_m,
            back_pixels: 0.0,
        });
    };
    if !inside.dusty.is_empty() {
        for (voxel, dusty) in inside.voxels.iter().zip(&inside.dusty) {
            for object in dusty.owners() {
                let mut last = None;
                for triangle in dusty.border(object) {
                    let [edge, _, middle] = triangle.points;
                    push(voxel.place, edge, 0);
                    // The triangles of a fan are consecutive and share its centre.
                    if last.replace(middle) != Some(middle) {
                        push(voxel.place, middle, 2);
                    }
                }
            }
        }
        return;
    }
    for voxel in &inside.voxels {
        let wide = |p: &[i32; 3]| p.map(i64::from);
        voxel.edge_points.iter().flatten().for_each(|p| push(voxel.place, wide(p), 0));
        voxel.face_points.iter().flatten().for_each(|p| push(voxel.place, wide(p), 1));
        push(voxel.place, wide(&voxel.voxel_point), 2);
    }
}

/// The crack surfaces as arrays. The first maker that needs them writes their transition voxels, to whose rows others
/// refer.
pub(super) fn arrays(files: &mut OverlayFiles<'_>) -> Result<Rc<CrackArrays>, ExportError> {
    if let Some(known) = &files.cracks {
        return Ok(Rc::clone(known));
    }
    let all = Rc::new(CrackArrays::of(files.inside).numbered_from(files.first_seed));
    files.npz.array("transition_voxels", &[all.voxels.len(), 4], all.voxels.as_flattened())?;
    files.npz.array("transition_objects", &[all.objects.len(), 8], all.objects.as_flattened())?;
    files.cracks = Some(Rc::clone(&all));
    Ok(all)
}

fn write_triangles(files: &mut OverlayFiles<'_>) -> Result<(), OverlayFileError> {
    let all = arrays(files)?;
    let (npz, count) = (&mut files.npz, all.triangles.len());
    npz.array("triangles", &[count, 3, 3], all.triangles.as_flattened().as_flattened())?;
    npz.array("triangle_cells", &[count, 2], all.triangle_cells.as_flattened())?;
    npz.array("triangle_voxel", &[count], &all.triangle_voxels)?;
    // Corners are each triangle's own.
    let thrice = |numbers: Vec<i32>| numbers.into_iter().flat_map(|number| [number; 3]).collect();
    let cells: Vec<i32> = thrice(column(&all.triangle_cells, 0));
    let ply = PlainPly {
        colors: colors(&cells),
        columns: vec![
            ("cell", cells),
            ("beyond", thrice(column(&all.triangle_cells, 1))),
            ("voxel", thrice(all.triangle_voxels.clone())),
        ],
        polygons: (0..count as u32).map(|k| vec![3 * k, 3 * k + 1, 3 * k + 2]).collect(),
        ..PlainPly::default()
    };
    Ok(files.ply("triangles.ply", all.triangles.as_flattened(), ply)?)
}

fn write_points(files: &mut OverlayFiles<'_>) -> Result<(), OverlayFileError> {
    let all = arrays(files)?;
    let (npz, count) = (&mut files.npz, all.points.len());
    npz.array("points", &[count, 3], all.points.as_flattened())?;
    npz.array("point_kind", &[count], &all.point_kinds)?;
    npz.array("point_voxel", &[count], &all.point_voxels)?;
    equation::write(files)?;
    let color = |kind: &i32| rgb(POINT_COLORS.get(*kind as usize).copied().unwrap_or_default());
    let ply = PlainPly {
        colors: all.point_kinds.iter().map(color).collect(),
        columns: vec![("kind", all.point_kinds.clone()), ("voxel", all.point_voxels.clone())],
        ..PlainPly::default()
    };
    Ok(files.ply("points.ply", &all.points, ply)?)
}
