//! Separation points of a crossed voxel (2018, sec. 5.2), from the owners of its corners alone, so that neighbours
//! agree on shared edges and faces: the same as `rough/points.wgsl`.

use super::{
    CrackUniform, TransitionVoxel, UNITS,
    noise::{hash, stray, weight},
    voxel::{edge_corners, edge_faces},
};
use crate::{
    fracture::{
        UNIT_BITS,
        interior::VolumeGrid,
        voronoi::descent::native::{Candidate, WalkedNode, distance2},
    },
    svo::Forest,
};
use std::sync::Arc;

/// The corners of a transition voxel.
pub(in crate::fracture) struct Corners {
    /// Low corner, fixed point.
    pub low: [i32; 3],
    /// Edge, fixed point.
    pub size: i32,
    /// Nearest seeds.
    pub seeds: [[i32; 3]; 8],
    /// Their objects.
    pub objects: [u32; 8],
}

fn within_edge(v: i32) -> i32 {
    v.clamp(1, UNITS - 1)
}

impl Corners {
    /// With the nearest candidates, the first of equally near ones.
    pub fn new(list: &[Candidate], low: [i32; 3], size: i32) -> Self {
        let mut corners = Self { low, size, seeds: [[0; 3]; 8], objects: [0; 8] };
        for c in 0..8 {
            let at = corners.corner(c);
            let nearest = list.iter().min_by_key(|candidate| (distance2(at, candidate.at), candidate.index));
            if let Some(nearest) = nearest {
                (corners.seeds[c], corners.objects[c]) = (nearest.at, nearest.slot);
            }
        }
        corners
    }

    /// Whether they belong to several objects.
    pub fn crossed(&self) -> bool {
        self.objects.iter().any(|object| *object != self.objects[0])
    }

    fn corner(&self, c: usize) -> [i32; 3] {
        [0, 1, 2].map(|a| self.low[a] + self.size * (c >> a & 1) as i32)
    }

    /// Places of the edge separation points from the edges' low ends; 0 where an edge is not crossed.
    pub fn edge_offsets(&self, words: &CrackUniform) -> [i32; 12] {
        let weights: [i32; 8] =
            std::array::from_fn(|c| weight(self.corner(c).map(|v| v as u32), words, words.salt));
        std::array::from_fn(|edge| {
            let [a, b] = edge_corners(edge);
            if self.objects[a] == self.objects[b] {
                return 0;
            }
            let difference = weights[a] - weights[b];
            if words.offset == 0 {
                let sum = weights[a] + weights[b] + 1;
                return within_edge(UNITS / 2 + words.amplitude * difference / (2 * sum));
            }
            // How much farther the high end's seed is: not negative at the low end, not positive at the high one.
            let lead = |c: usize| {
                let at = self.corner(c);
                distance2(at, self.seeds[b]) - distance2(at, self.seeds[a])
            };
            let (first, last) = (i64::from(lead(a)), i64::from(lead(b)));
            let whole = first - last;
            let share = if first >= whole { UNITS } else { (i64::from(UNITS) * first / whole) as i32 };
            let crossing = within_edge(share);
            within_edge(
                UNITS / 2
                    + (crossing - UNITS / 2) * words.strength / 256
                    + words.amplitude * difference / 255,
            )
        })
    }

    /// The crossed voxel; its objects are those of the corners.
    pub fn separate(&self, words: &CrackUniform) -> TransitionVoxel {
        let Self { low, size, objects, .. } = *self;
        let offsets = self.edge_offsets(words);
        let edge_points: [Option<[i32; 3]>; 12] = std::array::from_fn(|edge| {
            let a = edge_corners(edge)[0];
            let mut point = [0, 1, 2].map(|axis| UNITS * (a >> axis & 1) as i32);
            point[edge / 4] = offsets[edge];
            (offsets[edge] != 0).then_some(point)
        });
        let mut sums = [([0i32; 3], 0i32); 6];
        for (edge, point) in edge_points.iter().enumerate() {
            if let Some(point) = point {
                for face in edge_faces(edge) {
                    (0..3).for_each(|a| sums[face].0[a] += point[a]);
                    sums[face].1 += 1;
                }
            }
        }
        let mut sum = [0i32; 3];
        let mut faces = 0;
        let mut face_points = [None; 6];
        for (face, (on_face, count)) in sums.into_iter().enumerate() {
            if count == 0 {
                continue;
            }
            let axis = face / 2;
            let mut origin = low;
            origin[axis] += (face % 2) as i32 * size;
            let random = hash(origin.map(|v| v as u32), words.salt ^ (0xface_0000 + axis as u32));
            let mut point = [0; 3];
            point[axis] = UNITS * (face % 2) as i32;
            for byte in 0..2 {
                let a = (axis + 1 + byte) % 3;
                point[a] = within_edge(on_face[a] / count + stray(random, byte, words.face));
            }
            (0..3).for_each(|a| sum[a] += point[a]);
            faces += 1;
            face_points[face] = Some(point);
        }
        let random = hash(low.map(|v| v as u32), words.salt ^ 0x0b0d_0000);
        let voxel_point =
            std::array::from_fn(|a| within_edge(sum[a] / faces.max(1) + stray(random, a, words.voxel)));
        let place = low.map(|v| (v / size) as u32);
        TransitionVoxel { place, objects, edge_points, face_points, voxel_point }
    }
}

/// Input of rough and dusty surfaces.
pub(in crate::fracture) struct Cracking {
    pub source: Arc<Forest>,
    pub volume: Arc<VolumeGrid>,
    pub words: CrackUniform,
}

impl Cracking {
    /// Levels from the transition voxels to the leaves.
    pub fn below(&self) -> u32 {
        self.source.level - self.words.transition
    }

    /// The corners of a transition voxel; `None` if it belongs to one object.
    pub fn corners(&self, place: &WalkedNode, list: &[Candidate]) -> Result<Corners, u32> {
        let corners = Corners::new(list, place.low(), 1 << (UNIT_BITS - place.level));
        if corners.crossed() { Ok(corners) } else { Err(corners.objects[0]) }
    }
}
