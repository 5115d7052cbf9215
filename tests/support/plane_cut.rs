//! Two methods that the program does not have: one cuts a shape in two by a plane, one between neighbouring seeds. They live
//! in this file alone; a line adds each to the table at start-up, and scenes, commands, the sandbox and the window name them
//! like the others.

use glam::DVec3;
use kintsugi::geometry::Aabb;
use kintsugi::{
    fracture::{
        Breaker, CutSource, Cutter, Fracture, FractureError, FractureParams, MethodEntry, MethodOption,
        Pattern, Pieces, UNIT_BITS,
    },
    shape::{Geometry, Octree},
    svo::{Forest, LeafColor, Leaves, build, morton, pack_normal},
};

pub static ENTRY: MethodEntry = MethodEntry {
    name: "plane-cut",
    label: "in two",
    help: "Cuts an octree in two by a plane across its longest side.",
    source: "this test",
    by_seeds: false,
    of_voxels: false,
    options: &[MethodOption {
        name: "share",
        help: "Where the plane lies along that side.",
        default: 0.5,
        range: (0.1, 0.9),
        whole: false,
    }],
    breaker: &PlaneCut { loses: 0 },
};

#[allow(dead_code, reason = "not every test has it in the table")]
pub static SLICES: MethodEntry = MethodEntry {
    name: "slices",
    label: "slices",
    help: "Cuts an octree by planes across its longest side, one between each two neighbouring seeds.",
    source: "this test",
    by_seeds: true,
    of_voxels: false,
    options: &[],
    breaker: &PlaneCut { loses: 0 },
};

/// Loses the last part of what it cuts, so its results fail their checks.
#[allow(dead_code, reason = "not every test has it in the table")]
pub static LOSES: MethodEntry = MethodEntry {
    name: "loses",
    label: "loses a part",
    help: "Cuts an octree in two and loses one of the two.",
    source: "this test",
    by_seeds: false,
    of_voxels: false,
    options: ENTRY.options,
    breaker: &PlaneCut { loses: 1 },
};

struct PlaneCut {
    /// Parts that are lost.
    loses: usize,
}

/// The voxels of a shape from layer `from` to layer `to` along an axis, and new ones where a cut opens its inside. Both
/// sides of a cut have its layer, and share its volume.
fn slice(whole: &Octree, axis: usize, from: u32, to: u32) -> Forest {
    let forest = &whole.forest;
    let end = 1 << forest.level;
    let here = |cell: [u32; 3]| (from..=to).contains(&cell[axis]);
    let is_cut = |layer: u32| layer == from && from > 0 || layer == to && to < end;
    let share = |cell: [u32; 3]| if is_cut(cell[axis]) { 0.5 } else { 1.0 };
    let mut found: Vec<(morton::Key, u32, LeafColor, f32)> = Vec::new();
    for i in whole.leaves() {
        let (leaves, cell) = (&forest.leaves, morton::decode(forest.leaves.keys.at(i)));
        if here(cell) {
            let coverage = leaves.coverage[i] * share(cell);
            found.push((leaves.keys.at(i), leaves.normals[i], leaves.colors[i], coverage));
        }
    }
    forest.visit_internal(whole.tree as usize, &mut |_, low, size| {
        for layer in [from, to].into_iter().filter(|layer| is_cut(*layer)) {
            let normal = DVec3::AXES[axis].as_vec3() * if layer == from { -1.0 } else { 1.0 };
            if (low[axis]..low[axis] + size).contains(&layer) {
                for k in 0..size * size {
                    let mut cell = low;
                    cell[axis] = layer;
                    cell[(axis + 1) % 3] += k % size;
                    cell[(axis + 2) % 3] += k / size;
                    let color = LeafColor::new([150; 3], true, 0.0);
                    found.push((morton::encode(cell), pack_normal(normal), color, 0.5));
                }
            }
        }
    });
    found.sort_unstable_by_key(|leaf| leaf.0);
    let leaves = Leaves {
        keys: found.iter().map(|leaf| leaf.0).collect(),
        normals: found.iter().map(|leaf| leaf.1).collect(),
        colors: found.iter().map(|leaf| leaf.2).collect(),
        coverage: found.iter().map(|leaf| leaf.3).collect(),
        cuts: Vec::new(),
    };
    let inside = |key: morton::Key, level: u32| {
        let low = morton::decode(key << (3 * (forest.level - level)));
        here(low) && forest.is_internal(whole.tree as usize, low)
    };
    build(forest.level, leaves, &inside)
}

impl Breaker for PlaneCut {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_))
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        let whole = source.octree()?;
        let Aabb { low, high } = whole.mass.bounds;
        let axis = (high - low).max_position();
        Ok(Box::new(move |pattern: &Pattern, params: &FractureParams| {
            let unit = f64::from(1u32 << (UNIT_BITS - whole.level()));
            let along = |seed: &u32| f64::from(pattern.seeds[*seed as usize][axis]) / unit;
            let mut cells: Vec<u32> = (0..pattern.seeds.len() as u32).collect();
            cells.sort_by(|a, b| along(a).total_cmp(&along(b)));
            let mut planes: Vec<f64> =
                cells.windows(2).map(|two| (along(&two[0]) + along(&two[1])) / 2.0).collect();
            if cells.is_empty() {
                (cells, planes) = (vec![0, 1], vec![(low + (high - low) * params.option("share"))[axis]]);
            }
            let end = 1u32 << whole.level();
            let planes = planes.iter().map(|at| (at.round().max(1.0) as u32).min(end - 1));
            let ends: Vec<u32> = [0].into_iter().chain(planes).chain([end]).collect();
            let pieces = cells.iter().zip(ends.windows(2));
            // Planes in one layer have nothing between them.
            let pieces = pieces.filter(|(_, ends)| ends[0] < ends[1]);
            let mut pieces: Vec<_> =
                pieces.map(|(cell, ends)| (*cell, slice(whole, axis, ends[0], ends[1]))).collect();
            pieces.truncate(pieces.len() - self.loses);
            Ok(Pieces::Octrees(Fracture::of_pieces(whole, &pieces)))
        }))
    }
}
