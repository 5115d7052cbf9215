//! The same seeds break an octree of level 9 and its mesh: the pieces weigh the same and have the same neighbours.
//!
//! What voxels cannot tell apart is said in numbers. Cells share a crack voxel evenly, so the volume of a splinter
//! is off by a part of its surface's voxels: 1 % where a cell has a thousandth of the object, else 5e-5 of the
//! object. A crack that is narrower than half a voxel need not be between any corners of voxels. A voxel of the
//! surface reaches beyond it, and cells may meet there that do not meet in the object; inside, they do so in two
//! voxels whose corners a third has between them.

use std::collections::{BTreeMap, HashSet};

use glam::{DVec3, Vec3};

use crate::{
    compute::Compute,
    fracture::{
        Break, BreakContext, Cancel, FractureParams, MethodId, Passes, Preset, Strike, break_shape,
        generations::default_impact, solid::Units,
    },
    import::{Imported, import},
    shape::Side,
    svo::{Arena, unpack_normal},
    voxelize::Progress,
};

/// A pair of cells, the lower first.
type Pair = [u32; 2];

fn broken(object: &Imported, method: &str, params: &FractureParams) -> Break {
    let params =
        FractureParams { method: MethodId::named(method).unwrap(), rng: 3, smallest: None, ..params.clone() };
    let (arena, passes) = (Arena::new(Compute::Cpu).unwrap(), Passes::default());
    let impact = default_impact(&object.shape, object.bounds);
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    break_shape(&context, &object.shape, &Strike::new(impact, &params)).unwrap()
}

/// Volume of each cell's parts, m^3.
fn volumes(out: &Break) -> BTreeMap<u32, f64> {
    let mut sums = BTreeMap::new();
    out.parts.iter().for_each(|part| *sums.entry(part.cell).or_default() += part.shape.mass().volume_m3);
    sums
}

/// Voxels in which two cells meet: they are alone there, or show one plane from its two sides.
#[derive(Clone, Copy, Default)]
struct Meeting {
    /// All of them.
    voxels: u32,
    /// Those that were inside the object: where a surface voxel reaches beyond the surface, so may the crack.
    inside: u32,
}

fn octree_neighbours(out: &Break, object: &Imported) -> BTreeMap<Pair, Meeting> {
    let mut copies: Vec<(u64, u32, Vec3, f32)> = Vec::new();
    for part in &out.parts {
        let octree = part.shape.as_octree().unwrap();
        let leaves = &octree.forest.leaves;
        copies.extend(octree.leaves().map(|i| {
            (leaves.keys.at(i), part.cell, unpack_normal(leaves.normals[i]), leaves.colors[i].offset())
        }));
    }
    copies.sort_unstable_by_key(|(key, cell, ..)| (*key, *cell));
    let whole = object.shape.as_octree().unwrap();
    let surface: HashSet<u64> = whole.leaves().map(|i| whole.forest.leaves.keys.at(i)).collect();
    let mut pairs: BTreeMap<Pair, Meeting> = BTreeMap::new();
    for voxel in copies.chunk_by(|a, b| a.0 == b.0) {
        let inside = u32::from(!surface.contains(&voxel[0].0));
        for (i, (_, a, n, d)) in voxel.iter().enumerate() {
            for (_, b, m, e) in &voxel[i + 1..] {
                let against = n.dot(*m) < -0.9999 && (d + e).abs() < 1e-5;
                if a != b && (voxel.len() == 2 || against) {
                    let meeting = pairs.entry([*a, *b]).or_default();
                    meeting.voxels += 1;
                    meeting.inside += inside;
                }
            }
        }
    }
    pairs
}

/// The crack that two cells share in the object.
#[derive(Clone, Copy)]
struct Crack {
    /// m^2.
    area: f64,
    /// A box about it, m.
    low: DVec3,
    high: DVec3,
}

impl Crack {
    /// How wide it is if it is as long as it can be, m.
    fn width(&self) -> f64 {
        self.area / self.low.distance(self.high)
    }
}

/// What cells of a mesh share: of each crack triangle the two nearest seeds say between which it is.
fn mesh_neighbours(out: &Break, object: &Imported) -> BTreeMap<Pair, Crack> {
    let seeds = &out.pattern.as_ref().unwrap().seeds;
    let units = Units::of(&object.grid);
    let mut pairs = BTreeMap::new();
    for part in &out.parts {
        let surface = part.shape.as_mesh().unwrap().surface();
        for ([a, b, c], face) in surface.corners_of_triangles().zip(&surface.faces) {
            if face.side != Side::Inside {
                continue;
            }
            let middle = units.from_shape((a + b + c) / 3.0);
            let distance =
                |s: &u32| DVec3::from_array(seeds[*s as usize].map(f64::from)).distance_squared(middle);
            let others = (0..seeds.len() as u32).filter(|s| *s != part.cell);
            let other = others.min_by(|s, t| distance(s).total_cmp(&distance(t))).unwrap();
            let none = Crack { area: 0.0, low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };
            let crack = pairs.entry([part.cell.min(other), part.cell.max(other)]).or_insert(none);
            // Both sides have the face.
            crack.area += (b - a).cross(c - a).length() * 0.25;
            crack.low = crack.low.min(a).min(b).min(c);
            crack.high = crack.high.max(a).max(b).max(c);
        }
    }
    pairs
}

/// What is compared of one object.
struct Both {
    /// Volumes of cells, m^3, and which cells meet, by voxels and by the mesh.
    voxels: (BTreeMap<u32, f64>, BTreeMap<Pair, Meeting>),
    mesh: (BTreeMap<u32, f64>, BTreeMap<Pair, Crack>),
    /// Edge of a voxel, m.
    h: f64,
}

/// What the two methods say differently.
fn differences(both: &Both) -> Vec<String> {
    let Both { voxels: (voxels, near), mesh: (cut, cracks), h } = both;
    let whole: f64 = cut.values().sum();
    let mut said = Vec::new();
    for cell in voxels.keys().chain(cut.keys()) {
        let [a, b] = [voxels, cut].map(|sums| sums.get(cell).copied().unwrap_or(0.0));
        let off = (a - b).abs();
        if (b > 1e-3 * whole && off > 0.01 * b) || off > 5e-5 * whole {
            said.push(format!("cell {cell}: {:.2e} and {:.2e} of the object", a / whole, b / whole));
        }
    }
    for (pair, crack) in cracks.iter().filter(|(pair, _)| !near.contains_key(*pair)) {
        if crack.width() > 0.5 * h {
            said.push(format!("{pair:?} meet in the mesh alone, {:.2} voxels wide", crack.width() / h));
        }
    }
    for (pair, meeting) in near.iter().filter(|(pair, _)| !cracks.contains_key(*pair)) {
        if meeting.inside > 2 {
            said.push(format!("{pair:?} meet in {} of {} voxels alone", meeting.inside, meeting.voxels));
        }
    }
    said
}

#[test]
fn cells_of_a_mesh_weigh_what_those_of_its_octree_weigh_and_have_the_same_neighbours() {
    for name in ["vase", "statue", "sphere", "shell", "column"] {
        let object = import(&format!("builtin:{name}"), 9, &Progress::default()).unwrap();
        let params = FractureParams { seeds: 90, ..FractureParams::default() };
        let (octree, mesh) = (broken(&object, "octree", &params), broken(&object, "box-cut", &params));
        let (voxels, cut) = (volumes(&octree), volumes(&mesh));
        let (near, cracks) = (octree_neighbours(&octree, &object), mesh_neighbours(&mesh, &object));
        println!(
            "{name}: {} and {} cells, {} and {} pairs",
            voxels.len(),
            cut.len(),
            near.len(),
            cracks.len()
        );
        assert!(cut.len() >= 50 && cracks.len() > 150);
        let mut both = Both { voxels: (voxels, near), mesh: (cut, cracks), h: object.grid.h };
        assert_eq!(differences(&both), Vec::<String>::new(), "{name}");

        // Planted: a cell a hundredth too heavy, a neighbour that is not seen, one that is none.
        let (heavy, kg) =
            both.mesh.0.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(c, v)| (*c, *v)).unwrap();
        *both.mesh.0.get_mut(&heavy).unwrap() *= 1.02;
        assert!(!differences(&both).is_empty());
        both.mesh.0.insert(heavy, kg);
        let wide = both.mesh.1.iter().find(|(_, crack)| crack.width() > 3.0 * both.h).map(|(pair, _)| *pair);
        let wide = wide.unwrap();
        let shared = both.voxels.1.remove(&wide).unwrap();
        assert_eq!(differences(&both).len(), 1);
        both.voxels.1.insert(wide, shared);
        both.mesh.1.remove(&wide);
        assert_eq!(differences(&both).len(), 1);
    }
}

/// Where no piece is a splinter every volume agrees, and where no crack is a sliver, either, nothing is excepted.
#[test]
fn whole_pieces_agree_within_a_hundredth_and_have_the_very_same_neighbours() {
    for name in ["vase", "statue", "sphere", "shell", "box"] {
        let object = import(&format!("builtin:{name}"), 9, &Progress::default()).unwrap();
        for seeds in [8, 20] {
            let params = FractureParams { seeds, preset: Preset::Uniform, ..FractureParams::default() };
            let (octree, mesh) = (broken(&object, "octree", &params), broken(&object, "box-cut", &params));
            let (voxels, cut) = (volumes(&octree), volumes(&mesh));
            let (near, cracks) = (octree_neighbours(&octree, &object), mesh_neighbours(&mesh, &object));
            assert!(cut.len() == seeds as usize && voxels.keys().eq(cut.keys()));
            let worst =
                cut.iter().map(|(cell, volume)| (voxels[cell] / volume - 1.0).abs()).fold(0.0, f64::max);
            let mut lacking = cracks.iter().filter(|(pair, _)| !near.contains_key(*pair));
            println!("{name}, {seeds}: {worst:.5} off, {} and {} pairs", near.len(), cracks.len());
            assert!(worst < 0.01);
            assert!(near.keys().all(|pair| cracks.contains_key(pair)));
            assert!(lacking.all(|(_, crack)| seeds == 20 && crack.width() < 0.5 * object.grid.h));
        }
    }
}
