//! Which triangles touch the octants of a box: exact, by looking for a gap along the 13 axes that can show one, as
//! `rough/touch.wgsl` does. All eight octants are asked at once: along an axis their middles are sums of the same
//! three steps.

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

/// What is asked of one triangle, units of its transition voxel.
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
        for slab in &self.slabs {
            if found == 0 {
                break;
            }
            let reach = half * slab.reach;
            let at = slab.axis.dot(centre);
            let (low, high) = (slab.low - reach - at, slab.high + reach - at);
            // Octants' middles lie within one reach of the box's.
            if low <= -reach && high >= reach {
                continue;
            }
            let IVec3 { x, y, z } = half * slab.axis;
            let middles =
                [-x - y - z, x - y - z, y - x - z, x + y - z, z - x - y, x - y + z, y + z - x, x + y + z];
            let mut apart = 0;
            for (octant, middle) in middles.into_iter().enumerate() {
                apart |= u32::from((middle < low) | (middle > high)) << octant;
            }
            found &= !apart;
        }
        found
    }
}

/// Of every octant of a box those of the triangles in `mask` that touch it.
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
