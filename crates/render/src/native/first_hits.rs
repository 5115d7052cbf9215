//! First hits of a band of rows, tile by tile, eight rays at a time.

use super::{
    BAND,
    packet::{Hits, Packet, Stack, walk},
    primary,
    scene::{BODY_SKY, FLAG_FLOOR, Scene},
    silhouettes::Silhouette,
    surface::Blends,
    wide::{LANES, each_axis},
};
use crate::geometry::simd::{F32x8, Simd, Work};
use crate::targets::HitData;

/// Width and height of a tile, pixels.
const TILE: usize = 8;
/// Size of a packet: four pixels in each of two rows.
const PACKET: [usize; 2] = [4, 2];
const PACKETS: usize = TILE * TILE / LANES;

/// A thread's buffers, reused between bands.
#[derive(Default)]
pub(super) struct Scratch {
    blends: Blends,
    stack: Stack,
    /// Bodies that may be visible in the band, and in a tile.
    band: Vec<Silhouette>,
    tile: Vec<Silhouette>,
}

/// First hits of a band of rows.
pub(super) struct FirstHits<'a> {
    pub scene: &'a Scene<'a>,
    /// Silhouettes of all bodies, nearest first.
    pub silhouettes: &'a [Silhouette],
    /// First row of the band.
    pub first: u32,
    pub scratch: &'a mut Scratch,
    pub hits: &'a mut [HitData],
    pub looks: &'a mut [u32],
    /// Whether the appearance of hits is computed, too.
    pub looks_too: bool,
}

impl Work for FirstHits<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let width = self.scene.frame.size[0] as usize;
        let rows = self.hits.len() / width;
        let (top, bottom) = (self.first as f32, (self.first + BAND) as f32);
        let Scratch { band, .. } = self.scratch;
        band.clear();
        let met = self.silhouettes.iter().filter(|of| of.meets([0.0, top], [width as f32, bottom]));
        band.extend(met);
        for left in (0..width).step_by(TILE) {
            let Scratch { band, tile, .. } = self.scratch;
            tile.clear();
            let right = (left + TILE) as f32;
            tile.extend(band.iter().filter(|of| of.meets([left as f32, top], [right, bottom])));
            self.tile::<S::F32x8>(left, rows);
        }
    }
}

impl FirstHits<'_> {
    /// Computes a tile of the band with `rows` rows.
    #[inline(always)]
    fn tile<L: F32x8>(&mut self, left: usize, rows: usize) {
        let frame = &self.scene.frame;
        let width = frame.size[0] as usize;
        let mut packets = [self.packet::<L>(left, 0); PACKETS];
        for (i, packet) in packets.iter_mut().enumerate().skip(1) {
            *packet = self.packet::<L>(left, i);
        }
        let Scratch { stack, tile, .. } = &mut *self.scratch;
        for of in tile.iter() {
            let farthest = packets.iter().fold(L::splat(0.0), |far, packet| far.max(packet.hits.distance));
            if of.near > farthest.greatest() {
                break;
            }
            let edge = (TILE / 2) as f32 * frame.pixel_cone * of.near;
            let voxel = self.scene.bodies[of.body as usize].voxel;
            let fine = ((edge / voxel).min(1024.0) as u32).next_power_of_two().max(2);
            walk(&mut packets, self.scene, of.body, fine, stack);
        }
        for (k, packet) in packets.iter().enumerate() {
            if packet.hits.met == 0 {
                self.store_beyond(left, k, packet.hits.distance.array());
                continue;
            }
            let each = each_axis!(k: packet.direction[k].array());
            let hits = packet.hits.each(self.scene);
            let [from_x, from_row] = place(k);
            for (i, hit) in hits.iter().enumerate() {
                let (x, row) = (left + from_x + i % PACKET[0], from_row + i / PACKET[0]);
                if x >= width || row >= rows {
                    continue;
                }
                let at = row * width + x;
                // Written word by word: assembling a whole hit in memory and reading it at once would stall.
                let (stored, look) = (&mut self.hits[at], &mut self.looks[at]);
                if hit.body == BODY_SKY {
                    let HitData { body, leaf, distance, normal } = primary::beyond(hit.distance);
                    (stored.body, stored.leaf) = (body, leaf);
                    (stored.distance, stored.normal) = (distance, normal);
                    *look = 0;
                } else {
                    let along = glam::Vec3::new(each[0][i], each[1][i], each[2][i]);
                    (stored.body, stored.leaf, stored.distance) = (hit.body, hit.leaf, hit.distance);
                    if !self.looks_too {
                        stored.leaf = self.scene.leaf_of(hit);
                        continue;
                    }
                    (stored.leaf, stored.normal, *look) =
                        primary::appearance::<L>(self.scene, hit, along, &mut self.scratch.blends);
                }
            }
        }
    }

    /// Stores floor and sky for a packet that hit no body.
    #[inline(always)]
    fn store_beyond(&mut self, left: usize, k: usize, distance: [f32; LANES]) {
        let width = self.scene.frame.size[0] as usize;
        let [from_x, from_row] = place(k);
        for line in 0..PACKET[1] {
            let x = left + from_x;
            let from = (from_row + line) * width + x;
            let count = PACKET[0].min(width.saturating_sub(x));
            let hits = self.hits.get_mut(from..from + count).unwrap_or_default();
            for (stored, last) in hits.iter_mut().zip(&distance[line * PACKET[0]..]) {
                let HitData { body, leaf, distance, normal } = primary::beyond(*last);
                (stored.body, stored.leaf) = (body, leaf);
                (stored.distance, stored.normal) = (distance, normal);
            }
            self.looks.get_mut(from..from + count).unwrap_or_default().fill(0);
        }
    }

    /// Packet `k` of a tile.
    #[inline(always)]
    fn packet<L: F32x8>(&self, left: usize, k: usize) -> Packet<L> {
        let frame = &self.scene.frame;
        let [x, row] = place(k);
        let (x, row) = (left + x, self.first as usize + row);
        let columns = L::of(std::array::from_fn(|i| (x + i % PACKET[0]) as f32 + 0.5));
        let lines = L::of(std::array::from_fn(|i| (row + i / PACKET[0]) as f32 + 0.5));
        let direction = self.scene.rays(columns, lines);
        Packet {
            origin: each_axis!(k: L::splat(frame.eye[k])),
            direction,
            cut_slope: frame.pixel_cone,
            first: L::splat(0.0),
            open: (1 << LANES) - 1,
            any: false,
            looks: true,
            hits: Hits::none(reach(self.scene, direction[1])),
        }
    }
}

/// Upper left pixel of a packet in its tile.
#[inline(always)]
fn place(packet: usize) -> [usize; 2] {
    const ACROSS: usize = TILE / PACKET[0];
    [packet % ACROSS * PACKET[0], packet / ACROSS * PACKET[1]]
}

/// Distance at which rays reach the floor, m, by their upward component; 1e9 if there is no floor.
#[inline(always)]
fn reach<L: F32x8>(scene: &Scene<'_>, up: L) -> L {
    let frame = &scene.frame;
    let never = L::splat(1e9);
    if frame.flags & FLAG_FLOOR == 0 {
        return never;
    }
    let t = L::splat(frame.floor_y - frame.eye.y).div(up);
    let meets = up.less(L::splat(-1e-6)) & L::splat(0.0).less(t);
    L::mask(meets).select(t.min(never), never)
}
