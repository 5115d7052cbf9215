//! Sun visibility and short-range sky occlusion of first hits, a tile of texels at a time, like
//! `shaders/render/light.wgsl`.
//!
//! Parallel rays of a tile are traced together: those to the sun side by side, those to the sky by stratum, since
//! texels of one stratum have the same sky sample. The bodies that they may hit are determined once per tile.
//!
//! # Bodies that may affect the light of a tile

use glam::{Vec2, Vec3};

use super::{
    packet::{Hits, Packet, Stack, walk},
    scene::{BODY_SKY, Scene},
    texels::{Bounds, STRATA, TILE, Texels},
    wide::{LANES, each_axis},
};
use crate::{
    geometry::simd::{F32x8, Simd, Work},
    surfaces::HitData,
    tables::{BOX_LEAF, BoxData},
};

/// A light texel: visible shares of sun and sky, depth (0 for sky, negative for the floor) as words, and the packed
/// normal.
pub(super) type Texel = [u32; 4];

/// Rows of texels per task.
pub(super) const ROWS: u32 = TILE[1];

/// Width per distance of rays to the sky, and the most of those to the sun.
const WIDEST_SLOPE: f32 = 0.06;

/// The pixel under a light texel that is sampled in this frame.
pub(super) fn turn(scene: &Scene<'_>) -> [u32; 2] {
    let frame = &scene.frame;
    [frame.accumulated % frame.light_step, (frame.accumulated >> 1) % frame.light_step]
}

/// Directions of the rays of one stratum.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// Sky direction: component across the normal, and along it.
    ring: Vec2,
    along: f32,
    /// Sun direction, unit.
    sun: Vec3,
}

/// Samples of a frame by stratum.
pub(super) fn samples(scene: &Scene<'_>) -> Vec<[Sample; STRATA]> {
    let frame = &scene.frame;
    let up = if frame.sun.y.abs() < 0.8 { Vec3::Y } else { Vec3::X };
    let across = up.cross(frame.sun);
    let across = across * across.length_recip();
    let down = frame.sun.cross(across);
    let of = |s: u32| {
        let turn_of = (frame.accumulated.wrapping_mul(frame.samples).wrapping_add(s)) as f32;
        // Sixteen strata of the unit square, shifted from frame to frame along the plastic-number lattice.
        let shift = (turn_of * Vec2::new(0.754_877_7, 0.569_840_3)).fract();
        std::array::from_fn(|k| {
            let k = k as u32;
            let mirrored = (k.reverse_bits() >> 28) as f32;
            let place = Vec2::new((k as f32 + 0.5) / 16.0, mirrored / 16.0 + 0.03125);
            let u = (place + shift).fract();
            let (sin, cos) = libm::sincosf(std::f32::consts::TAU * u.y);
            let ring = Vec2::new(cos, sin) * u.x.sqrt();
            let aside = ring * frame.sun_radius;
            let sun = frame.sun + across * aside.x + down * aside.y;
            Sample { ring, along: (1.0 - u.x).max(0.0).sqrt(), sun: sun * sun.length_recip() }
        })
    };
    (0..frame.samples).map(of).collect()
}

/// A thread's buffers, reused between tiles.
#[derive(Default)]
pub(super) struct Scratch {
    texels: Texels,
    near: NearBodies,
    stack: Stack,
}

/// Light of a band of rows of texels.
pub(super) struct Lights<'a> {
    pub scene: &'a Scene<'a>,
    pub samples: &'a [[Sample; STRATA]],
    /// First row.
    pub first: u32,
    pub hits: &'a [HitData],
    pub scratch: &'a mut Scratch,
    pub lights: &'a mut [Texel],
}

impl Work for Lights<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let width = self.scene.frame.light_size[0];
        for left in (0..width).step_by(TILE[0] as usize) {
            self.gather(left);
            let Scratch { texels, near, stack } = &mut *self.scratch;
            if texels.order.is_empty() {
                continue;
            }
            let [all, facing] = texels.place::<S::F32x8>(self.scene);
            near.find(self.scene, all, facing);
            let mut tile = Tile { scene: self.scene, near, stack, texels };
            for samples in self.samples {
                tile.ask::<S::F32x8>(samples);
            }
            let count = self.samples.len().max(1) as f32;
            for of in &texels.strata {
                for lane in 0..of.count {
                    let words =
                        [of.sun[lane] / count, of.sky[lane] / count, of.depth[lane]].map(f32::to_bits);
                    self.lights[of.at[lane] as usize] = [words[0], words[1], words[2], of.packed[lane]];
                }
            }
        }
    }
}

impl Lights<'_> {
    /// Collects the texels of a tile that need rays; stores the results of all others.
    #[inline(always)]
    fn gather(&mut self, left: u32) {
        let (scene, frame) = (self.scene, &self.scene.frame);
        let turn = turn(scene);
        let [width, _] = frame.light_size;
        let rows = self.lights.len() as u32 / width;
        let has_bodies = scene.has_bodies();
        self.scratch.texels.clear();
        for row in 0..rows {
            let line = ((self.first + row) * frame.light_step + turn[1]).min(frame.size[1] - 1);
            for x in left..(left + TILE[0]).min(width) {
                let column = (x * frame.light_step + turn[0]).min(frame.size[0] - 1);
                let hit = &self.hits[(line * frame.size[0] + column) as usize];
                let at = row * width + x;
                if hit.body == BODY_SKY || !has_bodies {
                    let depth = if hit.body == BODY_SKY { 0.0f32 } else { -1.0 };
                    let one = 1.0f32.to_bits();
                    self.lights[at as usize] = [one, one, depth.to_bits(), hit.normal];
                    continue;
                }
                self.scratch.texels.add(scene, [x, self.first + row], at, [column, line], hit);
            }
        }
    }
}

/// A tile being computed.
struct Tile<'a> {
    scene: &'a Scene<'a>,
    near: &'a mut NearBodies,
    stack: &'a mut Stack,
    texels: &'a mut Texels,
}

impl Tile<'_> {
    /// Adds one sun sample and one sky sample to every texel.
    #[inline(always)]
    fn ask<L: F32x8>(&mut self, samples: &[Sample; STRATA]) {
        self.ask_sun::<L>(samples);
        for (stratum, sample) in samples.iter().enumerate() {
            if self.texels.strata[stratum].count != 0 {
                self.ask_sky::<L>(stratum, sample);
            }
        }
    }

    /// All rays to the sun descend a body's octree together, since they are nearly parallel.
    #[inline(always)]
    fn ask_sun<L: F32x8>(&mut self, samples: &[Sample; STRATA]) {
        let frame = &self.scene.frame;
        let Texels { strata, order, span } = &mut *self.texels;
        let mut rays = [Rays::default(); PACKETS];
        let mut places = [[0u8; 2]; PACKETS * LANES];
        let mut count = 0;
        for &[stratum, lane] in &*order {
            let of = &strata[usize::from(stratum) & (STRATA - 1)];
            if of.facing >> lane & 1 == 0 {
                continue;
            }
            places[count & (PACKETS * LANES - 1)] = [stratum, lane];
            let (rays, i) = (&mut rays[(count / LANES) & (PACKETS - 1)], count % LANES);
            let (lane, sun) =
                (usize::from(lane) & (LANES - 1), samples[usize::from(stratum) & (STRATA - 1)].sun);
            for k in 0..3 {
                (rays.origin[k][i], rays.direction[k][i]) = (of.origin[k][lane], sun[k]);
            }
            rays.first[i] = 0.5 * of.voxel[lane];
            count += 1;
        }
        // Beams enclose all lanes of a packet, so lanes without a ray repeat the last one.
        if let Some(last) = count.checked_sub(1) {
            let (rays, i) = (&mut rays[(last / LANES) & (PACKETS - 1)], last % LANES);
            for empty in i + 1..LANES {
                for k in 0..3 {
                    (rays.origin[k][empty], rays.direction[k][empty]) =
                        (rays.origin[k][i], rays.direction[k][i]);
                }
                rays.first[empty] = rays.first[i];
            }
        }
        let places = &places[..count];
        if !self.near.towards_sun.is_empty() {
            let slope = (0.5 * frame.sun_radius).min(WIDEST_SLOPE).max(frame.pixel_cone);
            let scene = self.scene;
            let mut packets = [rays[0].packet::<L>(scene, slope, count.min(LANES)); PACKETS];
            for (p, packet) in packets.iter_mut().enumerate().skip(1) {
                let open = count.saturating_sub(p * LANES).min(LANES);
                *packet = if open == 0 {
                    Packet { open: 0, ..*packet }
                } else {
                    rays[p].packet::<L>(scene, slope, open)
                };
            }
            for near in &self.near.towards_sun {
                let body = &self.scene.bodies[near.body as usize];
                let edge = *span * (LANES as f32 / TILE[0] as f32) / body.voxel;
                let fine = (edge.min(1024.0) as u32).next_power_of_two().max(2);
                walk(&mut packets, self.scene, near.body, fine, self.stack);
                let mut open = 0;
                for packet in &mut packets {
                    packet.open &= !packet.hits.met;
                    open |= packet.open;
                }
                if open == 0 {
                    break;
                }
            }
            for (i, [stratum, lane]) in places.iter().enumerate() {
                if packets[i / LANES].hits.met >> (i % LANES) & 1 == 0 {
                    strata[usize::from(*stratum) & (STRATA - 1)].sun[usize::from(*lane) & (LANES - 1)] += 1.0;
                }
            }
            return;
        }
        for [stratum, lane] in places {
            strata[usize::from(*stratum) & (STRATA - 1)].sun[usize::from(*lane) & (LANES - 1)] += 1.0;
        }
    }

    #[inline(always)]
    fn ask_sky<L: F32x8>(&mut self, stratum: usize, sample: &Sample) {
        let reach = self.scene.frame.ao_reach;
        let of = &mut self.texels.strata[stratum & (STRATA - 1)];
        let (x, y, along) = (L::splat(sample.ring.x), L::splat(sample.ring.y), L::splat(sample.along));
        let [u, v] = &of.beside;
        let direction = each_axis!(k: L::of(u[k]).mul(x)
            .add(L::of(v[k]).mul(y))
            .add(L::of(of.normal[k]).mul(along)));
        let origin = each_axis!(k: L::of(of.origin[k]));
        let (first, last) = self.scene.clipped((&origin, &direction), (L::splat(0.0), L::splat(reach)));
        let mut packet = Packet {
            origin,
            direction,
            cut_slope: WIDEST_SLOPE,
            first,
            hits: Hits::none(last),
            open: of.lanes(),
            any: false,
            looks: false,
        };
        for near in &self.near.around {
            if near.distance > packet.hits.distance.greatest() {
                break;
            }
            walk(std::array::from_mut(&mut packet), self.scene, near.body, 0, self.stack);
        }
        let distance = L::mask(packet.hits.met).select(packet.hits.distance, L::splat(1e30));
        of.add_sky(self.scene, direction[1], distance);
    }
}

/// Most packets of a tile's rays to the sun.
const PACKETS: usize = STRATA;

/// Up to eight rays to the sun.
#[derive(Clone, Copy, Default)]
struct Rays {
    origin: [[f32; LANES]; 3],
    direction: [[f32; LANES]; 3],
    first: [f32; LANES],
}

impl Rays {
    /// A packet of the first `count` rays.
    #[inline(always)]
    fn packet<L: F32x8>(&self, scene: &Scene<'_>, cut_slope: f32, count: usize) -> Packet<L> {
        let origin = each_axis!(k: L::of(self.origin[k]));
        let direction = each_axis!(k: L::of(self.direction[k]));
        let whole = (L::of(self.first), L::splat(1e9));
        let (first, last) = scene.clipped((&origin, &direction), whole);
        Packet {
            origin,
            direction,
            cut_slope,
            first,
            hits: Hits::none(last),
            open: (1 << count) - 1,
            any: true,
            looks: false,
        }
    }
}

/// A body that rays may hit.
#[derive(Clone, Copy)]
pub(super) struct Near {
    pub body: u32,
    /// Lower bound of the distance of hits, m.
    pub distance: f32,
}

/// Bodies near a tile, nearest first, and those between it and the sun.
#[derive(Default)]
pub(super) struct NearBodies {
    pub around: Vec<Near>,
    pub towards_sun: Vec<Near>,
}

impl NearBodies {
    /// Finds them for rays that start within bounds; sun rays start within other bounds, which are empty if there are
    /// none.
    pub fn find(&mut self, scene: &Scene<'_>, all: Bounds, facing: Bounds) {
        self.around.clear();
        self.towards_sun.clear();
        let reach = scene.frame.ao_reach;
        // Descends the hierarchy, skipping boxes that no ray can hit.
        let mut stack = [0u32; 64];
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let of = &scene.boxes[stack[waiting] as usize];
            let gap = gap(of, all);
            let is_near = gap <= reach;
            let is_before_sun = facing.0.x <= facing.1.x && may_shade(scene, of, facing);
            if !is_near && !is_before_sun {
                continue;
            }
            if of.first & BOX_LEAF == 0 {
                stack[waiting] = of.first;
                stack[waiting + 1] = of.first + 1;
                waiting += 2;
                continue;
            }
            // Reduced so that rounding cannot exclude a hit.
            let near = Near { body: of.first & !BOX_LEAF, distance: gap * 0.9999 };
            if is_near {
                self.around.push(near);
            }
            if is_before_sun {
                self.towards_sun.push(near);
            }
        }
        let nearest_first = |a: &Near, b: &Near| a.distance.total_cmp(&b.distance).then(a.body.cmp(&b.body));
        self.around.sort_by(nearest_first);
        self.towards_sun.sort_by(nearest_first);
    }
}

/// Distance between two boxes.
fn gap(of: &BoxData, (low, high): (Vec3, Vec3)) -> f32 {
    (of.low - high).max(low - of.high).max(Vec3::ZERO).length()
}

/// Whether a ray from a box of points to some point of the sun may hit a box. On every axis the ray's direction lies
/// within the sun's radius of the direction to its centre, so its position at a time lies in an interval.
fn may_shade(scene: &Scene<'_>, of: &BoxData, (low, high): (Vec3, Vec3)) -> bool {
    let spread = scene.frame.sun_radius * 1.01 + 1e-4;
    let (from, to) = (of.low - high, of.high - low);
    let (mut first, mut last) = (0.0f32, f32::INFINITY);
    for k in 0..3 {
        let (slow, fast) = (scene.frame.sun[k] - spread, scene.frame.sun[k] + spread);
        // The fastest ray must reach `from`, the slowest must not have passed `to`.
        if fast > 0.0 {
            first = first.max(from[k] / fast);
        } else if from[k] > 0.0 {
            return false;
        } else if fast < 0.0 {
            last = last.min(from[k] / fast);
        }
        if slow > 0.0 {
            last = last.min(to[k] / slow);
        } else if slow < 0.0 {
            first = first.max(to[k] / slow);
        } else if to[k] < 0.0 {
            return false;
        }
    }
    first <= last
}
