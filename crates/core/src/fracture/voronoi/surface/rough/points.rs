//! Separation points of a crossed voxel (2018, sec. 5.2), from the owners of its corners alone, so that neighbours
//! agree on shared edges and faces: the same as `rough/points.wgsl`.
//!
//! # The numbers of a [`CrackShape`] as the kernels take them
//!
//! Random numbers of crack surfaces, in whole numbers: the same as `rough/noise.wgsl` (2018, sec. 5.2: a procedural
//! value for every vertex).
//!
//! The crossed voxels of the transition level on the processor's cores, for display: like those that `transition.rs`
//! reads back.

use std::sync::Arc;

use super::{
    CrackShape, Offset, Sides, TransitionVoxel, UNITS,
    native::{edge_corners, edge_faces},
};
use crate::{
    fracture::{
        UNIT_BITS,
        interior::VolumeGrid,
        voronoi::descent::native::{Candidate, WalkedNode, distance2, is_single, narrow},
    },
    gpu::layout,
    svo::Forest,
};

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
        let weights = self.weights(words);
        std::array::from_fn(|edge| {
            let ends = edge_corners(edge);
            let [a, b] = ends.map(|corner| self.objects[corner]);
            if a == b {
                0
            } else {
                words.edge_point(ends.map(|corner| weights[corner]), || self.crossing(ends))
            }
        })
    }

    /// The weights of all corners.
    pub fn weights(&self, words: &CrackUniform) -> [i32; 8] {
        std::array::from_fn(|c| weight(self.corner(c).map(|v| v as u32), words, words.salt))
    }

    /// Where the bisector of the seeds of an edge's ends crosses the edge, from its low end: t0 of 2018, eq. 3, inside the
    /// edge by a unit at least.
    pub fn crossing(&self, [a, b]: [usize; 2]) -> i32 {
        // How much farther the high end's seed is: not negative at the low end, not positive at the high one.
        let lead = |c: usize| {
            let at = self.corner(c);
            distance2(at, self.seeds[b]) - distance2(at, self.seeds[a])
        };
        let (first, last) = (i64::from(lead(a)), i64::from(lead(b)));
        let whole = first - last;
        let share = if first >= whole { UNITS } else { (i64::from(UNITS) * first / whole) as i32 };
        within_edge(share)
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

/// Whole-number parameters; field for field what `shaders/fracture/voronoi/surface/rough/noise.wgsl` declares.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct CrackUniform {
    /// Random seed, folded to 32 bits.
    pub salt: u32,
    /// 0 balance, 1 plane.
    pub offset: u32,
    /// Pull towards the Voronoi face, 0 to 256.
    pub strength: i32,
    /// 1/512 edge.
    pub amplitude: i32,
    /// Lattice cells a grid side.
    pub frequency: u32,
    /// Layers.
    pub octaves: u32,
    /// Largest displacement of face points, 1/512 edge.
    pub face: i32,
    /// Largest displacement of voxel points, 1/512 edge.
    pub voxel: i32,
    /// 0 cone, 1 votes.
    pub votes: u32,
    /// Transition level.
    pub transition: u32,
    /// Dusty surfaces: width of the gap where it is widest, 1/256 of 1/512 edge; see [`CrackUniform::with_gap`].
    pub gap: i32,
    /// How much of it the noise takes away at most, 0 to 256.
    pub irregularity: i32,
}

layout!(CrackUniform as "CrackUniform" {
    salt, offset, strength, amplitude, frequency, octaves, face, voxel, votes, transition, gap, irregularity
});

impl CrackUniform {
    /// Rounds a checked shape; `rng` is the fracture's random seed.
    #[must_use]
    pub fn new(shape: &CrackShape, rng: u64, transition: u32) -> Self {
        let edges = |v: f64| (v * f64::from(UNITS)).round() as i32;
        // Two halves that differ must not cancel out.
        let mixed =
            (rng ^ (rng >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Self {
            salt: (mixed >> 32) as u32,
            offset: u32::from(shape.offset == Offset::Plane),
            strength: (shape.strength * 256.0).round() as i32,
            amplitude: edges(shape.noise.amplitude),
            frequency: shape.noise.frequency,
            octaves: shape.noise.octaves,
            face: edges(shape.displacement.face),
            voxel: edges(shape.displacement.voxel),
            votes: u32::from(shape.sides == Sides::Votes),
            transition,
            gap: 0,
            irregularity: 0,
        }
    }

    /// An edge separation point, units from the edge's low end (2018, eq. 3): `a` and `b` are the weights of the low
    /// and the high end, `crossing` is where the bisector of their seeds crosses the edge, and is not called for where
    /// the weights alone decide. Divisions round towards zero.
    pub(in crate::fracture) fn edge_point(&self, [a, b]: [i32; 2], crossing: impl FnOnce() -> i32) -> i32 {
        let difference = a - b;
        if self.offset == 0 {
            return within_edge(UNITS / 2 + self.amplitude * difference / (2 * (a + b + 1)));
        }
        let pulled = (crossing() - UNITS / 2) * self.strength / 256;
        within_edge(UNITS / 2 + pulled + self.amplitude * difference / 255)
    }

    /// With the gap of a dusty surface, for leaves of `leaf_level`.
    #[must_use]
    pub fn with_gap(self, shape: &CrackShape, leaf_level: u32) -> Self {
        let leaf_edge = UNITS >> (leaf_level - self.transition);
        Self {
            gap: (shape.dusty.width * 256.0).round() as i32 * leaf_edge,
            irregularity: (shape.dusty.irregularity * 256.0).round() as i32,
            ..self
        }
    }
}

/// A random word of a lattice point.
pub(in crate::fracture) fn hash(p: [u32; 3], salt: u32) -> u32 {
    let stirred = p.iter().fold(salt, |h, v| {
        let h = (h ^ v).wrapping_mul(0x9e37_79b1);
        let h = (h ^ h >> 15).wrapping_mul(0x85eb_ca77);
        h ^ h >> 13
    });
    let h = stirred.wrapping_mul(0xc2b2_ae3d);
    h ^ h >> 16
}

fn mix(a: u32, b: u32, t: u32) -> u32 {
    (a * (256 - t) + b * t) >> 8
}

/// Value noise, 0 to 255; `p` in fixed point, `frequency` lattice cells a grid side.
fn value_noise(p: [u32; 3], frequency: u32, salt: u32) -> u32 {
    let scaled = p.map(|v| v * frequency);
    let cell = scaled.map(|v| v >> UNIT_BITS);
    let smooth = scaled.map(|v| {
        let t = (v & ((1 << UNIT_BITS) - 1)) >> 6;
        (t * t * (768 - 2 * t)) >> 16
    });
    let at = |x: u32, y: u32, z: u32| hash([cell[0] + x, cell[1] + y, cell[2] + z], salt) >> 24;
    let row = |y: u32, z: u32| mix(at(0, y, z), at(1, y, z), smooth[0]);
    let sheet = |z: u32| mix(row(0, z), row(1, z), smooth[1]);
    mix(sheet(0), sheet(1), smooth[2])
}

/// Weight of a corner of the transition grid, 0 to 255; `salt` is that of the words or another noise's.
pub(in crate::fracture) fn weight(p: [u32; 3], words: &CrackUniform, salt: u32) -> i32 {
    let layer = |octave: u32| {
        let salt = salt.wrapping_add(octave.wrapping_mul(0x3c6e_f372));
        value_noise(p, words.frequency << octave, salt) << (words.octaves - 1 - octave)
    };
    ((0..words.octaves).map(layer).sum::<u32>() / ((1 << words.octaves) - 1)) as i32
}

/// -1 to 1 times `reach`, from one byte of a random word.
pub(in crate::fracture) fn stray(random: u32, byte: usize, reach: i32) -> i32 {
    (((random >> (8 * byte) & 0xff) as i32 - 128) * reach) / 128
}

/// Those of `tree`, in Morton order. `list` has ranks as slots, `ids` are the object ids by rank.
pub(in crate::fracture) fn crossed_voxels(
    source: &Forest,
    tree: u32,
    list: &[Candidate],
    words: &CrackUniform,
    ids: &[u32],
) -> Vec<TransitionVoxel> {
    let mut search = Search { source, words, found: Vec::new() };
    search.node(&WalkedNode { source: tree, level: 0, key: 0 }, list);
    let mut found = search.found;
    for voxel in &mut found {
        voxel.objects = voxel.objects.map(|rank| ids.get(rank as usize).copied().unwrap_or(rank));
    }
    found
}

struct Search<'a> {
    source: &'a Forest,
    words: &'a CrackUniform,
    found: Vec<TransitionVoxel>,
}

impl Search<'_> {
    fn node(&mut self, place: &WalkedNode, list: &[Candidate]) {
        if is_single(list) {
            return;
        }
        if place.level == self.words.transition {
            let corners = Corners::new(list, place.low(), 1 << (UNIT_BITS - place.level));
            if corners.crossed() {
                self.found.push(corners.separate(self.words));
            }
            return;
        }
        let (valid, internal) = place.octants(&self.source.nodes);
        let (mut leads, mut masks) = (Vec::new(), Vec::new());
        narrow(place, list, &mut leads, &mut masks);
        for octant in (0..8).filter(|octant| (valid | internal) >> octant & 1 == 1) {
            let kept = list.iter().zip(&masks).filter(|(_, mask)| *mask >> octant & 1 == 1);
            let below: Vec<Candidate> = kept.map(|(candidate, _)| *candidate).collect();
            self.node(&place.child(&self.source.nodes, octant), &below);
        }
    }
}
