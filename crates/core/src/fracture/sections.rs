//! The cracks of a break as sections: how much area two parts share, where, and how it is spread.
//!
//! In: the parts of a break. Out: a [`CrackSection`] for every pair of parts that share crack voxels or, of meshes, crack
//! triangles.
//!
//! Of triangles the sums are exact. Of voxels: a plane with the unit normal n passes through A |n|_1 / h^2 voxels of the edge
//! h in a way that leaves corners on both of its sides, so that each crack voxel of two parts stands for h^2 / |n|_1 of the
//! area, and a voxel at the object's surface for the solid share of that. A voxel of k parts lies on a line or in a corner
//! where cracks meet: each of its pairs gets 1 / (k - 1) of a voxel.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::{Part, solid::shared_cracks, voronoi::surface::plane::Plane};
use crate::{
    shape::{Octree, PieceMesh},
    svo::{Key, LeafColor, morton, unpack_normal},
};

/// A crack between two parts as a flat section. Shape space, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrackSection {
    /// Indices of the parts, the lower one first.
    pub parts: [u32; 2],
    /// Area, m^2: of rough cracks that of their projection on the mean plane.
    pub area: f64,
    /// Centre of the area.
    pub centre: DVec3,
    /// Unit normal of the mean plane, from the first part to the second.
    pub normal: DVec3,
    /// Second moments of the area about its centre, m^4: the integral of r r^T.
    pub moments: DMat3,
}

/// A copy of a voxel: its key, the part that has it, and its leaf.
type Copied = (Key, u32, u32);

/// Sums over the voxels that two parts share; lengths in voxels.
#[derive(Clone, Copy)]
struct Shared {
    /// Of voxels that no third part has: area-weighted normals.
    normal: DVec3,
    /// Of all voxels: weights, and first and second moments by them.
    weight: f64,
    first: DVec3,
    second: DMat3,
}

impl Shared {
    /// Of no voxel. A derived default would begin with the identity for `second`, which is glam's default of a matrix.
    const NONE: Self = Self { normal: DVec3::ZERO, weight: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };

    fn add(&mut self, at: DVec3, weight: f64) {
        self.weight += weight;
        self.first += at * weight;
        self.second += outer(at) * weight;
    }
}

/// The matrix r r^T.
fn outer(r: DVec3) -> DMat3 {
    DMat3::from_cols(r * r.x, r * r.y, r * r.z)
}

/// The projection onto the plane with this unit normal.
fn flattening(normal: DVec3) -> DMat3 {
    DMat3::IDENTITY - outer(normal)
}

/// The sections of all cracks between parts of one break, by ascending pair: octrees, or meshes that share the triangles of
/// their cracks. Empty where they are neither.
#[must_use]
pub fn crack_sections(parts: &[Part]) -> Vec<CrackSection> {
    let meshes: Vec<&PieceMesh> =
        parts.iter().filter_map(|part| part.shape.as_mesh()).map(|solid| &**solid.surface()).collect();
    match meshes.len() == parts.len() {
        true => {
            let cracks = shared_cracks(&meshes);
            cracks.iter().filter_map(|(parts, triangles)| of_triangles(*parts, triangles)).collect()
        }
        false => of_voxels(parts),
    }
}

/// The section of a crack of these triangles, counter-clockwise seen from outside the first of its parts; `None` where they
/// turn to no side.
fn of_triangles(parts: [u32; 2], triangles: &[[DVec3; 3]]) -> Option<CrackSection> {
    // Sums count from a corner of the crack: squares of large coordinates would leave few digits of small differences.
    let origin = triangles.first()?[0];
    let (mut facing, mut whole, mut first, mut second) = (DVec3::ZERO, 0.0, DVec3::ZERO, DMat3::ZERO);
    for corners in triangles {
        let [a, b, c] = [0, 1, 2].map(|k| corners[k] - origin);
        let (doubled, sum) = ((b - a).cross(c - a), a + b + c);
        let area = 0.5 * doubled.length();
        facing += 0.5 * doubled;
        whole += area;
        first += sum * (area / 3.0);
        second += (outer(a) + outer(b) + outer(c) + outer(sum)) * (area / 12.0);
    }
    let (normal, area, centre) = (facing.try_normalize()?, facing.length(), first / whole);
    let (flat, about) = (flattening(normal), second * (1.0 / whole) - outer(centre));
    Some(CrackSection { parts, area, centre: origin + centre, normal, moments: flat * about * flat * area })
}

fn of_voxels(parts: &[Part]) -> Vec<CrackSection> {
    let octrees: Vec<&Octree> = parts.iter().filter_map(|part| part.shape.as_octree()).collect();
    let Some(first) = octrees.first() else { return Vec::new() };
    if octrees.len() != parts.len() || octrees.iter().any(|octree| octree.grid != first.grid) {
        return Vec::new();
    }
    let mut copies: Vec<Copied> = octrees
        .par_iter()
        .enumerate()
        .flat_map_iter(|(part, octree)| {
            let keys = &octree.forest.leaves.keys;
            octree.leaves().map(move |leaf| (keys.at(leaf), part as u32, leaf as u32))
        })
        .collect();
    copies.par_sort_unstable();
    let mut pairs: BTreeMap<[u32; 2], Shared> = BTreeMap::new();
    for of_voxel in copies.chunk_by(|a, b| a.0 == b.0).filter(|copies| copies.len() > 1) {
        add_voxel(&octrees, of_voxel, &mut pairs);
    }
    let h = first.grid.h;
    let section = |(parts, sums): (&[u32; 2], &Shared)| {
        let centre = sums.first / sums.weight;
        let between = octrees[parts[1] as usize].mass.centre - octrees[parts[0] as usize].mass.centre;
        let normal = sums.normal.try_normalize().or(between.try_normalize())?;
        // Each voxel stands for 1 / |n|_1 of a voxel's face.
        let area = sums.weight / normal.abs().element_sum();
        let about = (sums.second * (1.0 / sums.weight) - outer(centre)) * area;
        // Flat: the teeth of rough cracks, and the roundings of offsets, are none of the section. A voxel's own share of
        // the plane is a twelfth of its area.
        let flat = flattening(normal);
        let moments = flat * about * flat + flat * (area / 12.0);
        Some(CrackSection {
            parts: *parts,
            area: area * h * h,
            centre: first.grid.origin + h * centre,
            normal,
            moments: moments * h.powi(4),
        })
    };
    pairs.iter().filter_map(section).collect()
}

fn add_voxel(octrees: &[&Octree], copies: &[Copied], pairs: &mut BTreeMap<[u32; 2], Shared>) {
    let middle = DVec3::from_array(morton::decode(copies[0].0).map(|v| f64::from(v) + 0.5));
    let planes: Vec<Option<(DVec3, f64)>> = copies.iter().map(|copy| crack_plane(octrees, copy)).collect();
    let solid: f64 = copies
        .iter()
        .map(|(_, part, leaf)| f64::from(octrees[*part as usize].forest.leaves.coverage[*leaf as usize]))
        .sum::<f64>()
        .min(1.0);
    let weight = solid / (copies.len() - 1) as f64;
    for (k, (_, a, _)) in copies.iter().enumerate() {
        for (other, (_, b, _)) in copies.iter().enumerate().skip(k + 1) {
            let sums = pairs.entry([*a, *b]).or_insert(Shared::NONE);
            let [out_of_a, out_of_b] = [planes[k], planes[other]];
            let at = match (copies.len(), out_of_a, out_of_b) {
                (2, Some((normal, offset)), Some((back, _))) => {
                    sums.normal += (normal - back) * (0.5 * weight);
                    middle + normal * offset
                }
                _ => middle,
            };
            sums.add(at, weight);
        }
    }
}

/// The plane of the crack through a copy of a voxel, out of its part: normal, and offset from the voxel's centre in voxels.
fn crack_plane(octrees: &[&Octree], (_, part, leaf): &Copied) -> Option<(DVec3, f64)> {
    let leaves = &octrees[*part as usize].forest.leaves;
    let leaf = *leaf as usize;
    let color: LeafColor = leaves.colors[leaf];
    if color.crack() {
        return Some((unpack_normal(leaves.normals[leaf]).as_dvec3(), f64::from(color.offset())));
    }
    let Plane { normal, offset, .. } = Plane::of_cut(leaves.cuts[leaf])?;
    Some((normal.as_dvec3().try_normalize()?, f64::from(offset) / 4096.0))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        compute::Compute,
        fracture::{
            BreakContext, Cancel, FractureParams, Impact, MethodId, Passes, SeedSource, Strike, Surface,
            break_shape,
        },
        geometry::Aabb,
        import::import,
        mesh::builtin,
        shape::{Look, Shape, Side},
        svo::{Arena, Grid},
        voxelize::{Progress, voxelize},
    };

    /// The built-in box at level 7, one voxel a hundredth of a metre, broken by seeds at these shares of its bounds; with
    /// its bounds and the seeds, m.
    fn broken(seeds: &[DVec3], surface: Surface) -> (Vec<Part>, [DVec3; 2], Vec<DVec3>) {
        let forest = Arc::new(voxelize(&builtin("box").unwrap(), 7, &Progress::default()).unwrap().forest);
        let grid = Grid { level: 7, origin: DVec3::new(-0.3, 0.2, 0.7), h: 0.01 };
        let octree = Octree::new(&forest, 0, grid);
        let (low, size) = (octree.mass.bounds.low, octree.mass.bounds.size());
        // The seeds as the pattern rounds them.
        let unit = 128.0;
        let points: Vec<DVec3> = seeds.iter().map(|at| ((low + *at * size) * unit).round() / unit).collect();
        let shape = Shape::octree(octree, 1000.0, Look::default());
        let (arena, passes) = (Arena::new(&Compute::Cpu).unwrap(), Passes::default());
        let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
        let params = FractureParams { surface, ..FractureParams::default() };
        let impact = Impact { point: shape.centre(), direction: DVec3::Y };
        let given = SeedSource::Points(points.clone());
        let strike = Strike { seeds: Some(&given), ..Strike::new(impact, &params) };
        let parts = break_shape(&context, &shape, &strike).unwrap().parts;
        let place = |p: DVec3| grid.origin + grid.h * p;
        // The surface lies half a voxel within the outermost voxels, on the mean.
        let solid = parts.iter().map(|part| part.shape.mass().volume_m3).sum::<f64>().cbrt();
        let middle = place(low + size / 2.0);
        let bounds = [middle - solid / 2.0, middle + solid / 2.0];
        (parts, bounds, points.into_iter().map(place).collect())
    }

    /// Area, centre and second moments of the face between two Voronoi cells within a box, by a fine raster.
    fn face(seeds: &[DVec3], [a, b]: [usize; 2], [low, high]: [DVec3; 2]) -> (f64, DVec3, DMat3) {
        let normal = (seeds[b] - seeds[a]).normalize();
        let (u, v) = normal.any_orthonormal_pair();
        let origin = (seeds[a] + seeds[b]) / 2.0;
        let (step, n) = (0.0025, 600);
        let (mut area, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for i in -n..=n {
            for j in -n..=n {
                let at = origin + (u * f64::from(i) + v * f64::from(j)) * step;
                let within = at.cmpge(low).all() && at.cmple(high).all();
                let own = at.distance_squared(seeds[a]);
                let nearest = || seeds.iter().all(|seed| seed.distance_squared(at) >= own - 1e-12);
                if within && nearest() {
                    area += step * step;
                    first += at * (step * step);
                    second += DMat3::from_cols(at * at.x, at * at.y, at * at.z) * (step * step);
                }
            }
        }
        let centre = first / area;
        let outer = DMat3::from_cols(centre * centre.x, centre * centre.y, centre * centre.z);
        (area, centre, second - outer * area)
    }

    const SEEDS: [DVec3; 7] = [
        DVec3::new(0.2, 0.25, 0.2),
        DVec3::new(0.8, 0.2, 0.35),
        DVec3::new(0.25, 0.8, 0.3),
        DVec3::new(0.7, 0.75, 0.15),
        DVec3::new(0.3, 0.3, 0.8),
        DVec3::new(0.85, 0.45, 0.9),
        DVec3::new(0.4, 0.85, 0.75),
    ];

    #[test]
    fn sections_have_the_area_place_and_moments_of_the_voronoi_faces() {
        for seeds in [&[DVec3::new(0.3, 0.4, 0.5), DVec3::new(0.7, 0.55, 0.45)][..], &SEEDS] {
            let (parts, bounds, places) = broken(seeds, Surface::Planar);
            assert_eq!(parts.len(), seeds.len());
            let sections = crack_sections(&parts);
            let (mut compared, mut worst) = (0, [0.0f64; 3]);
            let whole: f64 = sections.iter().map(|s| s.area).sum();
            let mut wanted_whole = 0.0;
            for section in &sections {
                let cells = section.parts.map(|part| parts[part as usize].cell as usize);
                let (area, centre, moments) = face(&places, cells, bounds);
                wanted_whole += area;
                if area < 0.02 {
                    continue;
                }
                compared += 1;
                let normal = (places[cells[1]] - places[cells[0]]).normalize();
                assert!(section.normal.dot(normal) > 0.9999, "{} {normal}", section.normal);
                let spread = |m: &DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
                let off = [
                    (section.area / area - 1.0).abs(),
                    section.centre.distance(centre) / area.sqrt(),
                    (spread(&section.moments) / spread(&moments) - 1.0).abs(),
                ];
                worst = std::array::from_fn(|k| worst[k].max(off[k]));
            }
            println!(
                "{compared} faces; area, centre, moments off by {worst:.4?}; in all {:.4}",
                whole / wanted_whole
            );
            assert!(
                compared >= seeds.len() / 2 && worst[0] < 0.02 && worst[1] < 0.01 && worst[2] < 0.03,
                "{worst:?}"
            );
            assert!((whole / wanted_whole - 1.0).abs() < 0.01, "{whole} of {wanted_whole}");
        }
    }

    #[test]
    fn a_rough_crack_has_the_section_of_its_projection() {
        let flat = crack_sections(&broken(&SEEDS, Surface::Planar).0);
        let rough = crack_sections(&broken(&SEEDS, Surface::Rough).0);
        let area = |all: &[CrackSection]| all.iter().map(|s| s.area).sum::<f64>();
        assert!((area(&rough) / area(&flat) - 1.0).abs() < 0.15, "{} and {}", area(&rough), area(&flat));
    }

    #[test]
    fn voxels_in_one_place_have_no_moments_about_it() {
        let (at, mut sums) = (DVec3::new(3.0, 4.0, 5.0), Shared::NONE);
        [0.5, 0.25].into_iter().for_each(|weight| sums.add(at, weight));
        let about = sums.second * (1.0 / sums.weight) - DMat3::from_cols(at * at.x, at * at.y, at * at.z);
        assert!(about.to_cols_array().iter().all(|moment| moment.abs() < 1e-12), "{about}");
    }

    /// The built-in cube of 1 m as a mesh, cut by box cutting round seeds at these shares of its bounds; with its bounds and
    /// the seeds, m.
    fn cut(seeds: &[DVec3]) -> (Vec<Part>, [DVec3; 2], Vec<DVec3>) {
        let object = import("builtin:box", 6, &Progress::default()).unwrap();
        let Aabb { low, high } = object.bounds;
        let places: Vec<DVec3> = seeds.iter().map(|at| low + *at * (high - low)).collect();
        let points = places.iter().map(|place| object.grid.from_mesh(*place)).collect();
        let (arena, passes) = (Arena::new(&Compute::Cpu).unwrap(), Passes::default());
        let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
        let method = MethodId::named("box-cut").unwrap();
        let params = FractureParams { method, ..FractureParams::default() };
        let impact = Impact { point: object.shape.centre(), direction: DVec3::Y };
        let given = SeedSource::Points(points);
        let strike = Strike { seeds: Some(&given), ..Strike::new(impact, &params) };
        let parts = break_shape(&context, &object.shape, &strike).unwrap().parts;
        assert_eq!(parts.len(), seeds.len());
        (parts, [low, high], places)
    }

    /// Seeds lie on a raster of 1 / 16384 of the grid's side, so planes between them are off by as much.
    const RASTER: f64 = 5e-4;

    #[test]
    fn a_cube_cut_by_a_plane_has_the_section_that_the_book_says() {
        // Two seeds, one on either side of a place in the plane.
        let cut_at = |place: DVec3, way: DVec3| {
            let (parts, [low, _], _) = cut(&[place - way, place + way]);
            let [section] = crack_sections(&parts)[..] else { panic!("one crack") };
            let between = parts[1].shape.mass().centre - parts[0].shape.mass().centre;
            assert_eq!(section.parts, [0, 1]);
            assert!(section.normal.dot(between.normalize()) > 0.9, "from the first part to the second");
            assert!(section.normal.dot(way.normalize()).abs() > 0.9999, "{section:?}");
            (section, low)
        };
        let about = |section: &CrackSection, axis: DVec3| axis.dot(section.moments * axis);
        // Square to an axis: the square of 1 m, b h^3 / 12.
        let (section, low) = cut_at(DVec3::new(0.51, 0.5, 0.5), DVec3::X * 0.25);
        assert!((section.area - 1.0).abs() < RASTER, "{section:?}");
        assert!(section.centre.distance(low + DVec3::new(0.51, 0.5, 0.5)) < RASTER, "{section:?} {low}");
        let square = DMat3::from_diagonal(DVec3::new(0.0, 1.0, 1.0) / 12.0);
        assert!(section.moments.abs_diff_eq(square, RASTER), "{section:?}");
        // Beside two opposite edges: a rectangle of 1 m and this length.
        let (section, low) = cut_at(DVec3::new(0.49, 0.49, 0.5), DVec3::new(0.2, 0.2, 0.0));
        let (long, along) = (0.98 * 2f64.sqrt(), DVec3::new(1.0, -1.0, 0.0).normalize());
        assert!((section.area - long).abs() < RASTER, "{section:?}");
        assert!(section.centre.distance(low + DVec3::new(0.49, 0.49, 0.5)) < RASTER, "{section:?} {low}");
        assert!((about(&section, along) - long.powi(3) / 12.0).abs() < RASTER, "{section:?}");
        assert!((about(&section, DVec3::Z) - long / 12.0).abs() < RASTER, "{section:?}");
        assert!(about(&section, section.normal).abs() < 1e-12, "flat: {section:?}");
        // Across a corner: an equilateral triangle, a^4 sqrt(3) / 96 about every axis through its centre.
        let (section, low) = cut_at(DVec3::splat(0.98 / 3.0), DVec3::splat(0.15));
        let root = 3f64.sqrt();
        assert!((section.area - long * long * root / 4.0).abs() < RASTER, "{section:?}");
        assert!(section.centre.distance(low + DVec3::splat(0.98 / 3.0)) < RASTER, "{section:?} {low}");
        assert!((about(&section, along) - long.powi(4) * root / 96.0).abs() < RASTER, "{section:?}");
    }

    #[test]
    fn sections_of_meshes_are_the_voronoi_faces_and_all_of_the_crack() {
        let (parts, bounds, places) = cut(&SEEDS);
        let sections = crack_sections(&parts);
        for section in &sections {
            let cells = section.parts.map(|part| parts[part as usize].cell as usize);
            let (area, centre, moments) = face(&places, cells, bounds);
            // The raster of the comparison counts squares of 2.5 mm along the border.
            assert!((section.area - area).abs() < 0.004 + 0.01 * area, "{section:?} {area}");
            if area > 0.02 {
                assert!(section.centre.distance(centre) < 0.005, "{section:?} {centre}");
                let spread = |m: &DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
                assert!((spread(&section.moments) / spread(&moments) - 1.0).abs() < 0.03, "{section:?}");
            }
        }
        // Both sides of all cracks, and nothing else.
        let inside = |part: &Part| -> f64 {
            let surface = part.shape.as_mesh().unwrap().surface();
            let faces = surface.corners_of_triangles().zip(&surface.faces);
            let cracks = faces.filter(|(_, face)| face.side == Side::Inside);
            cracks.map(|([a, b, c], _)| 0.5 * (b - a).cross(c - a).length()).sum()
        };
        let (sides, shared) =
            (parts.iter().map(inside).sum::<f64>(), sections.iter().map(|s| s.area).sum::<f64>());
        assert!((2.0 * shared / sides - 1.0).abs() < 1e-9, "{shared} of {sides}");
    }

    #[test]
    fn far_from_the_origin_a_crack_has_the_same_moments() {
        let [a, b, c] = [DVec3::ZERO, DVec3::new(0.03, 0.0, 0.0), DVec3::new(0.0, 0.04, 0.0)];
        let near = of_triangles([0, 1], &[[a, b, c]]).unwrap();
        let far = of_triangles([0, 1], &[[a, b, c].map(|p| p + DVec3::splat(65536.0))]).unwrap();
        // About an axis through the centroid: b h^3 / 36.
        assert!((near.moments.y_axis.y / (0.03 * 0.04f64.powi(3) / 36.0) - 1.0).abs() < 1e-12, "{near:?}");
        assert!(far.moments.abs_diff_eq(near.moments, 1e-9 * near.area), "{far:?} {near:?}");
        // A fold that is as large one way as the other turns to no side.
        assert!(
            of_triangles([0, 1], &[[a, b, c], [a, c, b]]).is_none() && of_triangles([0, 1], &[]).is_none()
        );
    }

    #[test]
    fn one_part_has_no_section() {
        let (parts, ..) = broken(&SEEDS[..1], Surface::Planar);
        assert!(crack_sections(&parts).is_empty() && crack_sections(&[]).is_empty());
    }
}
