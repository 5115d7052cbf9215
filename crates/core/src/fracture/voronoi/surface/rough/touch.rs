//! Which triangles touch the octants of a box: exact, by searching a gap along the 13 possible separating axes, as
//! in `rough/touch.wgsl`. All eight octants are tested at once: along an axis their middles are sums of the same three
//! steps.

use glam::IVec3;

/// A triangle between two parallel planes for every axis.
#[derive(Clone, Copy, Default)]
struct Slab {
    axis: IVec3,
    low: i32,
    high: i32,
    /// How far a box of half an edge 1 reaches along the axis.
    reach: i32,
}

/// Data of one triangle for the test, units of its transition voxel.
#[derive(Clone, Copy, Default)]
pub(in crate::fracture) struct Slabs {
    low: IVec3,
    high: IVec3,
    slabs: [Slab; 10],
}

/// Octants on the low side of every axis.
const LOW: [u32; 3] = [0x55, 0x33, 0x0f];

impl Slabs {
    pub fn new([a, b, c]: [IVec3; 3]) -> Self {
        let edges = [b - a, c - b, a - c];
        let mut axes = [edges[0].cross(edges[1]); 10];
        for (k, edge) in edges.into_iter().enumerate() {
            axes[1 + 3 * k] = IVec3::new(0, edge.z, -edge.y);
            axes[2 + 3 * k] = IVec3::new(-edge.z, 0, edge.x);
            axes[3 + 3 * k] = IVec3::new(edge.y, -edge.x, 0);
        }
        let slabs = axes.map(|axis| {
            let heights = [axis.dot(a), axis.dot(b), axis.dot(c)];
            let size = axis.abs();
            Slab {
                axis,
                low: heights[0].min(heights[1]).min(heights[2]),
                high: heights[0].max(heights[1]).max(heights[2]),
                reach: size.x + size.y + size.z,
            }
        });
        Self { low: a.min(b).min(c), high: a.max(b).max(c), slabs }
    }

    /// The octants that it touches, a bit each, of the box with its middle at `centre` and octants of an edge of
    /// 2 `half`.
    fn octants(&self, centre: IVec3, half: i32) -> u32 {
        let mut found = 0xff;
        for (a, lower) in LOW.into_iter().enumerate() {
            let (low, high, middle) = (self.low[a], self.high[a], centre[a]);
            let in_lower = low <= middle && high >= middle - 2 * half;
            let in_upper = high >= middle && low <= middle + 2 * half;
            found &= if in_lower { lower } else { 0 } | if in_upper { !lower } else { 0 };
        }
        if found == 0 {
            return 0;
        }
        // The triangle's own plane rejects most octants.
        let (plane, others) = self.slabs.split_at(1);
        found &= !apart(plane, centre, half);
        if found == 0 { 0 } else { found & !apart(others, centre, half) }
    }
}

/// The octants of a box that lie beside a slab, a bit each. Differences of heights stay below 2^31, so that signs are
/// enough, which are gathered once for all slabs.
fn apart(slabs: &[Slab], centre: IVec3, half: i32) -> u32 {
    let mut signs = [0; 8];
    for slab in slabs {
        let reach = half * slab.reach;
        let at = slab.axis.dot(centre);
        let (low, high) = (slab.low - reach - at, slab.high + reach - at);
        // Octants' middles lie within one reach of the box's.
        if low <= -reach && high >= reach {
            continue;
        }
        let IVec3 { x, y, z } = half * slab.axis;
        let [a, b, c, d] = [-x - y, x - y, y - x, x + y];
        let middles = [a - z, b - z, c - z, d - z, a + z, b + z, c + z, d + z];
        for (sign, middle) in signs.iter_mut().zip(middles) {
            *sign |= (middle - low) | (high - middle);
        }
    }
    signs.iter().rev().fold(0, |octants, sign| octants << 1 | (*sign as u32) >> 31)
}

/// Per octant of a box the triangles in `mask` that touch it.
pub(in crate::fracture) fn touching(slabs: &[Slabs; 24], mask: u32, centre: IVec3, half: i32) -> [u32; 8] {
    let mut touched = [0; 8];
    let mut left = mask;
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        let mut octants = slabs[bit as usize].octants(centre, half);
        while octants != 0 {
            touched[octants.trailing_zeros() as usize] |= 1 << bit;
            octants &= octants - 1;
        }
    }
    touched
}
