//! The light texels of a tile that need rays, sorted by stratum: texels of one stratum have the same sky sample, so
//! they form the eight lanes of a packet.

use glam::Vec3;

use super::{
    scene::{BODY_FLOOR, FLAG_FLOOR, Scene, hash},
    wide::{LANES, each_axis, normal_of},
};
use crate::geometry::simd::F32x8;
use crate::surfaces::HitData;

pub(super) const STRATA: usize = 16;
/// Size of a tile in texels: eight of each stratum.
pub(super) const TILE: [u32; 2] = [16, 8];
const _: () =
    assert!(TILE[0] as usize * TILE[1] as usize == STRATA * LANES, "a stratum of a tile fills the lanes");

/// A 4 x 4 block of texels has sixteen strata, in an order that differs between blocks.
#[inline(always)]
fn stratum([x, y]: [u32; 2]) -> u32 {
    let (tx, ty) = (x & 3, y & 3);
    let d = tx ^ ty;
    let order = hash((x >> 2) | ((y >> 2) << 16));
    (((d & 1) << 3) | ((ty & 1) << 2) | ((d >> 1) << 1) | (ty >> 1)) ^ (order & 15)
}

/// Up to eight texels of one stratum. Lanes without one repeat the first.
#[derive(Clone, Copy, Default)]
pub(super) struct Stratum {
    pub count: usize,
    /// Index in the tile's rows of light.
    pub at: [u32; LANES],
    /// Position in the picture, pixels.
    x: [f32; LANES],
    y: [f32; LANES],
    distance: [f32; LANES],
    /// Edge length of the body's voxels, m.
    pub voxel: [f32; LANES],
    pub packed: [u32; LANES],
    floors: u32,
    /// Mask of lanes that face the sun.
    pub facing: u32,
    /// Origins of rays, lifted off the surface.
    pub origin: [[f32; LANES]; 3],
    pub normal: [[f32; LANES]; 3],
    /// Two directions that form a basis with the normal.
    pub beside: [[[f32; LANES]; 3]; 2],
    /// Depth of the surface along the view, m; negative for the floor.
    pub depth: [f32; LANES],
    /// Sums of the samples.
    pub sun: [f32; LANES],
    pub sky: [f32; LANES],
}

/// Low and high corner of points; reversed if there are none.
pub(super) type Bounds = (Vec3, Vec3);

/// The texels of a tile.
#[derive(Default)]
pub(super) struct Texels {
    pub strata: [Stratum; STRATA],
    /// Stratum and lane of each texel, row by row.
    pub order: Vec<[u8; 2]>,
    /// Approximate width of the tile on the nearest surface, m.
    pub span: f32,
}

impl Texels {
    /// Empties the tile.
    pub fn clear(&mut self) {
        self.order.clear();
        for stratum in &mut self.strata {
            (stratum.count, stratum.floors, stratum.facing) = (0, 0, 0);
        }
    }

    /// Adds the texel at `place`, index `at` in the rows of light, for the hit of the pixel at `pixel`.
    #[inline(always)]
    pub fn add(&mut self, scene: &Scene<'_>, place: [u32; 2], at: u32, pixel: [u32; 2], hit: &HitData) {
        let k = stratum(place) as usize & (STRATA - 1);
        let of = &mut self.strata[k];
        let lane = of.count & (LANES - 1);
        of.at[lane] = at;
        (of.x[lane], of.y[lane]) = (pixel[0] as f32 + 0.5, pixel[1] as f32 + 0.5);
        of.distance[lane] = hit.distance;
        of.packed[lane] = hit.normal;
        of.voxel[lane] = scene.bodies.get(hit.body as usize).map_or(0.0, |body| body.voxel);
        of.floors |= u32::from(hit.body == BODY_FLOOR) << lane;
        of.count = lane + 1;
        self.order.push([k as u8, lane as u8]);
    }

    /// Computes ray origins and tangent bases; returns the bounds of all origins and of those that face the sun.
    #[inline(always)]
    pub fn place<L: F32x8>(&mut self, scene: &Scene<'_>) -> [Bounds; 2] {
        let (most, least) = (L::splat(f32::INFINITY), L::splat(f32::NEG_INFINITY));
        let mut bounds = [[[most; 3], [least; 3]]; 2];
        let mut nearest = most;
        for stratum in &mut self.strata {
            if stratum.count == 0 {
                continue;
            }
            stratum.repeat_first();
            let origin = stratum.place::<L>(scene);
            let facing = L::mask(stratum.facing);
            nearest = nearest.min(L::of(stratum.distance));
            for k in 0..3 {
                let [all, faces] = &mut bounds;
                all[0][k] = all[0][k].min(origin[k]);
                all[1][k] = all[1][k].max(origin[k]);
                faces[0][k] = faces[0][k].min(facing.select(origin[k], most));
                faces[1][k] = faces[1][k].max(facing.select(origin[k], least));
            }
        }
        let frame = &scene.frame;
        self.span = (TILE[0] * frame.light_step) as f32 * frame.pixel_cone * nearest.least();
        let ends = |of: [[L; 3]; 2]| {
            let [low, high] = of;
            (Vec3::from(each_axis!(k: low[k].least())), Vec3::from(each_axis!(k: high[k].greatest())))
        };
        [ends(bounds[0]), ends(bounds[1])]
    }
}

impl Stratum {
    /// Mask of lanes with a texel.
    pub fn lanes(&self) -> u32 {
        (1 << self.count) - 1
    }

    fn repeat_first(&mut self) {
        for lane in self.count..LANES {
            (self.x[lane], self.y[lane]) = (self.x[0], self.y[0]);
            (self.distance[lane], self.voxel[lane]) = (self.distance[0], self.voxel[0]);
            self.packed[lane] = self.packed[0];
            self.floors |= (self.floors & 1) << lane;
        }
        (self.sun, self.sky) = ([0.0; LANES], [0.0; LANES]);
    }

    #[inline(always)]
    fn place<L: F32x8>(&mut self, scene: &Scene<'_>) -> [L; 3] {
        let frame = &scene.frame;
        for i in 0..LANES {
            let n = normal_of(self.packed[i]);
            (self.normal[0][i], self.normal[1][i], self.normal[2][i]) = (n[0], n[1], n[2]);
        }
        let direction = scene.rays(L::of(self.x), L::of(self.y));
        let normal = each_axis!(k: L::of(self.normal[k]));
        let (distance, zero) = (L::of(self.distance), L::splat(0.0));
        let dot = |v: [L; 3], n: Vec3| super::wide::along(v, n.to_array());
        // Lifted off the surface by more than the steps between adjacent voxels' planes, and than a pixel's footprint.
        let lift = L::splat(1.25).mul(L::of(self.voxel)).max(L::splat(frame.pixel_cone).mul(distance));
        let origin = each_axis!(k: L::splat(frame.eye[k])
            .add(direction[k].mul(distance))
            .add(normal[k].mul(lift)));
        self.origin = each_axis!(k: origin[k].array());
        let depth = distance.mul(dot(direction, frame.ahead));
        self.depth = L::mask(self.floors).select(zero.sub(depth), depth).array();
        self.facing = zero.less(dot(normal, frame.sun)) & self.lanes();
        // Orthogonal to the normal and to an axis that is not parallel to it.
        let [x, y, z] = normal;
        let steep = L::mask(y.abs().less(L::splat(0.8)));
        let u = [steep.select(z, zero), steep.select(zero, zero.sub(z)), steep.select(zero.sub(x), y)];
        let square = u[0].mul(u[0]).add(u[1].mul(u[1])).add(u[2].mul(u[2]));
        let scale = L::splat(1.0).div(square.sqrt());
        let u = each_axis!(k: u[k].mul(scale));
        let v = [y.mul(u[2]).sub(z.mul(u[1])), z.mul(u[0]).sub(x.mul(u[2])), x.mul(u[1]).sub(y.mul(u[0]))];
        self.beside = [each_axis!(k: u[k].array()), each_axis!(k: v[k].array())];
        origin
    }

    /// Adds sky rays with upward component `up` that hit something at `distance`, or nothing (1e30).
    #[inline(always)]
    pub fn add_sky<L: F32x8>(&mut self, scene: &Scene<'_>, up: L, distance: L) {
        let frame = &scene.frame;
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let mut distance = distance;
        if frame.flags & FLAG_FLOOR != 0 {
            let to_floor = L::splat(frame.floor_y).sub(L::of(self.origin[1])).div(up).max(zero);
            distance = up.below(zero).select(distance.min(to_floor), distance);
        }
        // Near occluders darken fully; the effect fades towards the end of the reach.
        let t = distance.div(L::splat(frame.ao_reach)).min(one).max(zero);
        let seen = t.mul(t).mul(L::splat(3.0).sub(L::splat(2.0).mul(t)));
        self.sky = L::of(self.sky).add(seen).array();
    }
}
