//! Cells of the broken octree (2016, sec. 3) at one level: boundary cells, and internal cells that end there or above.

use glam::{DVec3, Vec3};

use super::{Inside, Number, OverlayMaker, Part, Placing, Reads, wire_cells};
use crate::{
    render::Overlay,
    svo::{Forest, Key, morton},
};

/// Colours of boundary and internal cells.
pub(super) const BOUNDARY: [u8; 4] = [190, 215, 255, 150];
pub(super) const INTERNAL: [u8; 4] = [120, 220, 160, 120];

/// What the drawing and its number are.
const HELP: &str = "Cells of the octree at a level: blue with surface in them, green wholly inside";

/// The maker.
pub(super) static MAKER: OverlayMaker = OverlayMaker {
    name: "wireframe",
    label: "Octree cells",
    help: HELP,
    reads: Reads::Nothing,
    has_cut: false,
    number: Some(Number::octree_level("wireframe_level", "Level", HELP, 4)),
    add,
    write: None,
};

fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing, part: &Part) {
    let (level, size) = level_of(inside, part);
    let LevelCells { boundary, internal } = cells_at(&inside.forest, inside.tree, level);
    wire_cells(overlay, placing, boundary.into_iter().map(|place| (place, 0)), size, (|_| BOUNDARY, 1.0));
    let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| placing.world_from_grid.transform_vector3(axis));
    for (low, edge) in internal {
        let edges = axes.map(|axis| axis * edge as f32);
        overlay.wire_box(placing.at(DVec3::from(low.map(f64::from))), edges, INTERNAL, 1.0);
    }
}

/// The level of the octree that is drawn, the leaves' unless a part names another, and the edge of its cells, voxels.
pub(super) fn level_of(inside: &Inside, part: &Part) -> (u32, f64) {
    let leaf_level = inside.forest.level;
    let level = part.number.unwrap_or(leaf_level).clamp(1, leaf_level);
    (level, f64::from(1u32 << (leaf_level - level)))
}

/// Cells of an octree down to a level.
pub(super) struct LevelCells {
    /// Boundary cells at that level, in cells.
    pub boundary: Vec<[u32; 3]>,
    /// Low corner and edge length of internal cells that end there or above, voxels.
    pub internal: Vec<([u32; 3], u32)>,
}

/// Cells of `tree` down to `level`.
pub(super) fn cells_at(forest: &Forest, tree: u32, level: u32) -> LevelCells {
    let (mut boundary, mut internal) = (Vec::new(), Vec::new());
    let mut stack = vec![(tree, 0, 0)];
    while let Some((index, depth, key)) = stack.pop() {
        let Some(node) = forest.nodes.get(index as usize) else { continue };
        for c in 0..8 {
            let (depth, key) = (depth + 1, key << 3 | Key::from(c));
            let below = forest.level - depth;
            if node.internal() >> c & 1 == 1 {
                internal.push((morton::decode(key).map(|v| v << below), 1 << below));
            } else if node.valid() >> c & 1 == 1 {
                if depth == level {
                    boundary.push(morton::decode(key));
                } else {
                    stack.push((node.child(c), depth, key));
                }
            }
        }
    }
    LevelCells { boundary, internal }
}
