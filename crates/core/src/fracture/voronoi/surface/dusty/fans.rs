//! One crossed transition voxel with gaps: every object's border, as fans of triangles. Same algorithm as
//! `dusty/split.wgsl`, `voxel.wgsl` and `shares.wgsl`.

use glam::IVec3;

use crate::{
    fracture::voronoi::surface::{
        refine::{Asked, Crossed, Gets, ranks_of},
        rough::{
            CrackUniform, UNITS,
            native::edge_corners,
            points::{Corners, weight},
        },
    },
    geometry::set_bits,
};

/// Triangle 2 x edge + end belongs to the object at that end of a crossed edge: from its point there to its point on
/// the next crossed edge round the same loop, and to the loop's centre; counter-clockwise seen from outside.
#[derive(Clone)]
pub(in crate::fracture) struct Fans {
    /// Objects by rank: slots of the task.
    pub slots: Vec<u32>,
    /// Rank of every corner's object.
    ranks: [u8; 8],
    /// Triangles of every rank's border.
    pub borders: [u32; 8],
    /// All triangles.
    pub all: u32,
    points: [[i16; 3]; 24],
    centres: [[i16; 3]; 24],
    next: [u8; 24],
}

/// The edge from corner 3 up to corner 7.
const LAST_EDGE: usize = 11;

fn whole(p: [i16; 3]) -> IVec3 {
    IVec3::from_array(p.map(i32::from))
}

impl Fans {
    pub fn new(corners: &Corners, words: &CrackUniform) -> Self {
        let (slots, ranks) = ranks_of(&corners.objects);
        let offsets = corners.edge_offsets(words);
        let halves: [i32; 8] = std::array::from_fn(|c| {
            let at = [0, 1, 2].map(|a| (corners.low[a] + corners.size * (c >> a & 1) as i32) as u32);
            half_gap(at, words)
        });
        let mut fans = Self {
            slots,
            ranks,
            borders: [0; 8],
            all: 0,
            points: [[0; 3]; 24],
            centres: [[0; 3]; 24],
            next: [0; 24],
        };
        for (edge, offset) in offsets.into_iter().enumerate() {
            if offset == 0 {
                continue;
            }
            let [a, b] = edge_corners(edge);
            for (end, place) in [offset - halves[a], offset + halves[b]].into_iter().enumerate() {
                let mut point = [0, 1, 2].map(|axis| UNITS as i16 * (a >> axis & 1) as i16);
                point[edge / 4] = place.clamp(1, UNITS - 1) as i16;
                let t = 2 * edge + end;
                fans.points[t] = point;
                fans.all |= 1 << t;
                fans.borders[ranks[[a, b][end]] as usize] |= 1 << t;
            }
        }
        fans.link();
        fans
    }

    /// Links triangles to loops, and finds the loops' centres.
    fn link(&mut self) {
        let mut open = self.all;
        while open != 0 {
            let first = open.trailing_zeros() as usize;
            let (mut t, mut sum, mut around) = (first, IVec3::ZERO, 0u32);
            while open >> t & 1 == 1 {
                open &= !(1 << t);
                around |= 1 << t;
                sum += whole(self.points[t]);
                let next = self.following(t);
                self.next[t] = next as u8;
                t = next;
            }
            let count = around.count_ones() as i32;
            let centre = (sum / count).clamp(IVec3::ONE, IVec3::splat(UNITS - 1));
            for t in set_bits(around) {
                self.centres[t as usize] = centre.to_array().map(|v| v as i16);
            }
        }
    }

    /// The next triangle in a loop; see `split.wgsl`.
    fn following(&self, t: usize) -> usize {
        let axis = t / 8;
        let [low, high] = edge_corners(t / 2);
        let a = if t.is_multiple_of(2) { low } else { high };
        let object = self.ranks[a];
        let turn = (axis + 1 + (a.count_ones() as usize & 1)) % 3;
        let second = a ^ 1 << turn;
        let third = second ^ 1 << axis;
        let fourth = a ^ 1 << axis;
        let (last, other) = if self.ranks[second] != object {
            (a, second)
        } else if self.ranks[third] != object {
            (second, third)
        } else {
            (third, fourth)
        };
        let along = (last ^ other).trailing_zeros() as usize;
        let low = last.min(other);
        let edge = 4 * along + (low >> ((along + 1) % 3) & 1) + 2 * (low >> ((along + 2) % 3) & 1);
        2 * edge + usize::from(last > other)
    }

    /// Corners of a triangle, the fan's centre last.
    pub fn triangle(&self, t: usize) -> [IVec3; 3] {
        [whole(self.points[t]), whole(self.points[self.next[t] as usize]), whole(self.centres[t])]
    }

    /// Whether p, on no triangle, lies in the polyhedron of a rank: the parity of what a ray along +x crosses until
    /// the wall x = 1, and on the wall the parity of what a ray along +y crosses until its edge.
    fn holds(&self, rank: usize, p: IVec3) -> bool {
        let mut odd = false;
        for t in set_bits(self.borders[rank]) {
            let [a, b, c] = self.triangle(t as usize);
            if a.x == UNITS && b.x == UNITS {
                let a_above = a.z > p.z;
                let turn = if a_above { hand(b, a, p) } else { hand(a, b, p) };
                odd ^= a_above != (b.z > p.z) && turn > 0;
            }
            let first = is_left(a, b, p);
            if first == is_left(b, c, p) && first == is_left(c, a, p) && hand(a, b, c) != 0 {
                let normal = (b - a).cross(c - a);
                odd ^= normal.dot(a - p).signum() * normal.x.signum() > 0;
            }
        }
        let [low, high] = [3, 7].map(|c| self.ranks[c] as usize == rank);
        let mut at_end = low;
        if low != high {
            at_end = (i32::from(self.points[2 * LAST_EDGE + usize::from(high)][2]) > p.z) == low;
        }
        odd != at_end
    }
}

/// Half the gap at a corner. Value noise keeps to the middle; stretched, it also reaches its ends.
fn half_gap(corner: [u32; 3], words: &CrackUniform) -> i32 {
    let noise = (2 * weight(corner, words, words.salt ^ 0x6a09_e667) - 128).clamp(0, 255);
    let share = 256 - words.irregularity * noise / 256;
    words.gap * share / 131_072
}

/// In the (y, z) plane: positive where p lies at smaller y than the line from a up to b.
fn hand(a: IVec3, b: IVec3, p: IVec3) -> i32 {
    (b.y - a.y) * (p.z - a.z) - (b.z - a.z) * (p.y - a.y)
}

/// The same with p an infinitesimal step along +y and a still smaller one along +z from where it is.
fn is_left(a: IVec3, b: IVec3, p: IVec3) -> bool {
    match hand(a, b, p) {
        0 if a.z != b.z => a.z > b.z,
        0 => b.y > a.y,
        hand => hand > 0,
    }
}

impl Crossed for Fans {
    fn slots(&self) -> &[u32] {
        &self.slots
    }

    fn corners(&self, bit: usize) -> [IVec3; 3] {
        self.triangle(bit)
    }

    fn triangles(&self) -> u32 {
        self.all
    }

    /// Objects are tested in ascending order, and the first that owns a whole octant leaves nothing to later ones. An
    /// object without a part of the node owns none of its octants, or comes after one that owns all of it.
    fn gets(&self, of: &Asked) -> [Gets; 8] {
        let mut all = [Gets::default(); 8];
        // Octants that no object owns wholly.
        let mut open = of.solid;
        let ranks = (0..self.slots.len()).filter(|rank| of.alive >> rank & 1 == 1);
        for rank in ranks {
            let touched = of.touched_by(self.borders[rank]);
            let held = of.by_parts(!touched & 0xff, |octant| self.holds(rank, of.centre(octant)));
            for (octant, gets) in all.iter_mut().enumerate() {
                if open >> octant & 1 == 0 {
                    continue;
                }
                if touched >> octant & 1 == 1 {
                    gets.takes |= 1 << rank;
                } else if held >> octant & 1 == 1 {
                    gets.code = gets.takes.count_ones() as u8;
                    if gets.takes == 0 {
                        gets.holds = 1 << rank;
                    } else {
                        gets.takes |= 1 << rank;
                    }
                    open &= !(1 << octant);
                }
            }
        }
        for (octant, gets) in all.iter_mut().enumerate() {
            if open >> octant & 1 == 1 {
                gets.code = gets.takes.count_ones() as u8 + 7;
            }
        }
        all
    }
}
