//! How the surface passes a corner of the grid.
//!
//! Eight voxels meet at a corner. The faces between solid and empty ones form one or more cycles round it; each cycle
//! is a sheet of the surface and gets its own vertex (Nielson 2004, Schaefer, Ju & Warren 2007). Where two solid and
//! two empty voxels alternate round an edge, the solid ones always count as connected: each empty one keeps its two
//! faces together.

use glam::{DVec3, IVec3};

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
