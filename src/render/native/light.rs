//! Sun visibility and short-range sky occlusion of first hits: the native twin of `shaders/render/light.wgsl`, a tile
//! of texels at a time.
//!
//! Rays of a tile that go the same way go together: those to the sun side by side, those to the sky by their stratum,
//! since texels of one stratum have the same sample of the sky. Which bodies they may meet at all is asked once a
//! tile.

use glam::{Vec2, Vec3};

use super::{
    lanes::{LANES, Lanes, each_axis},
    near_bodies::NearBodies,
    packet::{Hits, Packet, Stack, walk},
    scene::{BODY_FLOOR, BODY_SKY, FLAG_FLOOR, Scene, hash, smoothstep},
    wide::Work,
};
use crate::{render::targets::HitData, svo::unpack_normal};

/// A light texel: share of the sun and of the sky that is seen, depth (0 for sky, negative for the floor) as words,
/// and the packed normal.
pub(super) type Texel = [u32; 4];

/// Texels of a tile each way: eight of each stratum.
const TILE: [u32; 2] = [16, 8];
/// Rows of texels that one core works on at a time.
pub(super) const ROWS: u32 = TILE[1];
const STRATA: usize = 16;

/// Which of the pixels under a light texel has its turn in this frame.
pub(super) fn turn(scene: &Scene<'_>) -> [u32; 2] {
    let frame = &scene.frame;
    [frame.accumulated % frame.light_step, (frame.accumulated >> 1) % frame.light_step]
}

/// A 4 x 4 tile of texels holds sixteen strata; every tile deals them out in an order of its own.
#[inline(always)]
fn stratum([x, y]: [u32; 2]) -> u32 {
    let (tx, ty) = (x & 3, y & 3);
    let d = tx ^ ty;
    let order = hash((x >> 2) | ((y >> 2) << 16));
    (((d & 1) << 3) | ((ty & 1) << 2) | ((d >> 1) << 1) | (ty >> 1)) ^ (order & 15)
}

/// Two directions that make a basis with `n`.
fn beside(n: Vec3) -> [Vec3; 2] {
    let up = if n.y.abs() < 0.8 { Vec3::Y } else { Vec3::X };
    let u = up.cross(n);
    let u = u * u.length_recip();
    [u, n.cross(u)]
}

/// What a thread keeps from tile to tile.
#[derive(Default)]
pub(super) struct Scratch {
    texels: Vec<Point>,
    near: NearBodies,
    stack: Stack,
}

/// A texel whose light is asked for.
struct Point {
    place: [u32; 2],
    stratum: usize,
    is_facing: bool,
    /// Off the surface.
    origin: Vec3,
    normal: Vec3,
    beside: [Vec3; 2],
    voxel: f32,
    /// Of the surface, along the view, m; negative for the floor.
    depth: f32,
    packed: u32,
    sun: f32,
    sky: f32,
}

/// Light of a band of rows of texels.
pub(super) struct Lights<'a> {
    pub scene: &'a Scene<'a>,
    /// First row.
    pub first: u32,
    pub hits: &'a [HitData],
    pub scratch: &'a mut Scratch,
    pub lights: &'a mut [Texel],
}

impl Work for Lights<'_> {
    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let width = self.scene.frame.light_size[0];
        let samples = self.scene.frame.samples;
        for left in (0..width).step_by(TILE[0] as usize) {
            self.gather(left);
            let Scratch { texels, near, stack } = &mut *self.scratch;
            if texels.is_empty() {
                continue;
            }
            let mut tile = Tile { scene: self.scene, near, stack, texels };
            tile.near.find(tile.scene, tile.texels.iter().map(|texel| (texel.origin, texel.is_facing)));
            for s in 0..samples {
                tile.sample::<L>(s);
            }
            let count = samples.max(1) as f32;
            for texel in texels {
                let at = (texel.place[1] - self.first) * width + texel.place[0];
                let words = [texel.sun / count, texel.sky / count, texel.depth].map(f32::to_bits);
                self.lights[at as usize] = [words[0], words[1], words[2], texel.packed];
            }
        }
    }
}

impl Lights<'_> {
    /// Lists the texels of a tile that need rays; the others are done.
    fn gather(&mut self, left: u32) {
        let (scene, frame) = (self.scene, &self.scene.frame);
        let turn = turn(scene);
        let [width, _] = frame.light_size;
        let rows = self.lights.len() as u32 / width;
        self.scratch.texels.clear();
        for row in 0..rows {
            for x in left..(left + TILE[0]).min(width) {
                let place = [x, self.first + row];
                let at: [u32; 2] =
                    std::array::from_fn(|k| (place[k] * frame.light_step + turn[k]).min(frame.size[k] - 1));
                let hit = &self.hits[(at[1] * frame.size[0] + at[0]) as usize];
                if hit.body == BODY_SKY || !scene.has_bodies() {
                    let depth = if hit.body == BODY_SKY { 0.0f32 } else { -1.0 };
                    let one = 1.0f32.to_bits();
                    self.lights[(row * width + x) as usize] = [one, one, depth.to_bits(), hit.normal];
                    continue;
                }
                self.scratch.texels.push(Point::new(scene, place, at, hit));
            }
        }
    }
}

impl Point {
    fn new(scene: &Scene<'_>, place: [u32; 2], at: [u32; 2], hit: &HitData) -> Self {
        let frame = &scene.frame;
        let direction = scene.ray(at[0] as f32 + 0.5, at[1] as f32 + 0.5);
        let normal = unpack_normal(hit.normal);
        let voxel = scene.bodies.get(hit.body as usize).map_or(0.0, |body| body.voxel);
        // Off the surface: past the steps between neighbouring voxels' planes, and past what a pixel can tell.
        let lift = (1.25 * voxel).max(frame.pixel_cone * hit.distance);
        let depth = hit.distance * direction.dot(frame.forward);
        Self {
            place,
            stratum: stratum(place) as usize,
            is_facing: normal.dot(frame.sun) > 0.0,
            origin: frame.eye + direction * hit.distance + normal * lift,
            normal,
            beside: beside(normal),
            voxel,
            depth: if hit.body == BODY_FLOOR { -depth } else { depth },
            packed: hit.normal,
            sun: 0.0,
            sky: 0.0,
        }
    }
}

/// A tile at work.
struct Tile<'a> {
    scene: &'a Scene<'a>,
    near: &'a mut NearBodies,
    stack: &'a mut Stack,
    texels: &'a mut [Point],
}

impl Tile<'_> {
    /// Adds one sample of the sun and one of the sky to every texel.
    #[inline(always)]
    fn sample<L: Lanes>(&mut self, s: u32) {
        let frame = &self.scene.frame;
        let turn_of = (frame.accumulated.wrapping_mul(frame.samples).wrapping_add(s)) as f32;
        // Sixteen strata of the unit square, shifted from frame to frame along the plastic-number lattice.
        let shift = (turn_of * Vec2::new(0.754_877_7, 0.569_840_3)).fract();
        let samples: [(Vec2, f32); STRATA] = std::array::from_fn(|k| {
            let k = k as u32;
            let mirrored = (k.reverse_bits() >> 28) as f32;
            let place = Vec2::new((k as f32 + 0.5) / 16.0, mirrored / 16.0 + 0.03125);
            let u = (place + shift).fract();
            let (sin, cos) = libm::sincosf(std::f32::consts::TAU * u.y);
            (Vec2::new(cos, sin) * u.x.sqrt(), (1.0 - u.x).max(0.0).sqrt())
        });
        let mut group = Group::default();
        for i in 0..self.texels.len() {
            if !self.texels[i].is_facing {
                continue;
            }
            group.add(i);
            if group.count == LANES {
                self.ask_sun::<L>(&group, &samples);
                group.count = 0;
            }
        }
        self.ask_sun::<L>(&group, &samples);
        for (stratum, sample) in samples.iter().enumerate() {
            let mut group = Group::default();
            for (i, texel) in self.texels.iter().enumerate() {
                if texel.stratum == stratum && group.count < LANES {
                    group.add(i);
                }
            }
            self.ask_sky::<L>(&group, *sample);
        }
    }

    #[inline(always)]
    fn ask_sun<L: Lanes>(&mut self, group: &Group, samples: &[(Vec2, f32); STRATA]) {
        let frame = &self.scene.frame;
        let [u, v] = beside(frame.sun);
        let mut rays = [(Vec3::ZERO, Vec3::Y, 0.0, 1e9); LANES];
        for (ray, i) in rays.iter_mut().zip(group.texels()) {
            let texel = &self.texels[i];
            let aside = samples[texel.stratum].0 * frame.sun_radius;
            let l = frame.sun + u * aside.x + v * aside.y;
            *ray = (texel.origin, l * l.length_recip(), 0.5 * texel.voxel, 1e9);
        }
        let slope = (0.5 * frame.sun_radius).max(frame.pixel_cone);
        let mut packet = group.packet::<L>(&rays, slope);
        for near in &self.near.towards_sun {
            if packet.open == 0 {
                break;
            }
            walk(std::array::from_mut(&mut packet), self.scene, near.body, 0, self.stack);
            packet.open &= !packet.hits.met;
        }
        for (lane, i) in group.texels().enumerate() {
            if packet.hits.met >> lane & 1 == 0 {
                self.texels[i].sun += 1.0;
            }
        }
    }

    #[inline(always)]
    fn ask_sky<L: Lanes>(&mut self, group: &Group, (ring, along): (Vec2, f32)) {
        let frame = &self.scene.frame;
        let reach = frame.ao_reach;
        let mut rays = [(Vec3::ZERO, Vec3::Y, 0.0, reach); LANES];
        for (ray, i) in rays.iter_mut().zip(group.texels()) {
            let Point { origin, normal, beside: [u, v], .. } = &self.texels[i];
            *ray = (*origin, *u * ring.x + *v * ring.y + *normal * along, 0.0, reach);
        }
        let mut packet = group.packet::<L>(&rays, 0.06);
        if packet.open != 0 {
            for near in &self.near.around {
                if near.distance > packet.hits.distance.greatest() {
                    break;
                }
                walk(std::array::from_mut(&mut packet), self.scene, near.body, 0, self.stack);
            }
        }
        let distances = packet.hits.distance.array();
        for (lane, i) in group.texels().enumerate() {
            let (origin, up, ..) = rays[lane];
            let mut distance = if packet.hits.met >> lane & 1 == 0 { 1e30 } else { distances[lane] };
            if frame.flags & FLAG_FLOOR != 0 && up.y < 0.0 {
                distance = distance.min(((frame.floor_y - origin.y) / up.y).max(0.0));
            }
            // What is near darkens fully; towards the end of the reach it fades out.
            self.texels[i].sky += smoothstep(0.0, 1.0, (distance / reach).min(1.0));
        }
    }
}

/// Texels whose rays go together.
#[derive(Default)]
struct Group {
    texels: [usize; LANES],
    count: usize,
}

impl Group {
    #[inline(always)]
    fn add(&mut self, texel: usize) {
        self.texels[self.count] = texel;
        self.count += 1;
    }

    #[inline(always)]
    fn texels(&self) -> impl Iterator<Item = usize> {
        self.texels.into_iter().take(self.count)
    }

    /// Rays by origin, direction, begin and end.
    #[inline(always)]
    fn packet<L: Lanes>(&self, rays: &[(Vec3, Vec3, f32, f32); LANES], cut_slope: f32) -> Packet<L> {
        let (mut origin, mut direction) = ([[0.0f32; LANES]; 3], [[0.0f32; LANES]; 3]);
        let (mut first, mut last) = ([0.0f32; LANES], [0.0f32; LANES]);
        for (i, (from, along, begin, end)) in rays.iter().enumerate() {
            for k in 0..3 {
                (origin[k][i], direction[k][i]) = (from[k], along[k]);
            }
            (first[i], last[i]) = (*begin, *end);
        }
        Packet {
            origin: each_axis!(k: L::of(origin[k])),
            direction: each_axis!(k: L::of(direction[k])),
            cut_slope,
            first: L::of(first),
            hits: Hits::none(L::of(last)),
            open: (1 << self.count) - 1,
        }
    }
}
