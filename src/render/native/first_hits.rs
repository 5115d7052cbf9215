//! First hits of a band of rows, tile by tile, eight rays at a time.

use super::{
    BAND,
    lanes::{LANES, Lanes, each_axis},
    leaf::Hit,
    packet::{Packet, Stack},
    primary,
    scene::{BODY_SKY, Scene},
    silhouettes::Silhouette,
    surface::Blends,
    wide::Work,
};
use crate::render::targets::HitData;

/// Pixels of a tile each way.
const TILE: usize = 8;
/// Pixels of a packet: four side by side in two rows.
const PACKET: [usize; 2] = [4, 2];

/// What a thread keeps from band to band.
#[derive(Default)]
pub(super) struct Scratch {
    blends: Blends,
    stack: Stack,
    /// Bodies that the band's rows may show, and a tile.
    band: Vec<Silhouette>,
    tile: Vec<Silhouette>,
}

/// First hits of a band of rows.
pub(super) struct FirstHits<'a> {
    pub scene: &'a Scene<'a>,
    /// Of all bodies, nearest first.
    pub silhouettes: &'a [Silhouette],
    /// First row.
    pub first: u32,
    pub scratch: &'a mut Scratch,
    pub hits: &'a mut [HitData],
    pub looks: &'a mut [u32],
}

impl Work for FirstHits<'_> {
    #[inline(always)]
    fn run<L: Lanes>(mut self) {
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
            for row in (0..rows).step_by(PACKET[1]) {
                for x in (left..(left + TILE).min(width)).step_by(PACKET[0]) {
                    self.packet::<L>(x, row);
                }
            }
        }
    }
}

impl FirstHits<'_> {
    #[inline(always)]
    fn packet<L: Lanes>(&mut self, x: usize, row: usize) {
        let frame = &self.scene.frame;
        let width = frame.size[0] as usize;
        let rows = self.hits.len() / width;
        let columns = L::of(std::array::from_fn(|i| (x + i % PACKET[0]) as f32 + 0.5));
        let lines = L::of(std::array::from_fn(|i| self.first as f32 + (row + i / PACKET[0]) as f32 + 0.5));
        let direction = directions(self.scene, columns, lines);
        let each = each_axis!(k: direction[k].array());
        let along = |i: usize| glam::Vec3::new(each[0][i], each[1][i], each[2][i]);
        let reach: [f32; LANES] = std::array::from_fn(|i| primary::reach(self.scene, along(i)));
        let Scratch { blends, stack, tile, .. } = self.scratch;
        let eye = each_axis!(k: L::splat(frame.eye[k]));
        let mut packet = Packet {
            origin: eye,
            direction,
            cut_slope: frame.pixel_cone,
            first: L::splat(0.0),
            hits: reach.map(Hit::none),
            open: (1 << LANES) - 1,
        };
        for of in tile.iter() {
            let farthest = packet.hits.iter().fold(0.0f32, |far, hit| far.max(hit.distance));
            if of.near > farthest {
                break;
            }
            packet.walk(self.scene, of.body, stack);
        }
        for (i, hit) in packet.hits.iter().enumerate() {
            let (x, row) = (x + i % PACKET[0], row + i / PACKET[0]);
            if x >= width || row >= rows {
                continue;
            }
            let at = row * width + x;
            (self.hits[at], self.looks[at]) = if hit.body == BODY_SKY {
                (primary::beyond(hit.distance), 0)
            } else {
                primary::appearance(self.scene, hit, along(i), blends)
            };
        }
    }
}

/// The unit rays through places in the picture: [`Scene::ray`] of eight.
#[inline(always)]
fn directions<L: Lanes>(scene: &Scene<'_>, x: L, y: L) -> [L; 3] {
    let frame = &scene.frame;
    let (width, height) = (L::splat(frame.size[0] as f32), L::splat(frame.size[1] as f32));
    let place = [x.add(L::splat(frame.jitter[0])).div(width), y.add(L::splat(frame.jitter[1])).div(height)];
    let across = L::splat(2.0).mul(place[0]).sub(L::splat(1.0));
    let down = L::splat(1.0).sub(L::splat(2.0).mul(place[1]));
    let along = each_axis!(k: L::splat(frame.forward[k])
        .add(L::splat(frame.right[k]).mul(across))
        .add(L::splat(frame.up[k]).mul(down)));
    let square = along[0].mul(along[0]).add(along[1].mul(along[1])).add(along[2].mul(along[2]));
    let scale = L::splat(1.0).div(square.sqrt());
    each_axis!(k: along[k].mul(scale))
}
