//! Voxels cut along the surface of a closed mesh.
//!
//! In: an octree, a [`CutterMesh`] in place of seeds. Out: octrees on the grid of the source: for each body of the cutter
//! what lies in it, then the rest; each connected part is a piece.
//!
//! The bodies become voxels on the grid of the source. A voxel that no surface of the cutter crosses belongs to the first
//! body that it lies in, else to the rest. One that is crossed is on a crack, and all on both sides get a copy, with the
//! plane of the cutter's surface there. Its solid is shared out by 64 points.
//!
//! A cutter cuts whole objects, since it is placed beside their boxes. A piece stays as it is: one that the cutter made
//! would be cut again along the same surface.

mod mesh;
#[cfg(test)]
mod tests;

pub use self::mesh::CutterMesh;

use glam::{DVec3, Vec3};

use self::mesh::{Placing, within};
use super::{
    Breaker, Cancel, Cancelled, CutSource, Cutter, Fracture, FractureError, FractureParams, MethodEntry,
    MethodOption, ParamProblem, Pattern, Pieces, SeedSource, Surface, Volume, middle_of,
    solid::outlines,
    voronoi::{
        islands::native::{NativeIslands, SEVERAL, islands},
        octrees::native::Trees,
    },
};
use crate::{
    geometry::Aabb,
    shape::{CLAY, Geometry, Octree, PieceMesh, Shape},
    svo::{
        Forest, Grid, Key, LeafColor, Leaves, MAX_LEVEL, Octant, build, morton, pack_cut, pack_normal,
        unpack_cut, unpack_normal,
    },
    voxelize::voxels_of,
};

/// How far voxels of a body may lie beyond its own box.
const MARGIN: f64 = 2.0;
/// Voxels after which somebody is asked whether the cut is still wanted.
const OFTEN: usize = 1 << 14;

const fn option(
    name: &'static str,
    help: &'static str,
    default: f64,
    range: (f64, f64),
    whole: bool,
) -> MethodOption {
    MethodOption { name, help, default, range, whole }
}

/// The line in the table of methods.
pub const METHOD: MethodEntry = MethodEntry {
    name: "cutter",
    label: "Closed mesh as cutter",
    help: "Cuts voxels along the surface of a closed mesh: what lies in it comes off, the rest stays.",
    source: "Kintsugi",
    by_seeds: false,
    of_voxels: true,
    options: &[
        option(
            "fit",
            "1 moves and scales the cutter to the box of the object; 0 leaves it.",
            0.0,
            (0.0, 1.0),
            true,
        ),
        option("scale", "Size of the cutter, round the middle of its box.", 1.0, (0.001, 1000.0), false),
        option("turn_x", "Turns the cutter about x, first, degrees.", 0.0, (-360.0, 360.0), false),
        option("turn_y", "Turns the cutter about y, second, degrees.", 0.0, (-360.0, 360.0), false),
        option("turn_z", "Turns the cutter about z, last, degrees.", 0.0, (-360.0, 360.0), false),
        option("move_x", "Moves the cutter along x, longest sides of the object.", 0.0, (-10.0, 10.0), false),
        option("move_y", "Moves the cutter along y, longest sides of the object.", 0.0, (-10.0, 10.0), false),
        option("move_z", "Moves the cutter along z, longest sides of the object.", 0.0, (-10.0, 10.0), false),
    ],
    breaker: &CutterBreaker,
};

/// Cuts voxels by a closed mesh.
pub struct CutterBreaker;

impl Breaker for CutterBreaker {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_))
    }

    fn problem(&self, params: &FractureParams) -> Option<ParamProblem> {
        let text = "must be planar: the method cutter cuts along the cutter; the method octree has rough and dusty cracks";
        (params.surface != Surface::Planar).then(|| ("surface", text.to_owned()))
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        let whole = source.octree()?;
        let Some(SeedSource::Cutter(mesh)) = source.strike.seeds else {
            if source.strike.seeds.is_none() && source.shape.original().is_none() {
                let keep = move |_: &Pattern, params: &FractureParams| -> Result<Pieces, FractureError> {
                    let nothing = Cutters { whole, bodies: Vec::new(), shift: 0 };
                    let volume = params.interior.volume(CLAY);
                    Ok(Pieces::Octrees(nothing.cut(params, volume, source.context.cancel)?))
                };
                return Ok(Box::new(keep));
            }
            let text = "the method cutter needs a closed mesh to cut by: give its file by --cutter, or as seeds_file";
            return Err(FractureError::Params(text.into()));
        };
        Ok(Box::new(move |_: &Pattern, params: &FractureParams| -> Result<Pieces, FractureError> {
            let solids = placed(mesh, params, source.shape, whole);
            let cutters = Cutters::of(&solids, whole, source.context.cancel)?;
            let color = source.shape.look().surface_color.unwrap_or(CLAY);
            Ok(Pieces::Octrees(cutters.cut(params, params.interior.volume(color), source.context.cancel)?))
        }))
    }
}

/// The bodies of a cutter, which has the coordinates of its file in voxels of `whole`, where the parameters place them.
fn placed(mesh: &CutterMesh, params: &FractureParams, shape: &Shape, whole: &Octree) -> Vec<PieceMesh> {
    let value = |name: &str| params.option(name);
    let placing = Placing {
        fits: value("fit") >= 0.5,
        scale: value("scale"),
        turn: ["turn_x", "turn_y", "turn_z"].map(value),
        shift: DVec3::from_array(["move_x", "move_y", "move_z"].map(value)),
    };
    // An object far from its file's origin counts its coordinates from a place near it.
    let origin = shape.original().map_or(DVec3::ZERO, |original| {
        DVec3::from_array(original.mesh.origin) * (original.meters_per_unit / whole.grid.h)
    });
    match origin == DVec3::ZERO {
        true => mesh.beside(whole.mass.bounds, &placing),
        false => mesh.placed(|p| p - origin).beside(whole.mass.bounds, &placing),
    }
}

/// Lines that show a cutter where the parameters place it beside an intact object: pairs of points in voxels of its octree,
/// as the cutter's own are.
#[must_use]
pub fn outline(mesh: &CutterMesh, params: &FractureParams, shape: &Shape) -> Vec<[DVec3; 2]> {
    shape.as_octree().map_or(Vec::new(), |whole| outlines(&placed(mesh, params, shape, whole)))
}

/// A body of a cutter as voxels.
struct Body {
    forest: Forest,
    /// Beyond it the body owns no voxel and crosses none; voxels of the source.
    bounds: Aabb,
}

/// The bodies of a cutter as voxels, on the grid of what they cut.
struct Cutters<'a> {
    whole: &'a Octree,
    /// `None` for a body that is elsewhere.
    bodies: Vec<Option<Body>>,
    /// Where the source's grid begins in that of the bodies.
    shift: u32,
}

/// A side of the crack through a voxel.
#[derive(Clone, Copy)]
struct Owner {
    /// The body, or their number for the rest.
    cell: u32,
    /// Outward plane of the body's surface in the voxel, from its middle; `None` where the voxel lies within the body.
    plane: Option<(Vec3, f32)>,
}

/// A voxel of a piece.
struct Voxel {
    key: Key,
    normal: u32,
    color: LeafColor,
    coverage: f32,
    cut: u32,
}

impl<'a> Cutters<'a> {
    /// `solids` in voxels of `whole`.
    fn of(solids: &[PieceMesh], whole: &'a Octree, cancel: &Cancel) -> Result<Self, FractureError> {
        let (level, side) = (whole.level(), f64::from(whole.grid.side()));
        if level >= MAX_LEVEL {
            let text = format!(
                "the method cutter takes objects of level {} at most; take a lower one",
                MAX_LEVEL - 1
            );
            return Err(FractureError::Params(text));
        }
        // One level more has room round the source's grid, where the parts of a body beyond it are moved.
        let (shift, grid) = (1u32 << (level - 1), Grid { level: level + 1, origin: DVec3::ZERO, h: 1.0 });
        let voxels = |solid: &PieceMesh| -> Result<Option<Body>, FractureError> {
            cancel.check()?;
            let own = Aabb::of(solid.positions.iter().copied());
            if !own.meets(&whole.mass.bounds) {
                return Ok(None);
            }
            let bounds = Aabb::new(own.low - MARGIN, own.high + MARGIN);
            let mut surface = within(solid, -1.0, side + 1.0);
            surface.positions.iter_mut().for_each(|p| *p += f64::from(shift));
            let forest =
                voxels_of(&surface, grid).map_err(|error| FractureError::Params(error.to_string()))?;
            Ok(Some(Body { forest, bounds }))
        };
        let bodies = solids.iter().map(voxels).collect::<Result<_, FractureError>>()?;
        Ok(Self { whole, bodies, shift })
    }

    /// What the bodies have at the lowest voxel of a cube, with their numbers: of those whose boxes meet the cube.
    fn octants(&self, low: [u32; 3], size: u32) -> impl Iterator<Item = (u32, &Body, Octant)> {
        let corner = DVec3::from_array(low.map(f64::from));
        let cube = Aabb::new(corner, corner + f64::from(size));
        let near = move |body: &&Body| body.bounds.meets(&cube);
        let near =
            (0..).zip(&self.bodies).filter_map(move |(i, body)| Some((i, body.as_ref().filter(near)?)));
        near.map(move |(i, body)| (i, body, body.forest.octant_at(0, low.map(|v| v + self.shift))))
    }

    fn rest(&self) -> u32 {
        self.bodies.len() as u32
    }

    /// Who owns all of a voxel; `None` if a crack crosses it.
    fn only(&self, cell: [u32; 3]) -> Option<u32> {
        for (i, _, octant) in self.octants(cell, 1) {
            match octant {
                Octant::Leaf(_) => return None,
                Octant::Internal { .. } => return Some(i),
                Octant::Empty { .. } => {}
            }
        }
        Some(self.rest())
    }

    /// Whether no crack crosses an octant.
    fn is_one(&self, low: [u32; 3], size: u32) -> bool {
        for (_, _, octant) in self.octants(low, size) {
            match octant {
                Octant::Internal { size: own, .. } if own >= size => return true,
                Octant::Empty { size: own, .. } if own >= size => {}
                _ => return false,
            }
        }
        true
    }

    /// The sides of the crack through a voxel: a point of it belongs to the first whose plane it lies behind.
    fn owners(&self, cell: [u32; 3]) -> Vec<Owner> {
        let mut owners = Vec::new();
        for (i, body, octant) in self.octants(cell, 1) {
            match octant {
                Octant::Leaf(leaf) => {
                    let (leaves, leaf) = (&body.forest.leaves, leaf as usize);
                    let plane = (unpack_normal(leaves.normals[leaf]), leaves.colors[leaf].offset());
                    owners.push(Owner { cell: i, plane: Some(plane) });
                }
                Octant::Internal { .. } => {
                    owners.push(Owner { cell: i, plane: None });
                    return owners;
                }
                Octant::Empty { .. } => {}
            }
        }
        owners.push(Owner { cell: self.rest(), plane: None });
        owners
    }

    /// Whether a voxel has a neighbour within the source that is all `owner`'s.
    fn is_beside(&self, cell: [u32; 3], owner: u32) -> bool {
        let neighbours = (0..3).flat_map(|k| {
            [cell[k].checked_sub(1), cell[k].checked_add(1)].into_iter().flatten().map(move |v| (k, v))
        });
        neighbours
            .map(|(k, v)| {
                let mut next = cell;
                next[k] = v;
                next
            })
            .any(|next| self.is_inside(next) && self.only(next) == Some(owner))
    }

    fn is_inside(&self, cell: [u32; 3]) -> bool {
        self.whole.forest.is_internal(self.whole.tree as usize, cell)
    }

    /// The pieces.
    fn cut(
        &self,
        params: &FractureParams,
        volume: Volume,
        cancel: &Cancel,
    ) -> Result<Fracture, FractureError> {
        let (forest, tree) = (&self.whole.forest, self.whole.tree as usize);
        let mut copies: Vec<Vec<Voxel>> = (0..=self.rest()).map(|_| Vec::new()).collect();
        for i in self.whole.leaves() {
            if i.is_multiple_of(OFTEN) {
                cancel.check()?;
            }
            self.share_leaf(i, &mut copies);
        }
        cancel.check()?;
        let mut crossed = Vec::new();
        forest.visit_internal(tree, &mut |_, low, size| self.add_crossed(low, size, &mut crossed));
        for (i, cell) in crossed.into_iter().enumerate() {
            if i.is_multiple_of(OFTEN) {
                cancel.check()?;
            }
            let color = volume.color_at(middle_of(cell, 1, forest.level));
            self.share(cell, None, color, &mut copies);
        }
        let mut pieces = Vec::new();
        for (cell, copies) in (0..).zip(copies) {
            cancel.check()?;
            if copies.is_empty() {
                continue;
            }
            let own = built(forest.level, copies, &|low| self.is_inside(low) && self.only(low) == Some(cell));
            let level = params.island_level.unwrap_or(forest.level).clamp(1, forest.level);
            pieces.extend(apart(own, level, cancel)?.into_iter().map(|part| (cell, part)));
        }
        Ok(Fracture { volume, ..Fracture::of_pieces(self.whole, &pieces) })
    }

    /// The voxels of an octant that a crack crosses.
    fn add_crossed(&self, low: [u32; 3], size: u32, crossed: &mut Vec<[u32; 3]>) {
        if self.is_one(low, size) {
            return;
        }
        if size == 1 {
            crossed.push(low);
            return;
        }
        let half = size / 2;
        for c in 0..8u32 {
            let low = [0, 1, 2].map(|k| low[k] + half * (c >> k & 1));
            self.add_crossed(low, half, crossed);
        }
    }

    fn share_leaf(&self, i: usize, copies: &mut [Vec<Voxel>]) {
        let leaves = &self.whole.forest.leaves;
        let (key, color) = (leaves.keys.at(i), leaves.colors[i]);
        let cell = morton::decode(key);
        let cut = leaves.cuts.get(i).copied().unwrap_or(0);
        match self.only(cell) {
            Some(owner) => {
                let (normal, coverage) = (leaves.normals[i], leaves.coverage[i]);
                copies[owner as usize].push(Voxel { key, normal, color, coverage, cut });
            }
            None => self.share(cell, Some((i, cut)), color.rgb(), copies),
        }
    }

    /// Copies of a voxel that a crack crosses, for all that own some of its solid. `leaf`: the source's own surface there
    /// and its cut.
    fn share(&self, cell: [u32; 3], leaf: Option<(usize, u32)>, rgb: [u8; 3], copies: &mut [Vec<Voxel>]) {
        let leaves = &self.whole.forest.leaves;
        let surface = leaf.map(|(i, cut)| {
            let own = (unpack_normal(leaves.normals[i]), leaves.colors[i].offset());
            [Some(own), unpack_cut(cut)]
        });
        let owners = self.owners(cell);
        let mut shares = shares(&owners, &surface.unwrap_or_default());
        for (owner, share) in owners.iter().zip(&mut shares) {
            // A sheet of voxels without any solid would hang on to the wrong side of a cutter that ends at the surface. What
            // lies next to the inside of a piece stays, so that the inside has a surface all round.
            if *share == 0 && (leaf.is_none() || self.is_beside(cell, owner.cell)) {
                *share = 1;
            }
        }
        let all = shares.iter().sum::<u32>() as f32;
        let whole = leaf.map_or(1.0, |(i, _)| leaves.coverage[i]);
        for (k, (owner, share)) in
            owners.iter().zip(&shares).enumerate().filter(|(_, (_, share))| **share > 0)
        {
            let before = owners[..k].iter().rev().filter_map(|other| other.plane);
            let mut cracks = owner.plane.into_iter().chain(before.map(|(n, offset)| (-n, -offset)));
            let packed = |(normal, offset): (Vec3, f32)| pack_cut(normal, offset);
            let (normal, color, cut) = match leaf {
                Some((i, 0)) => (leaves.normals[i], leaves.colors[i], cracks.next().map_or(0, packed)),
                Some((i, cut)) => (leaves.normals[i], leaves.colors[i], cut),
                None => {
                    let (normal, offset) = cracks.next().unwrap_or((Vec3::Y, 0.0));
                    let cut = cracks.next().map_or(0, packed);
                    (pack_normal(normal), LeafColor::new(rgb, true, offset), cut)
                }
            };
            copies[owner.cell as usize].push(Voxel {
                key: morton::encode(cell),
                normal,
                color,
                coverage: whole * *share as f32 / all,
                cut,
            });
        }
    }
}

/// How many of 64 points of a voxel's solid, which lies behind `surface`, belong to each owner; at least one to somebody.
fn shares(owners: &[Owner], surface: &[Option<(Vec3, f32)>; 2]) -> Vec<u32> {
    let is_behind = |p: Vec3, (normal, offset): (Vec3, f32)| p.dot(normal) <= offset;
    let owner = |p: Vec3| owners.iter().position(|owner| owner.plane.is_none_or(|plane| is_behind(p, plane)));
    let mut counts = vec![0; owners.len()];
    let at = |k: u32| (2 * (k % 4)) as f32 / 8.0 - 0.375;
    for k in 0..64 {
        let p = Vec3::new(at(k), at(k / 4), at(k / 16));
        if surface.iter().flatten().all(|plane| is_behind(p, *plane))
            && let Some(owner) = owner(p)
        {
            counts[owner] += 1;
        }
    }
    if counts.iter().all(|count| *count == 0) {
        // So little that no point lies in it: what there is lies at the surface.
        let (normal, offset) = surface[0].unwrap_or((Vec3::Y, 0.0));
        counts[owner(normal * offset).unwrap_or(0)] = 1;
    }
    counts
}

/// One octree of copies; `is_inside` says of a voxel without any copy whether it is inside.
fn built(level: u32, mut copies: Vec<Voxel>, is_inside: &(dyn Fn([u32; 3]) -> bool + Sync)) -> Forest {
    copies.sort_unstable_by_key(|copy| copy.key);
    let leaves = Leaves {
        keys: copies.iter().map(|copy| copy.key).collect(),
        normals: copies.iter().map(|copy| copy.normal).collect(),
        colors: copies.iter().map(|copy| copy.color).collect(),
        coverage: copies.iter().map(|copy| copy.coverage).collect(),
        cuts: copies.iter().map(|copy| copy.cut).collect(),
    };
    build(level, leaves, &|key: Key, at: u32| is_inside(morton::decode(key << (3 * (level - at)))))
}

/// The connected parts of an octree, told apart at a level.
fn apart(forest: Forest, island_level: u32, cancel: &Cancel) -> Result<Vec<Forest>, Cancelled> {
    let (nodes, level_start) = (&forest.nodes[..], &forest.level_start[..]);
    let found = islands(Trees { nodes, level_start, leaves: forest.leaves.len() }, island_level, cancel)?;
    if found.components.len() < 2 {
        return Ok(vec![forest]);
    }
    let mut copies: Vec<Vec<Voxel>> = found.components.iter().map(|_| Vec::new()).collect();
    let leaves = &forest.leaves;
    for (i, key) in leaves.keys.iter().enumerate() {
        let label = label(&forest, &found, key);
        if let Ok(component) = found.components.binary_search_by_key(&label, |[label, _]| *label) {
            copies[component].push(Voxel {
                key,
                normal: leaves.normals[i],
                color: leaves.colors[i],
                coverage: leaves.coverage[i],
                cut: leaves.cuts[i],
            });
        }
    }
    let part = |([own, _], copies): (&[u32; 2], Vec<Voxel>)| {
        built(forest.level, copies, &|low| {
            forest.is_internal(0, low) && label(&forest, &found, morton::encode(low)) == *own
        })
    };
    Ok(found.components.iter().zip(copies).map(part).collect())
}

/// The label of the component that has a voxel of an octree.
fn label(forest: &Forest, found: &NativeIslands, key: Key) -> u32 {
    let mut index = 0;
    for level in 0..forest.level {
        let word = found.parts[index as usize];
        let octant = (key >> (3 * (forest.level - level - 1)) & 7) as u32;
        let node = forest.nodes[index as usize];
        if word & SEVERAL == 0 || node.valid() >> octant & 1 == 0 {
            return word & !SEVERAL;
        }
        index = node.child(octant);
    }
    // Every node at the level of the islands is of one component, and leaves lie below.
    u32::MAX
}
