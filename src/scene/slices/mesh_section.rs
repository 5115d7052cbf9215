//! The cross-section of a closed mesh, in colours.
//!
//! In: a surface, a plane in its local space, and values: one, or those of the octants of its voxels. Out: convex
//! polygons in the plane that cover what is solid there, with their values. Loops are closed edge by edge, holes stay
//! open.
//!
//! The surface's tree finds the triangles that the plane cuts; their number is about the root of that of all. Of n
//! edges in the plane, holes take up to n² / 4 steps to find their outlines, and ears n² to be cut off, of odd
//! outlines more. Of more than [`MOST_EDGES`] edges nothing is joined: the voxels that stand in for the surface fill
//! the section, whole. A tree over the triangles of the section finds those beneath each of m octants, so that both
//! together take about (n + m) log n steps.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::{CutOctant, Plane, section};
use crate::{
    geometry::{
        Aabb, BoxTree,
        polygon::{holds, loop_area, triangulate, turn},
    },
    shape::SolidMesh,
};

/// Most edges of a body's cross-section that are joined to polygons.
const MOST_EDGES: usize = 4096;
/// Most triangles of a cross-section in a leaf of their tree.
const A_LEAF: usize = 4;

/// What fills a cross-section.
pub(super) enum Filling {
    /// One value.
    Flat(Option<f64>),
    /// The values of the octants that the plane cuts.
    Octants(Vec<(CutOctant, Option<f64>)>),
}

/// A convex polygon in the plane, local space, with its value.
pub(super) type Face = (Vec<DVec3>, Option<f64>);

/// A triangle in the plane, counter-clockwise seen from where the normal points.
type Flat = [DVec2; 3];

/// Coordinates in a plane.
struct Axes {
    origin: DVec3,
    across: DVec3,
    up: DVec3,
}

impl Axes {
    fn of(plane: &Plane) -> Self {
        let across = plane.normal.any_orthonormal_vector();
        Self { origin: plane.normal * plane.at, across, up: plane.normal.cross(across) }
    }

    fn flat(&self, p: DVec3) -> DVec2 {
        let from = p - self.origin;
        DVec2::new(from.dot(self.across), from.dot(self.up))
    }

    fn place(&self, p: DVec2) -> DVec3 {
        self.origin + self.across * p.x + self.up * p.y
    }
}

/// The cross-section of a solid by a plane in its local space.
pub(super) fn faces(solid: &SolidMesh, plane: &Plane, filling: &Filling) -> Vec<Face> {
    faces_up_to(MOST_EDGES, solid, plane, filling)
}

fn faces_up_to(most: usize, solid: &SolidMesh, plane: &Plane, filling: &Filling) -> Vec<Face> {
    let axes = Axes::of(plane);
    let Some(triangles) = triangles(most, solid, plane, &axes) else { return blocks(solid, plane, filling) };
    match filling {
        Filling::Flat(value) => {
            triangles.iter().map(|t| (t.map(|p| axes.place(p)).to_vec(), *value)).collect()
        }
        Filling::Octants(octants) => {
            let tree = BoxTree::new(triangles, A_LEAF, |t| bounds(t), part);
            let parts = |(octant, value): &(CutOctant, Option<f64>)| -> Vec<Face> {
                let corners = plane.polygon(octant.low, octant.size);
                let polygon: Vec<DVec2> = corners.into_iter().map(|p| axes.flat(p)).collect();
                let (own, mut seen) = (bounds(&polygon), Vec::new());
                let cut = |triangle: &Flat| {
                    let part = within(&polygon, triangle);
                    if part.len() > 2 {
                        seen.push((part.into_iter().map(|p| axes.place(p)).collect(), *value));
                    }
                };
                tree.visit(|bounds| bounds.meets(&own), cut);
                seen
            };
            octants.par_iter().flat_map_iter(parts).collect()
        }
    }
}

/// The octants of the voxels that stand in for a solid, whole; none of a solid without voxels.
fn blocks(solid: &SolidMesh, plane: &Plane, filling: &Filling) -> Vec<Face> {
    let face = |octant: &CutOctant, value: Option<f64>| (plane.polygon(octant.low, octant.size), value);
    match (filling, solid.voxels()) {
        (Filling::Octants(octants), _) => {
            octants.iter().map(|(octant, value)| face(octant, *value)).collect()
        }
        (Filling::Flat(value), Some(octree)) => {
            let mut made = Vec::new();
            section(&octree.forest, octree.tree, plane, u32::MAX, &mut |octant| {
                made.push(face(&octant, *value));
            });
            made
        }
        (Filling::Flat(_), None) => Vec::new(),
    }
}

/// Bounds in the plane, without a third extent.
fn bounds(points: &[DVec2]) -> Aabb {
    Aabb::of(points.iter().map(|p| p.extend(0.0)))
}

/// Orders a run of triangles along the longer side of their bounds.
fn part(run: &mut [Flat], edges: DVec3) {
    let axis = usize::from(edges.y > edges.x);
    let middle = |t: &Flat| t.iter().map(|p| p[axis]).sum::<f64>();
    run.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
}

/// What of a convex polygon lies in a counter-clockwise triangle.
fn within(polygon: &[DVec2], triangle: &Flat) -> Vec<DVec2> {
    let mut left = polygon.to_vec();
    for k in 0..3 {
        let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
        let mut kept = Vec::with_capacity(left.len() + 1);
        for (i, p) in left.iter().enumerate() {
            let next = left[(i + 1) % left.len()];
            let (from, to) = (turn(a, b, *p), turn(a, b, next));
            if from >= 0.0 {
                kept.push(*p);
            }
            if (from >= 0.0) != (to >= 0.0) {
                kept.push(p.lerp(next, from / (from - to)));
            }
        }
        left = kept;
    }
    left
}

/// The triangles of the cross-section; `None` of more than `most` edges.
fn triangles(most: usize, solid: &SolidMesh, plane: &Plane, axes: &Axes) -> Option<Vec<Flat>> {
    let (points, loops) = loops(most, solid, plane, axes)?;
    let place = |node: &u32| points[*node as usize];
    let around = |ring: &[u32]| -> Vec<DVec2> { ring.iter().map(place).collect() };
    let sized = |ring: Vec<u32>| {
        let area = loop_area(&around(&ring));
        (area, ring)
    };
    let (mut outer, holes): (Vec<_>, Vec<_>) =
        loops.into_iter().map(sized).filter(|(area, _)| *area != 0.0).partition(|(area, _)| *area > 0.0);
    // The smallest loop round a hole is the one that it is cut out of.
    outer.sort_by(|a, b| a.0.total_cmp(&b.0));
    let outlines: Vec<Vec<DVec2>> = outer.iter().map(|(_, ring)| around(ring)).collect();
    let mut inner: Vec<Vec<Vec<u32>>> = vec![Vec::new(); outer.len()];
    for (area, hole) in holes {
        let is_round = |k: &usize| outer[*k].0 > -area && hole.iter().any(|p| holds(&outlines[*k], place(p)));
        if let Some(k) = (0..outer.len()).find(is_round) {
            inner[k].push(hole);
        }
    }
    let cut = |((_, ring), holes): (&(f64, Vec<u32>), &Vec<Vec<u32>>)| {
        triangulate(ring, holes, &|node| place(&node), &|_, _| true)
    };
    let all = outer.iter().zip(&inner).flat_map(cut).map(|t| t.map(|node| place(&node)));
    Some(all.filter(|[a, b, c]| turn(*a, *b, *c) > 0.0).collect())
}

/// Points in the plane, and loops of their numbers.
type Loops = (Vec<DVec2>, Vec<Vec<u32>>);

/// The loops in which the plane cuts the surface, counter-clockwise round what is solid; `None` of more than `most`
/// edges. A point lies on an edge of the surface, and a vertex in the plane belongs to the side above, so that each
/// edge is crossed once or not.
fn loops(most: usize, solid: &SolidMesh, plane: &Plane, axes: &Axes) -> Option<Loops> {
    let surface = solid.surface();
    let mut near = Vec::new();
    solid.cut_by(plane.normal, plane.at, |triangle| near.push(triangle.index));
    // In the order of the surface, whatever that of its tree.
    near.sort_unstable();
    let vertex = |number: u32| solid.to_local(surface.positions[number as usize]);
    let height = |number: u32| plane.normal.dot(vertex(number)) - plane.at;
    let is_below = |number: u32| height(number) < 0.0;
    let mut numbers: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    let (mut points, mut after): (Vec<DVec2>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
    let mut point_on = |a: u32, b: u32, after: &mut Vec<Vec<u32>>| {
        let [a, b] = [a.min(b), a.max(b)];
        *numbers.entry([a, b]).or_insert_with(|| {
            let [from, to] = [a, b].map(height);
            let crossing = vertex(a).lerp(vertex(b), from / (from - to));
            points.push(axes.flat(crossing));
            after.push(Vec::new());
            points.len() as u32 - 1
        })
    };
    for triangle in near.iter().filter_map(|index| surface.triangles.get(*index as usize)) {
        if after.len() > most {
            return None;
        }
        let edges = [0, 1, 2].map(|k: usize| (triangle[k], triangle[(k + 1) % 3]));
        // Seen from where the normal points, the outside is on the right of the way from the edge that goes down to the
        // one that goes up.
        let down = edges.iter().find(|(a, b)| !is_below(*a) && is_below(*b));
        let up = edges.iter().find(|(a, b)| is_below(*a) && !is_below(*b));
        if let (Some(down), Some(up)) = (down, up) {
            let from = point_on(down.0, down.1, &mut after);
            let to = point_on(up.0, up.1, &mut after);
            after[from as usize].push(to);
        }
    }
    let mut loops = Vec::new();
    for start in 0..after.len() {
        while let Some(mut at) = after[start].pop() {
            let mut ring = vec![start as u32];
            // Of an open surface the way ends, and is no loop.
            while at as usize != start {
                ring.push(at);
                let Some(next) = after[at as usize].pop() else { break };
                at = next;
            }
            if at as usize == start && ring.len() > 2 {
                loops.push(ring);
            }
        }
    }
    Some((points, loops))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Fracture, Object, shape::PieceMesh};

    const BOX: [[u32; 3]; 12] = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];

    /// A cube of edge `outer` at the origin with an empty cube of edge `inner` round its middle.
    fn hollow(outer: f64, inner: f64) -> SolidMesh {
        let corner = |k: usize| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64);
        let shell = 0.5 * (outer - inner);
        let mut positions: Vec<DVec3> = (0..8).map(|k| corner(k) * outer).collect();
        positions.extend((0..8).map(|k| corner(k) * inner + shell));
        let inside_out = BOX.map(|[a, b, c]| [a + 8, c + 8, b + 8]);
        let triangles = BOX.into_iter().chain(inside_out).collect();
        SolidMesh::new(Arc::new(PieceMesh::flat(positions, triangles, |_| [0; 3])), Arc::new([]))
    }

    fn area(points: &[DVec3]) -> f64 {
        let fan = points.windows(2).map(|pair| (pair[0] - points[0]).cross(pair[1] - points[0]));
        0.5 * fan.sum::<DVec3>().length()
    }

    fn sum(faces: &[Face]) -> f64 {
        faces.iter().map(|(corners, _)| area(corners)).sum()
    }

    #[test]
    fn the_box_has_its_volume() {
        let solid = hollow(8.0, 4.0);
        let corners = solid.surface().corners_of_triangles();
        let volume: f64 = corners.map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
        assert!((volume - (512.0 - 64.0)).abs() < 1e-9, "{volume}");
    }

    /// The area of a hollow cube's section is that of the cube less that of the hole, each by the polygon of a plane
    /// in a cube, which shares nothing with the loops; filled flat and by the cells of a grid.
    #[test]
    fn a_section_has_its_area_without_its_hole() {
        let solid = hollow(8.0, 4.0);
        for (normal, at) in [
            (DVec3::Z, 4.5),
            (DVec3::Z, 1.0),
            (DVec3::NEG_X, -3.0),
            (DVec3::new(1.0, 1.0, 1.0).normalize(), 7.0),
            (DVec3::new(0.3, -0.9, 0.2).normalize(), -1.7),
        ] {
            let plane = Plane { normal, at };
            let wanted = area(&plane.polygon([0; 3], 8)) - area(&plane.polygon([2; 3], 4));
            let flat = faces(&solid, &plane, &Filling::Flat(Some(3.0)));
            assert!((sum(&flat) - wanted).abs() < 1e-9 * wanted, "{normal}: {} of {wanted}", sum(&flat));
            assert!(flat.iter().all(|(_, value)| *value == Some(3.0)));
            // Every cell of the grid with its number.
            let cells = (0..512u32).map(|k| {
                let octant = CutOctant { low: [k & 7, k >> 3 & 7, k >> 6], size: 1, level: 3, leaf: None };
                (octant, Some(f64::from(k)))
            });
            let cut = cells.filter(|(octant, _)| plane.meets(octant.low, 1)).collect();
            let filled = faces(&solid, &plane, &Filling::Octants(cut));
            assert!((sum(&filled) - wanted).abs() < 1e-9 * wanted, "{normal}: {} of {wanted}", sum(&filled));
            for (corners, value) in filled.iter().filter(|(corners, _)| area(corners) > 1e-5) {
                let middle = corners.iter().sum::<DVec3>() / corners.len() as f64;
                assert!((normal.dot(middle) - at).abs() < 1e-9);
                let beside = middle - normal * 1e-9;
                let [x, y, z] = beside.floor().to_array().map(|v| v as u32);
                assert_eq!(*value, Some(f64::from(x | y << 3 | z << 6)), "at {middle}");
                let from_middle = (middle - 4.0).abs().max_element();
                assert!((2.0 - 1e-6..=4.0 + 1e-6).contains(&from_middle), "{middle} is empty");
            }
        }
    }

    /// The sections of the pieces of a box that is cut as a mesh have, all together, the area of the box's section;
    /// each by its own voxels, too, which stand in for it: along the surface, and whole where there are too many
    /// edges.
    #[test]
    fn the_pieces_of_a_box_cut_have_the_area_of_the_box() {
        let object = Object::open("builtin:box", 5).unwrap();
        let all = object.mesh.positions.iter().map(|p| DVec3::from_array(p.map(f64::from)));
        let (low, high) = all.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        let fracture = Fracture::by("box-cut").unwrap().cells(9);
        let pieces = object.fracture(&fracture).unwrap();
        let parts = &pieces.broken().steps[0].result.parts;
        let at = low.z + 0.4137 * (high.z - low.z);
        let wanted = (high.x - low.x) * (high.y - low.y);
        let (mut flat, mut filled, mut whole, mut cut) = (0.0, 0.0, 0.0, 0);
        for part in parts {
            let (solid, octree) = (part.shape.as_mesh().unwrap(), part.shape.as_octree().unwrap());
            let grid = octree.grid;
            let plane = Plane { normal: DVec3::Z, at: (at - grid.origin.z) / grid.h };
            let own = sum(&faces(solid, &plane, &Filling::Flat(None))) * grid.h * grid.h;
            let mut octants = Vec::new();
            section(&octree.forest, octree.tree, &plane, 1, &mut |octant| octants.push((octant, None)));
            let blocks: f64 =
                octants.iter().map(|(octant, _)| area(&plane.polygon(octant.low, octant.size))).sum();
            let fillings = [Filling::Octants(octants.clone()), Filling::Flat(None)];
            for filling in fillings.iter().filter(|_| own > 0.0) {
                let few = sum(&faces_up_to(2, solid, &plane, filling));
                assert!((few - blocks).abs() <= 1e-9 * blocks, "{few} of {blocks}");
            }
            whole += blocks * grid.h * grid.h;
            filled += sum(&faces(solid, &plane, &Filling::Octants(octants))) * grid.h * grid.h;
            flat += own;
            cut += usize::from(own > 0.0);
        }
        assert!(cut > 2, "{cut} of {} pieces", parts.len());
        assert!((flat / wanted - 1.0).abs() < 1e-6, "{flat} of {wanted}");
        assert!((filled / wanted - 1.0).abs() < 1e-3, "{filled} of {wanted}");
        assert!(whole > filled, "voxels reach beyond the surface: {whole} of {wanted}");
    }
}
