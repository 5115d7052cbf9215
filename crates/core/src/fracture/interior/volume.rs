//! The reference for `shaders/shared/volume.wgsl`: the same colours in plain Rust. Whole numbers only, so both agree to
//! the bit.
//!
//! In: a [`Volume`] and a point in fixed-point units (2^14 a grid side). Out: sRGB bytes.

use super::{
    Volume,
    relief::{SALT, grain_offset, grain_radius, turned_whole},
};

type Point = [u32; 3];
/// 8.8 fixed point.
type Color = [i32; 3];

const WHITE: Color = [65_280; 3];

impl Volume {
    /// The colour at a point of the grid, fixed-point units.
    #[must_use]
    pub fn color_at(&self, point: [i32; 3]) -> [u8; 3] {
        self.color_between(point, false)
    }

    /// The same; `is_hollow` leaves out grains of gravel.
    pub(super) fn color_between(&self, point: [i32; 3], is_hollow: bool) -> [u8; 3] {
        let q = point.map(|v| scaled(v, self.size()));
        let [_, _, _, seed] = self.0;
        self.color_in(point, is_hollow, &mut Anywhere { q, salt: seed.wrapping_mul(64) })
    }

    /// Whether the colour at a point of concrete is that of gravel.
    pub(super) fn is_gravel(&self, point: [i32; 3]) -> bool {
        let q = point.map(|v| scaled(v, self.size()));
        let [x, y, _, seed] = self.0;
        let at = &mut Anywhere { q, salt: seed.wrapping_mul(64) };
        let look = Look { q, base: color_of(x), second: color_of(y), salt: seed.wrapping_mul(64), at };
        look.gravel().is_some()
    }

    /// Like [`Volume::color_at`] with another noise look-up: `at` is the place of `point`.
    #[inline]
    pub(super) fn color_in(&self, point: [i32; 3], is_hollow: bool, at: &mut impl Lattice) -> [u8; 3] {
        let [x, y, _, seed] = self.0;
        let (q, size) = (at.place(), self.size().max(1));
        let mut look = Look { q, base: color_of(x), second: color_of(y), salt: seed.wrapping_mul(64), at };
        let color = match x >> 24 {
            2 => look.clay(),
            3 => look.stone(),
            4 => look.marble(),
            5 => look.wood(point, size),
            6 => look.porcelain(),
            7 => look.glass(),
            8 => look.concrete(is_hollow),
            9 => look.plaster(),
            10 => look.brick(),
            _ => look.base,
        };
        color.map(|v| ((v + 128) >> 8).clamp(0, 255) as u8)
    }
}

/// A coordinate in the material's units.
pub(super) fn scaled(coordinate: i32, size: u32) -> u32 {
    (coordinate.saturating_add(16_384).max(0) as u32).wrapping_mul(256) / size.max(1)
}

/// How the noise round one point is found.
pub(super) trait Lattice {
    /// The point, in the material's units.
    fn place(&self) -> Point;

    /// Smooth noise there; `cell` is as large along x as along z, and `salt` names a noise of the material.
    fn noise(&mut self, cell: Point, salt: u32) -> i32;

    /// In which cell of an even lattice the point lies, and where in it.
    fn cell(&mut self, cell: u32, salt: u32) -> (Point, Point);
}

/// A point anywhere.
struct Anywhere {
    q: Point,
    salt: u32,
}

impl Lattice for Anywhere {
    fn place(&self) -> Point {
        self.q
    }

    fn noise(&mut self, cell: Point, salt: u32) -> i32 {
        noise(self.q, cell, self.salt.wrapping_add(salt))
    }

    fn cell(&mut self, cell: u32, _salt: u32) -> (Point, Point) {
        (self.q.map(|v| v / cell), self.q.map(|v| v % cell))
    }
}

struct Look<'a, L> {
    q: Point,
    base: Color,
    second: Color,
    salt: u32,
    at: &'a mut L,
}

impl<L: Lattice> Look<'_, L> {
    #[inline]
    fn even(&mut self, cell: u32, salt: u32) -> i32 {
        self.at.noise([cell; 3], salt)
    }

    #[inline]
    fn long(&mut self, across: u32, along: u32, salt: u32) -> i32 {
        self.at.noise([across, along, across], salt)
    }

    #[inline]
    fn clay(&mut self) -> Color {
        let mut c = mix(self.base, self.second, (self.even(2100, 0) - 22_000).max(0) >> 1);
        for (cell, salt, percent) in [(620, 1, 8), (150, 2, 9), (61, 3, 5)] {
            c = shade(c, self.even(cell, salt), percent);
        }
        let (grit, kind) = self.speck(310, 4, 110, 34, 88);
        let other = if kind > 36_000 {
            mix(c, [62_000, 58_500, 52_500], 17_000)
        } else {
            mix(c, self.second, 44_000)
        };
        c = mix(c, other, grit);
        let (pore, _) = self.speck(240, 6, 70, 22, 50);
        mix(c, [0; 3], pore * 3 / 8)
    }

    fn stone(&mut self) -> Color {
        const CELL: u32 = 250;
        let p: Point = std::array::from_fn(|k| self.q[k] + (self.even(140, k as u32) >> 9) as u32 + CELL / 2);
        let corner = p.map(|v| v / CELL);
        let mut nearest = (i32::MAX, 0);
        for o in CORNERS {
            let cell: Point = std::array::from_fn(|k| corner[k] + o[k]);
            let h = hash(cell, self.salt.wrapping_add(3));
            let d2 = (0..3)
                .map(|k| {
                    let jitter = (((h >> (8 * k)) & 0xff) * 170) >> 8;
                    let middle = (o[k] * CELL + jitter) as i32 - 85;
                    ((p[k] % CELL) as i32 - middle).pow(2)
                })
                .sum::<i32>();
            if d2 < nearest.0 {
                nearest = (d2, hash(cell, self.salt.wrapping_add(4)));
            }
        }
        let kind = nearest.1;
        let mut c = match kind & 0xff {
            226.. => self.second,
            184.. => mix(self.base, WHITE, 18_000),
            104.. => {
                let [r, g, b] = self.base;
                mix(self.base, [(r + 2 * g + b) >> 2; 3], 40_000).map(|v| (v * 13) >> 4)
            }
            _ => self.base,
        };
        c = shade(c, (kind >> 16) as i32, 9);
        c = shade(c, self.even(66, 5), 8);
        shade(c, self.even(1700, 6), 6)
    }

    fn marble(&mut self) -> Color {
        let p: Point = std::array::from_fn(|k| {
            let bend = self.even(1500, k as u32) + (self.even(430, 3 + k as u32) >> 2);
            self.q[k] + (bend >> 5) as u32
        });
        let all = self.salt;
        let bent = |cell: u32, salt: u32| noise(p, [cell; 3], all.wrapping_add(salt));
        let mut c = mix(self.base, self.second, bent(2600, 6) / 5);
        let along = (p[0] * 5 + p[1] * 7 + p[2] * 3) >> 3;
        let fold = ((along % 2700) as i32 - 1350).abs();
        let here = (self.even(1900, 7) - 17_000).max(0);
        c = mix(c, self.second, ((420 - fold).max(0) * (here >> 4)) >> 5);
        c = mix(c, self.second, ((110 - fold).max(0) * (here >> 4)) >> 2);
        let thin = (bent(1250, 8) - 32_768).abs();
        let there = (self.even(1400, 9) - 22_000).max(0);
        c = mix(c, self.second, ((1900 - thin).max(0) * (there >> 4)) >> 7);
        shade(c, self.even(75, 10), 3)
    }

    fn wood(&mut self, point: [i32; 3], size: u32) -> Color {
        let h = hash([1, 2, 3], self.salt);
        let axis = [6000 + (h & 0xfff) as i32, 6000 + (h >> 12 & 0xfff) as i32];
        let lean = [(h >> 24 & 0xf) as i32 - 8, (h >> 28) as i32 - 8];
        let from_axis = |at: i32, k: usize| {
            let leaning = (point[1].saturating_sub(8192).saturating_mul(lean[k])) >> 7;
            at.saturating_sub(axis[k]).saturating_sub(leaning).clamp(-32_000, 32_000)
        };
        let d = [from_axis(point[0], 0), from_axis(point[2], 1)];
        let r = d.iter().map(|v| v.unsigned_abs().pow(2)).sum::<u32>().isqrt();
        let wander = (self.long(2200, 7000, 0) >> 6) + (self.long(420, 3600, 1) >> 10);
        let out = (r * 256) / size + wander as u32;
        let spread = noise([out, 0, 0], [1300; 3], self.salt.wrapping_add(2));
        let rings = out + (spread >> 7) as u32;
        let (year, part) = (rings / 560, (((rings % 560) << 12) / 560) as i32);
        let grown = (((part * part) >> 12) * part) >> 12;
        let dark = if part < 3780 { grown } else { (4096 - part) * 12 };
        let strength = 34_000 + (hash([year, 0, 0], self.salt.wrapping_add(3)) >> 17) as i32 * 3 / 4;
        let mut c = mix(self.base, self.second, (dark.clamp(0, 4096) * (strength >> 4)) >> 8);
        c = shade(c, self.long(85, 2400, 4), 9);
        c = shade(c, self.long(900, 5200, 5), 7);
        let vessel = self.long(58, 1100, 6);
        c = mix(c, self.second.map(|v| (v * 3) >> 2), (vessel - 46_000).max(0) * 2);
        let way = d.map(|v| (v * 2048 / (r as i32).max(64) + 4096) as u32);
        let ray = noise([way[0], self.q[1], way[1]], [26, 420, 26], self.salt.wrapping_add(7));
        mix(c, mix(self.base, WHITE, 6_000), (ray - 54_000).max(0) * 3)
    }

    fn porcelain(&mut self) -> Color {
        let c = mix(self.base, self.second, self.even(2600, 0) >> 2);
        let c = shade(c, self.even(90, 1), 2);
        mix(c, self.second, self.speck(520, 2, 30, 18, 36).0 >> 1)
    }

    fn glass(&mut self) -> Color {
        let c = mix(self.base, self.second, self.even(3100, 0) >> 1);
        shade(c, self.even(700, 1), 2)
    }

    fn concrete(&mut self, is_hollow: bool) -> Color {
        let mut c = self.base;
        for (cell, salt, percent) in [(1900, 0, 7), (330, 1, 6), (60, 2, 9)] {
            c = shade(c, self.even(cell, salt), percent);
        }
        let (sand, kind) = self.speck(100, 3, 150, 12, 34);
        c = mix(c, if kind > 30_000 { mix(self.base, WHITE, 22_000) } else { self.second }, sand * 3 / 4);
        let Some(kind) = self.gravel().filter(|_| !is_hollow) else { return c };
        let [r, g, b] = self.base;
        let mut stone = match kind & 0xff {
            206.. => mix(self.base, self.second, 52_000),
            150.. => mix(self.base, WHITE, 20_000),
            70.. => [(r * 17) >> 4, (g * 15) >> 4, (b * 12) >> 4],
            _ => mix(self.base, self.second, 24_000),
        };
        stone = shade(stone, (kind >> 16) as i32, 12);
        shade(stone, self.even(85, 5), 7)
    }

    fn plaster(&mut self) -> Color {
        let mut c = self.base;
        for (cell, salt, percent) in [(1600, 0, 3), (190, 1, 4), (52, 2, 4)] {
            c = shade(c, self.even(cell, salt), percent);
        }
        mix(c, self.second, self.speck(210, 3, 80, 16, 42).0 * 5 / 8)
    }

    fn brick(&mut self) -> Color {
        let mut c = self.base;
        for (cell, salt, percent) in [(1000, 0, 10), (150, 1, 11), (56, 2, 8)] {
            c = shade(c, self.even(cell, salt), percent);
        }
        let (grog, kind) = self.speck(330, 3, 120, 26, 90);
        let other = if kind > 34_000 { mix(self.base, WHITE, 15_000) } else { mix(c, self.second, 50_000) };
        mix(c, other, grog * 3 / 4)
    }

    /// The number of the grain of gravel in which the point lies.
    fn gravel(&self) -> Option<u32> {
        self.grain(1024, 3).or_else(|| self.grain(512, 4))
    }

    /// The number of the grain of the relief in which the point lies, of the lattice of `cell` units.
    fn grain(&self, cell: u32, salt: u32) -> Option<u32> {
        let salt = self.salt.wrapping_add(SALT + salt);
        let q = turned_whole(self.q.map(|v| v as i32));
        let side = cell as i32;
        let corner = q.map(|v| v.div_euclid(side));
        CORNERS.into_iter().find_map(|o| {
            let at: [i32; 3] = std::array::from_fn(|k| corner[k] + o[k] as i32);
            let h = hash(at.map(|v| v as u32), salt);
            let part = side / 256;
            let radius = grain_radius(h) * part;
            let d2 = (0..3).map(|k| (q[k] - at[k] * side - grain_offset(h, k) * part).pow(2)).sum::<i32>();
            (d2 < radius * radius).then(|| hash(at.map(|v| v as u32), salt.wrapping_add(8)))
        })
    }

    /// Weight of a round speck in some of the cells, and the cell's own number.
    #[inline]
    fn speck(&mut self, cell: u32, salt: u32, chance: u32, least: u32, most: u32) -> (i32, i32) {
        let (at, within) = self.at.cell(cell, salt);
        let salt = self.salt.wrapping_add(salt);
        let h = hash(at, salt);
        if h & 0xff >= chance {
            return (0, 0);
        }
        let radius = least + (((h >> 8 & 0xff) * (most - least)) >> 8);
        let place = hash(at, salt.wrapping_add(1));
        let parts = [place & 0x3ff, place >> 10 & 0x3ff, place >> 22];
        let d2 = (0..3)
            .map(|k| {
                let centre = radius + ((parts[k] * (cell - 2 * radius)) >> 10);
                (within[k] as i32 - centre as i32).pow(2)
            })
            .sum::<i32>();
        let r2 = (radius * radius) as i32;
        ((((r2 - d2) * 512) / r2).clamp(0, 256) << 8, (h >> 16) as i32)
    }
}

const CORNERS: [Point; 8] =
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]];

fn color_of(word: u32) -> Color {
    [0, 8, 16].map(|shift| ((word >> shift & 0xff) << 8) as i32)
}

/// Factors of x, y, z and the salt in a hash.
pub(super) const PRIMES: [u32; 4] = [0x8da6_b343, 0xd816_3841, 0xcb1a_b31f, 0x9e37_79b1];

pub(super) fn hash([x, y, z]: Point, salt: u32) -> u32 {
    let mut h = x.wrapping_mul(PRIMES[0])
        ^ y.wrapping_mul(PRIMES[1])
        ^ z.wrapping_mul(PRIMES[2])
        ^ salt.wrapping_mul(PRIMES[3]);
    h = (h ^ h >> 15).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ h >> 12).wrapping_mul(0x297a_2d39);
    h ^ h >> 15
}

/// Smooth noise, 0..65536, one knot a cell.
fn noise(q: Point, cell: Point, salt: u32) -> i32 {
    let smooth = std::array::from_fn(|k| smooth(q[k] % cell[k], cell[k]));
    between(knots(std::array::from_fn(|k| q[k] / cell[k]), salt), smooth)
}

/// The weight of a knot's neighbour, 0..=4096, `within` a cell.
pub(super) fn smooth(within: u32, cell: u32) -> i32 {
    let t = ((within << 12) / cell) as i32;
    (((t * t) >> 12) * (12_288 - 2 * t)) >> 12
}

/// The numbers at the corners of a cell.
pub(super) fn knots(cell: Point, salt: u32) -> [i32; 8] {
    CORNERS.map(|o| (hash(std::array::from_fn(|k| cell[k] + o[k]), salt) >> 16) as i32)
}

/// Interpolates between them.
pub(super) fn between(mut knots: [i32; 8], smooth: [i32; 3]) -> i32 {
    let mut count = 8;
    for s in smooth {
        count /= 2;
        for i in 0..count {
            let (a, b) = (knots[2 * i], knots[2 * i + 1]);
            knots[i] = a + (((b - a) * s) >> 12);
        }
    }
    knots[0]
}

fn mix(a: Color, b: Color, weight: i32) -> Color {
    let w = weight.clamp(0, 65_536) >> 8;
    std::array::from_fn(|k| a[k] + (((b[k] - a[k]) * w) >> 8))
}

fn shade(c: Color, noise: i32, percent: i32) -> Color {
    let k = 4096 + (((noise - 32_768) >> 4) * percent) / 50;
    c.map(|v| ((v * k) >> 12).clamp(0, 65_280))
}
