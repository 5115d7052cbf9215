//! The faces between solid and empty voxels, and their shared vertices.
//!
//! In: the solid voxels. Out: polygons with four or more corners that form a closed surface: every edge belongs to two
//! polygons, every vertex to one sheet.
//!
//! # How the surface passes a corner of the grid
//!
//! Eight voxels meet at a corner. The faces between solid and empty ones form one or more cycles round it; each cycle
//! is a sheet of the surface and gets its own vertex (Nielson 2004, Schaefer, Ju & Warren 2007). Where two solid and
//! two empty voxels alternate round an edge, the solid ones always count as connected: each empty one keeps its two
//! faces together.

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use super::bricks::Bricks;

/// Corners of the faces towards -x, +x, -y, +y, -z, +z, counter-clockwise seen from outside.
const CORNERS: [[[i32; 3]; 4]; 6] = [
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]],
    [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]],
    [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]],
    [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0]],
    [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]],
    [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
];

/// Identity of a vertex: a cycle of a corner, or a sheet in the middle of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

impl Place {
    fn of_corner(at: IVec3, cycle: u8) -> Self {
        Self(code(at) << 4 | u64::from(cycle))
    }

    /// The vertex on the edge from `at` along `axis`; `empty` says at which of the four voxels round it the sheet is.
    fn of_edge(at: IVec3, axis: usize, empty: usize) -> Self {
        Self(1 << 60 | code(at) << 4 | (axis << 2 | empty) as u64)
    }

    /// Indices of a corner's vertices in the sorted list.
    pub fn all_of_corner(places: &[Self], at: IVec3) -> std::ops::Range<usize> {
        let first = code(at) << 4;
        places.partition_point(|p| p.0 < first)..places.partition_point(|p| p.0 < first + 16)
    }

    /// The vertex's corner, for an edge the lower one.
    pub fn corner(self) -> IVec3 {
        let part = |shift: u32| (self.0 >> shift & 0xffff) as i32;
        IVec3::new(part(4), part(20), part(36))
    }

    /// The cycle, for a vertex of a corner.
    pub fn cycle(self) -> Option<u8> {
        (self.0 >> 60 == 0).then_some(self.0 as u8 & 15)
    }
}

fn code(at: IVec3) -> u64 {
    at.x as u64 | (at.y as u64) << 16 | (at.z as u64) << 32
}

/// The face of a solid voxel towards an empty one.
#[derive(Clone, Debug)]
pub struct Quad {
    pub solid: IVec3,
    /// Direction: -x, +x, -y, +y, -z, +z.
    pub side: u8,
    /// Vertices at its corners.
    pub corners: [u32; 4],
    /// Vertex in the middle of the edge that follows each corner, or `u32::MAX`.
    pub middles: [u32; 4],
}

impl Quad {
    pub fn direction(&self) -> IVec3 {
        let mut out = IVec3::ZERO;
        out[usize::from(self.side >> 1)] = if self.side & 1 == 1 { 1 } else { -1 };
        out
    }

    /// Whether two sheets pass one of its edges.
    pub fn has_middles(&self) -> bool {
        self.middles.iter().any(|middle| *middle != u32::MAX)
    }
}

/// All faces and their vertices.
pub struct Faces {
    pub quads: Vec<Quad>,
    pub places: Vec<Place>,
    /// Number of vertices + 1 offsets into `of_vertex`.
    starts: Vec<u32>,
    of_vertex: Vec<u32>,
}

struct Raw {
    solid: IVec3,
    side: u8,
    corners: [Place; 4],
    middles: [Option<Place>; 4],
}

impl Faces {
    /// The faces of the solid.
    pub fn new(bricks: &Bricks) -> Self {
        let voxels: Vec<IVec3> = bricks.each_near_leaves().collect();
        let raw: Vec<Raw> = voxels.par_iter().flat_map_iter(|at| faces_of(bricks, *at)).collect();
        let mut places: Vec<Place> = raw
            .iter()
            .flat_map(|quad| quad.corners.into_iter().chain(quad.middles.into_iter().flatten()))
            .collect();
        places.par_sort_unstable();
        places.dedup();
        let find = |place: Place| places.binary_search(&place).unwrap_or_default() as u32;
        let quads: Vec<Quad> = raw
            .par_iter()
            .map(|quad| Quad {
                solid: quad.solid,
                side: quad.side,
                corners: quad.corners.map(find),
                middles: quad.middles.map(|middle| middle.map_or(u32::MAX, find)),
            })
            .collect();
        let (starts, of_vertex) = by_vertex(&quads, places.len());
        Self { quads, places, starts, of_vertex }
    }

    /// Whether no other vertex belongs to the same corner or to an edge.
    pub fn is_alone(&self, vertex: usize) -> bool {
        let own = self.places[vertex];
        let beside = [vertex.checked_sub(1), Some(vertex + 1)].into_iter().flatten();
        let is_other = |v: usize| self.places.get(v).is_none_or(|place| place.0 >> 4 != own.0 >> 4);
        own.cycle().is_some() && beside.into_iter().all(is_other)
    }

    /// The faces round a vertex.
    pub fn round(&self, vertex: usize) -> &[u32] {
        &self.of_vertex[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }
}

fn by_vertex(quads: &[Quad], vertices: usize) -> (Vec<u32>, Vec<u32>) {
    let all = |quad: &Quad| quad.corners.into_iter().chain(quad.middles).filter(|v| *v != u32::MAX);
    let mut starts = vec![0u32; vertices + 1];
    quads.iter().flat_map(all).for_each(|v| starts[v as usize + 1] += 1);
    (0..vertices).for_each(|v| starts[v + 1] += starts[v]);
    let mut next = starts.clone();
    let mut of_vertex = vec![0; starts[vertices] as usize];
    for (i, quad) in quads.iter().enumerate() {
        for v in all(quad) {
            of_vertex[next[v as usize] as usize] = i as u32;
            next[v as usize] += 1;
        }
    }
    (starts, of_vertex)
}

/// Bit mask of the eight voxels round a corner of the central one of 27.
fn round_corner(around: u32, corner: IVec3) -> u8 {
    let mut bits = 0;
    for octant in 0..8 {
        let at = corner + IVec3::new(octant & 1, octant >> 1 & 1, octant >> 2);
        bits |= ((around >> (at.x + 3 * at.y + 9 * at.z) & 1) as u8) << octant;
    }
    bits
}

fn faces_of(bricks: &Bricks, at: IVec3) -> impl Iterator<Item = Raw> + use<> {
    const BESIDE: [u32; 6] = [12, 14, 10, 16, 4, 22];
    let around = bricks.around(at);
    let open = (0..6u8).filter(move |side| around >> BESIDE[usize::from(*side)] & 1 == 0);
    open.map(move |side| {
        let axis = usize::from(side >> 1);
        let corners = CORNERS[usize::from(side)].map(IVec3::from_array);
        // The octant of this face's lower voxel round the corner.
        let cycle = |corner: IVec3| {
            let mut octant = 0;
            for k in 0..3 {
                // This voxel is on the low side of its upper corners.
                octant |= usize::from(corner[k] == 0) << k;
            }
            cycles_of(round_corner(around, corner)).of(axis, octant & !(1 << axis))
        };
        let middle = |i: usize| {
            let (a, b) = (corners[i].min(corners[(i + 1) % 4]), corners[i].max(corners[(i + 1) % 4]));
            let along = (0..3).find(|k| a[*k] != b[*k]).unwrap_or_default();
            crossing_sheets(around, a, along, axis, side & 1 == 1)
                .map(|empty| Place::of_edge(at + a, along, empty))
        };
        Raw {
            solid: at,
            side,
            corners: corners.map(|corner| Place::of_corner(at + corner, cycle(corner))),
            middles: std::array::from_fn(middle),
        }
    })
}

/// If two sheets that are connected at both ends pass an edge of the grid: which of the voxels round it the sheet of
/// the face across `axis` is at. Without a vertex in between, four faces would share the edge.
fn crossing_sheets(around: u32, low: IVec3, along: usize, axis: usize, upper: bool) -> Option<usize> {
    let (u, v) = ((along + 1) % 3, (along + 2) % 3);
    let mut ends = [0; 2];
    for (end, bits) in ends.iter_mut().enumerate() {
        let mut corner = low;
        corner[along] += end as i32;
        *bits = round_corner(around, corner);
    }
    // The four voxels round the edge, among those above its lower end.
    let voxels = [0, 1 << u, 1 << v, 1 << u | 1 << v].map(|octant: usize| octant | 1 << along);
    let solid = voxels.map(|octant| ends[0] >> octant & 1 == 1);
    if solid[0] != solid[3] || solid[1] != solid[2] || solid[0] == solid[1] {
        return None;
    }
    let one = |end: usize, drop: usize| {
        let cycles = cycles_of(ends[end]);
        let octant = |i: usize| voxels[i] & !(drop << along);
        // Faces across u, between voxels 0 and 1 and between 2 and 3: one of each sheet.
        cycles.of(u, octant(0)) == cycles.of(u, octant(2))
    };
    if !(one(0, 0) && one(1, 1)) {
        return None;
    }
    // The central one of 27 is at position 1 - low round the edge; the face's empty voxel is beside it.
    let mut place = IVec3::ONE - low;
    place[axis] += if upper { 1 } else { -1 };
    Some((place[u] | place[v] << 1) as usize)
}

/// The cycles for one combination of solid voxels.
#[derive(Clone, Copy)]
pub struct VertexCases {
    /// The cycle of each face between a solid and an empty voxel.
    of_face: [u8; 12],
    pub count: u8,
    /// Direction of each cycle from the corner, if there are others to keep away from.
    aside: [[i8; 3]; 4],
}

/// By the bit mask of solid voxels; bit x + 2 y + 4 z.
static TABLE: [VertexCases; 256] = table();

const fn face(axis: usize, octant: usize) -> usize {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    axis * 4 + (octant >> u & 1) + 2 * (octant >> v & 1)
}

const fn table() -> [VertexCases; 256] {
    let mut out = [VertexCases { of_face: [u8::MAX; 12], count: 0, aside: [[0; 3]; 4] }; 256];
    let mut solid = 0;
    while solid < 256 {
        out[solid] = cycles(solid);
        solid += 1;
    }
    out
}

const fn cycles(solid: usize) -> VertexCases {
    // Unites consecutive faces; the lowest number is the representative.
    let mut root = [0; 12];
    let mut i = 0;
    while i < 12 {
        root[i] = i;
        i += 1;
    }
    let mut end = 0;
    while end < 6 {
        let (axis, side) = (end / 2, end % 2);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        // The four voxels round this end of the corner's edges, as a ring.
        let first = side << axis;
        let ring = [first, first | 1 << u, first | 1 << u | 1 << v, first | 1 << v];
        let mut faces = [0; 4];
        let mut open = [false; 4];
        let mut count = 0;
        let mut i = 0;
        while i < 4 {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            let across = if i % 2 == 0 { u } else { v };
            faces[i] = face(across, a & b);
            open[i] = (solid >> a & 1) != (solid >> b & 1);
            count += open[i] as usize;
            i += 1;
        }
        if count == 4 {
            // Face i lies between voxels i and i + 1 of the ring; the faces of each empty voxel belong together.
            let empty = if solid >> ring[0] & 1 == 0 { 0 } else { 1 };
            root = unite(root, faces[empty], faces[(empty + 3) % 4]);
            root = unite(root, faces[empty + 2], faces[empty + 1]);
        } else if count == 2 {
            let mut first = 4;
            let mut i = 0;
            while i < 4 {
                if open[i] && first == 4 {
                    first = i;
                } else if open[i] {
                    root = unite(root, faces[first], faces[i]);
                }
                i += 1;
            }
        }
        end += 1;
    }
    let mut out = VertexCases { of_face: [u8::MAX; 12], count: 0, aside: [[0; 3]; 4] };
    let mut axis = 0;
    while axis < 3 {
        let mut octant = 0;
        while octant < 8 {
            let beside = octant | 1 << axis;
            if octant >> axis & 1 == 0 && (solid >> octant & 1) != (solid >> beside & 1) {
                let f = face(axis, octant);
                let r = root[f];
                if r == f {
                    out.of_face[f] = out.count;
                    out.count += 1;
                }
            }
            octant += 1;
        }
        axis += 1;
    }
    let mut f = 0;
    while f < 12 {
        if out.of_face[root[f]] != u8::MAX {
            out.of_face[f] = out.of_face[root[f]];
        }
        f += 1;
    }
    aside(solid, &mut out);
    out
}

const fn unite(mut root: [usize; 12], a: usize, b: usize) -> [usize; 12] {
    let (low, high) = if root[a] < root[b] { (root[a], root[b]) } else { (root[b], root[a]) };
    let mut i = 0;
    while i < 12 {
        if root[i] == high {
            root[i] = low;
        }
        i += 1;
    }
    root
}

/// A cycle separates the voxels into two groups; it moves towards the one without other cycles.
const fn aside(solid: usize, out: &mut VertexCases) {
    let mut cycle = 0;
    while out.count > 1 && cycle < out.count {
        // Voxels connected without crossing this cycle, from its solid and from its empty side.
        let mut side = 0;
        while side < 2 {
            let (mut reached, mut others) = (0, false);
            let mut round = 0;
            while round < 9 {
                let mut axis = 0;
                while axis < 3 {
                    let mut octant = 0;
                    while octant < 8 {
                        let beside = octant | 1 << axis;
                        if octant != beside {
                            let f = out.of_face[face(axis, octant)];
                            let (here, there) = (1 << octant, 1 << beside);
                            if f == cycle {
                                let start =
                                    if (solid >> octant & 1 == 1) == (side == 0) { here } else { there };
                                reached |= start;
                            } else if reached & (here | there) != 0 {
                                reached |= here | there;
                                others |= f != u8::MAX;
                            }
                        }
                        octant += 1;
                    }
                    axis += 1;
                }
                round += 1;
            }
            if !others {
                let mut octant = 0;
                while octant < 8 {
                    if reached >> octant & 1 == 1 {
                        let mut axis = 0;
                        while axis < 3 {
                            out.aside[cycle as usize][axis] += if octant >> axis & 1 == 1 { 1 } else { -1 };
                            axis += 1;
                        }
                    }
                    octant += 1;
                }
                side = 2;
            }
            side += 1;
        }
        cycle += 1;
    }
}

/// The cycles round a corner, by the bit mask of solid voxels.
pub fn cycles_of(solid: u8) -> &'static VertexCases {
    &TABLE[solid as usize]
}

impl VertexCases {
    /// The cycle of the face across `axis` whose voxel on the low side is `octant`.
    pub fn of(&self, axis: usize, octant: usize) -> u8 {
        self.of_face[face(axis, octant)]
    }

    /// Direction in which a cycle keeps away from the others: a unit vector, or zero if there are no others.
    pub fn aside(&self, cycle: u8) -> DVec3 {
        IVec3::from_array(self.aside[cycle as usize].map(i32::from)).as_dvec3().normalize_or_zero()
    }
}
