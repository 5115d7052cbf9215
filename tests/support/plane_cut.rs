//! A method that the program does not have: it cuts a shape in two by a plane. It lives in this file alone; a line
//! adds it to the table at start-up, and scenes, commands, the sandbox and the window name it like the others.

use glam::DVec3;
use kintsugi::geometry::Aabb;
use kintsugi::{
    fracture::{Break, BreakContext, Breaker, FractureError, MethodEntry, MethodOption, Part, Strike},
    shape::{Geometry, Octree, Shape},
    svo::{Forest, LeafColor, Leaves, build, morton, pack_normal},
};
use std::sync::Arc;

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
    breaker: &PlaneCut,
};

struct PlaneCut;

/// One side of a cut: the source's voxels there, and new ones where the cut opens its inside.
fn side(whole: &Octree, axis: usize, at: u32, upper: bool) -> Forest {
    let forest = &whole.forest;
    let here = |cell: [u32; 3]| (cell[axis] >= at) == upper;
    let layer = if upper { at } else { at - 1 };
    let normal = DVec3::AXES[axis].as_vec3() * if upper { -1.0 } else { 1.0 };
    let mut found: Vec<(morton::Key, u32, LeafColor, f32)> = Vec::new();
    for i in whole.leaves().filter(|i| here(morton::decode(forest.leaves.keys.at(*i)))) {
        let leaves = &forest.leaves;
        found.push((leaves.keys.at(i), leaves.normals[i], leaves.colors[i], leaves.coverage[i]));
    }
    forest.visit_internal(whole.tree as usize, &mut |_, low, size| {
        if (low[axis]..low[axis] + size).contains(&layer) {
            for k in 0..size * size {
                let mut cell = low;
                cell[axis] = layer;
                cell[(axis + 1) % 3] += k % size;
                cell[(axis + 2) % 3] += k / size;
                let color = LeafColor::new([150; 3], true, 0.5);
                found.push((morton::encode(cell), pack_normal(normal), color, 1.0));
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

    fn fracture(
        &self,
        _: &BreakContext<'_>,
        source: &Shape,
        strike: &Strike<'_>,
    ) -> Result<Break, FractureError> {
        let whole = source.as_octree().ok_or_else(|| FractureError::Params("no octree".into()))?;
        let Aabb { low, high } = whole.mass.bounds;
        let axis = (high - low).max_position();
        let at = (low + (high - low) * strike.params.option("share"))[axis].round() as u32;
        let part = |(cell, upper): (u32, bool)| {
            let octree = Octree::new(&Arc::new(side(whole, axis, at, upper)), 0, whole.grid);
            let size = octree.mass.voxels;
            let shape = Arc::new(Shape::octree(octree, source.density(), *source.look()));
            Part { shape, cell, size }
        };
        let parts = [(0, false), (1, true)].into_iter().map(part).filter(|part| part.size > 0);
        Ok(Break::of_parts(parts.collect(), strike.params))
    }
}
