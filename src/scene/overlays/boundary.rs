//! The fracture boundary set (2016, sec. 4.4): every copy of a boundary voxel, coloured by its cell, with
//! normals.

use glam::{DVec3, Vec3};

use super::{Inside, OverlayMaker, Part, Placing, Reads, color_of, lit};
use crate::{
    render::{Line, Overlay, Point},
    svo::{morton, unpack_normal},
};

/// Radius of a voxel's disc, voxels: neighbouring discs touch.
pub(super) const RADIUS: f32 = 0.66;
/// Length of a normal, voxels.
pub(super) const NORMAL: f32 = 2.2;
/// With more normals than this the picture would look like fur; only every second, third or so voxel then has one.
pub(super) const MOST_NORMALS: usize = 12_000;

/// The maker.
pub(super) static MAKER: OverlayMaker = OverlayMaker {
    name: "fbs",
    label: "Boundary set",
    help: "Fracture boundary set: every copy of a boundary voxel in its cell's colour, with normals",
    reads: Reads::Nothing,
    has_cut: false,
    number: None,
    add,
    write: None,
};

fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing, _: &Part) {
    let (fracture, voxel) = (&inside.fracture, placing.voxel());
    let leaves = &fracture.forest.leaves;
    let step = leaves.len().div_ceil(MOST_NORMALS).max(1);
    for (p, piece) in fracture.pieces.iter().enumerate() {
        let starts = &fracture.forest.tree_start;
        let (Some(first), Some(end)) = (starts.get(piece.tree as usize), starts.get(piece.tree as usize + 1))
        else {
            continue;
        };
        let color = color_of(piece.cell, 255);
        for i in *first as usize..*end as usize {
            let centre = DVec3::from(morton::decode(leaves.keys.at(i)).map(|v| f64::from(v) + 0.5));
            let (at, normal) = (placing.with_piece(centre, p), unpack_normal(leaves.normals[i]));
            let shown = placing.world_from_grid.transform_vector3(normal).normalize_or(Vec3::Y);
            let radius_m = RADIUS * voxel;
            overlay.points.push(Point {
                at,
                color: lit(color, shown),
                radius_pixels: 0.7,
                radius_m,
                back_pixels: 0.0,
            });
            if i % step == 0 {
                let end = at + shown * (NORMAL * voxel);
                overlay.lines.push(Line { start: at, color: [250, 250, 245, 210], end, width: 1.0 });
            }
        }
    }
}
