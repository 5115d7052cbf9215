//! Dark lines between pieces of one object that lie together, like `hairline` in `shaders/render/compose.wgsl`.
//!
//! In: first hits of the whole picture. Out: the share of a pixel that a line covers.

use glam::Vec3;

use super::{
    scene::{BODY_FLOOR, BODY_SKY, Scene},
    wide::{max, min, normal_of, smooth},
};
use crate::surfaces::HitData;

/// Share of its light that the middle of a line loses.
const DARK: f32 = 0.75;

/// A pixel's surface.
struct Seen {
    /// Relative to the eye.
    point: Vec3,
    /// World width of a pixel there.
    pixel: f32,
    normal: Vec3,
}

/// The pixels between which borders are looked for.
pub(super) struct Borders<'a> {
    pub scene: &'a Scene<'a>,
    pub hits: &'a [HitData],
}

impl Borders<'_> {
    /// Whether other bodies than the first are seen in a run of pixels or beside it; few runs have any, and the others
    /// are done with.
    #[inline(always)]
    pub fn are_near(&self, x: usize, y: u32, count: usize) -> bool {
        let [width, height] = self.scene.frame.size.map(|v| v as usize);
        let (x, y, reach) = (x, y as usize, if self.scene.frame.hairline > 2.0 { 2 } else { 1 });
        let columns = x.saturating_sub(reach)..(x + count + reach).min(width);
        let first = self.hits[y * width + x].body;
        (y.saturating_sub(reach)..(y + reach + 1).min(height)).any(|row| {
            let hits = &self.hits[row * width + columns.start..row * width + columns.end];
            hits.iter().fold(false, |any, hit| any | (hit.body != first))
        })
    }

    /// What a pixel keeps of its light.
    pub fn light(&self, x: usize, y: u32) -> f32 {
        1.0 - DARK * self.hairline([x as i32, y as i32])
    }

    fn hairline(&self, here: [i32; 2]) -> f32 {
        let body = self.body(here);
        let mut beside = 0.0;
        for k in 0..9 {
            let near = plus(here, [k % 3 - 1, k / 3 - 1]);
            if self.are_kin(body, self.body(near)) {
                beside += continued(&self.seen(here), &self.seen(near), 1.0);
            }
        }
        // A gap narrower than a pixel shows what lies behind: there the surfaces on both sides go on in each other, in
        // one direction.
        let mut across = 0.0;
        if beside < 1.0 {
            for k in 5..9 {
                let (there, back) = ([k % 3 - 1, k / 3 - 1], [1 - k % 3, 1 - k / 3]);
                let [a, b] = [plus(here, back), plus(here, there)];
                if self.are_kin(self.body(a), self.body(b)) {
                    let (a, b) = (self.seen(a), self.seen(b));
                    across += continued(&a, &b, 2.0) * smooth(0.0, 0.5, a.normal.dot(b.normal));
                }
            }
            across *= 1.0 - beside;
        }
        let half = 0.5 * self.scene.frame.hairline;
        let mut cover = min(half * (min(beside, 3.0) + 2.0 * min(across, 3.0)) / 3.0, 1.0);
        if half > 1.0 && cover < 1.0 {
            let mut outer = 0.0;
            for step in (0..25).map(|k| [k % 5 - 2, k / 5 - 2i32]) {
                let near = plus(here, step);
                if step[0].abs().max(step[1].abs()) == 2 && self.are_kin(body, self.body(near)) {
                    outer += continued(&self.seen(here), &self.seen(near), 2.0);
                }
            }
            cover = max(cover, (half - 1.0) * min(outer / 5.0, 1.0));
        }
        if cover > 0.0 { cover * self.uncrowded(here) } else { 0.0 }
    }

    /// 1 where few borders cross a ring round the pixel, 0 where pieces are smaller than the ring: a heap of crumbs
    /// would turn black.
    fn uncrowded(&self, here: [i32; 2]) -> f32 {
        let far = self.scene.frame.hairline_reach as i32;
        let slant = (3 * far + 2) / 4;
        let ring = [
            [far, 0],
            [slant, slant],
            [0, far],
            [-slant, slant],
            [-far, 0],
            [-slant, -slant],
            [0, -far],
            [slant, -slant],
        ];
        let size = self.scene.frame.size.map(|v| v as i32);
        let bodies = ring.map(|step| {
            let [x, y] = plus(here, step);
            self.body([x.clamp(0, size[0] - 1), y.clamp(0, size[1] - 1)])
        });
        let borders = (0..8).filter(|&k| bodies[k] != bodies[(k + 7) % 8]).count();
        1.0 - smooth(3.0, 6.0, borders as f32)
    }

    /// The body at a pixel that may lie outside of the picture.
    fn body(&self, [x, y]: [i32; 2]) -> u32 {
        let [width, height] = self.scene.frame.size.map(|v| v as i32);
        if x < 0 || y < 0 || x >= width || y >= height {
            return BODY_SKY;
        }
        self.hits[(y * width + x) as usize].body
    }

    /// Whether these are two pieces of one object.
    fn are_kin(&self, a: u32, b: u32) -> bool {
        let objects = &self.scene.objects;
        a != b && a.max(b) < BODY_FLOOR && objects[a as usize] == objects[b as usize]
    }

    fn seen(&self, [x, y]: [i32; 2]) -> Seen {
        let frame = &self.scene.frame;
        let hit = &self.hits[(y * frame.size[0] as i32 + x) as usize];
        let across = 2.0 * (x as f32 + 0.5 + frame.jitter[0]) / frame.size[0] as f32 - 1.0;
        let up = 1.0 - 2.0 * (y as f32 + 0.5 + frame.jitter[1]) / frame.size[1] as f32;
        let along = frame.forward + frame.right * across + frame.up * up;
        let point = along * (hit.distance * along.length_recip());
        Seen {
            point,
            pixel: frame.pixel_cone * point.dot(frame.ahead),
            normal: Vec3::from(normal_of(hit.normal)),
        }
    }
}

fn plus(a: [i32; 2], b: [i32; 2]) -> [i32; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// How much two surfaces go on in each other, `reach` pixels apart: 1 where each lies in the other's tangent plane, to
/// a pixel or so; 0 at a silhouette, where one lies behind the other. In a corner that opens towards the eye one piece
/// stands on another, which is no crack.
fn continued(a: &Seen, b: &Seen, reach: f32) -> f32 {
    let chord = (b.point - a.point) * (1.0 / (a.pixel * (0.5 + 0.5 * reach)));
    let rise = [chord.dot(a.normal), -chord.dot(b.normal)];
    let even = 1.0 - smooth(1.0, 2.0, max(rise[0].abs(), rise[1].abs()));
    let corner = smooth(0.0, 0.2, rise[0] + rise[1]) * (1.0 - smooth(0.2, 0.6, a.normal.dot(b.normal)));
    even * (1.0 - corner)
}
