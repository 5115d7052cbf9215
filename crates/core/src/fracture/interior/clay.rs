//! Fired clay for eight voxels at once: `clay` of [`super::volume`], operation by operation. Most crack voxels show
//! clay, so it alone is written out for lanes; other materials are painted voxel by voxel.

use super::{
    paint::{Place, VolumeGrid},
    volume::PRIMES,
};
use crate::geometry::simd::{I32x8, Simd, Work};
use crate::svo::morton::{self, Key};

/// Voxels that are painted at once.
const LANES: usize = 8;

type Color<W> = [W; 3];

/// Appends the colours of voxels, as the low bits of a colour word.
pub(super) struct ClayOf<'a> {
    pub grid: &'a VolumeGrid,
    pub keys: &'a [Key],
    pub colors: &'a mut Vec<u32>,
}

impl Work for ClayOf<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { grid, keys, colors } = self;
        let clay = Clay::<S::I32x8>::new(grid);
        for keys in keys.chunks(LANES) {
            let mut at = [[0; LANES]; 3];
            for lane in 0..LANES {
                // Lanes without a voxel paint the last one again.
                let cell = morton::decode(keys[lane.min(keys.len() - 1)]);
                for axis in 0..3 {
                    at[axis][lane] = cell[axis];
                }
            }
            let painted = clay.color(&at).array();
            colors.extend(painted[..keys.len()].iter().map(|color| *color as u32));
        }
    }
}

/// The even lattices of clay.
struct Clay<'a, W> {
    clouds: Noise<'a, W>,
    shades: [(Noise<'a, W>, i32); 3],
    grit: Specks<'a, W>,
    pores: Specks<'a, W>,
    base: Color<W>,
    second: Color<W>,
}

impl<'a, W: I32x8> Clay<'a, W> {
    #[inline(always)]
    fn new(grid: &'a VolumeGrid) -> Self {
        let [base, second, _, _] = grid.volume.0;
        Self {
            clouds: Noise::new(grid, 2100, 0),
            shades: [
                (Noise::new(grid, 620, 1), 8),
                (Noise::new(grid, 150, 2), 9),
                (Noise::new(grid, 61, 3), 5),
            ],
            grit: Specks::new(grid, 310, 4, 110, [34, 88]),
            pores: Specks::new(grid, 240, 6, 70, [22, 50]),
            base: color_of(base),
            second: color_of(second),
        }
    }

    #[inline(always)]
    fn color(&self, at: &[[u32; LANES]; 3]) -> W {
        let clouds = self.clouds.noise(at).sub(W::splat(22_000)).max(W::splat(0)).down::<1>();
        let mut c = mix(self.base, self.second, clouds);
        for (noise, percent) in &self.shades {
            c = shade(c, noise.noise(at), *percent);
        }
        // Most voxels are in no speck.
        let (grit, kind) = self.grit.speck(at);
        if !grit.is_zero() {
            c = self.with_grit(c, grit, kind);
        }
        let (pore, _) = self.pores.speck(at);
        if !pore.is_zero() {
            // Three eighths; never below zero.
            c = mix(c, [W::splat(0); 3], pore.mul(W::splat(3)).down::<3>());
        }
        let [r, g, b] = [byte(c[0]), byte(c[1]), byte(c[2])];
        r.add(g.mul(W::splat(1 << 8))).add(b.mul(W::splat(1 << 16)))
    }

    #[inline(always)]
    fn with_grit(&self, c: Color<W>, grit: W, kind: W) -> Color<W> {
        let pale = mix(c, [W::splat(62_000), W::splat(58_500), W::splat(52_500)], W::splat(17_000));
        let dark = mix(c, self.second, W::splat(44_000));
        let is_pale = kind.more(W::splat(36_000));
        let mut other = dark;
        for k in 0..3 {
            other[k] = dark[k].xor(dark[k].xor(pale[k]).and(is_pale));
        }
        mix(c, other, grit)
    }
}

#[inline(always)]
fn color_of<W: I32x8>(word: u32) -> Color<W> {
    let part = |shift: u32| W::splat(((word >> shift & 0xff) << 8) as i32);
    [part(0), part(8), part(16)]
}

#[inline(always)]
fn byte<W: I32x8>(v: W) -> W {
    v.add(W::splat(128)).down::<8>().max(W::splat(0)).min(W::splat(255))
}

#[inline(always)]
fn mix<W: I32x8>(a: Color<W>, b: Color<W>, weight: W) -> Color<W> {
    let w = weight.max(W::splat(0)).min(W::splat(65_536)).down::<8>();
    let mut mixed = a;
    for k in 0..3 {
        mixed[k] = a[k].add(b[k].sub(a[k]).mul(w).down::<8>());
    }
    mixed
}

#[inline(always)]
fn shade<W: I32x8>(c: Color<W>, noise: W, percent: i32) -> Color<W> {
    let strength = noise.sub(W::splat(32_768)).down::<4>().mul(W::splat(percent));
    let k = W::splat(4096).add(strength.quotient(W::splat(50)));
    let mut shaded = c;
    for v in &mut shaded {
        *v = v.mul(k).down::<12>().max(W::splat(0)).min(W::splat(65_280));
    }
    shaded
}

/// The last steps of `hash`.
#[inline(always)]
fn stirred<W: I32x8>(h: W) -> W {
    let h = h.xor(h.down_unsigned::<15>()).mul(W::splat(0x2c1b_3c6d));
    let h = h.xor(h.down_unsigned::<12>()).mul(W::splat(0x297a_2d39));
    h.xor(h.down_unsigned::<15>())
}

/// The contribution of a salt to a hash.
fn salted<W: I32x8>(grid: &VolumeGrid, salt: u32) -> W {
    let [_, _, _, seed] = grid.volume.0;
    W::splat(seed.wrapping_mul(64).wrapping_add(salt).wrapping_mul(PRIMES[3]) as i32)
}

/// Smooth noise on one lattice.
struct Noise<'a, W> {
    places: &'a [Place],
    salt: W,
}

impl<'a, W: I32x8> Noise<'a, W> {
    fn new(grid: &'a VolumeGrid, cell: u32, salt: u32) -> Self {
        Self { places: grid.places(salt, false, cell), salt: salted(grid, salt) }
    }

    #[inline(always)]
    fn noise(&self, at: &[[u32; LANES]; 3]) -> W {
        let mut cells = [[0; LANES]; 3];
        let mut smooth = [self.salt; 3];
        let mut apart = 0;
        for axis in 0..3 {
            let mut weights = [0; LANES];
            for lane in 0..LANES {
                let place = self.places[at[axis][lane] as usize];
                cells[axis][lane] = place.cell as i32;
                weights[lane] = i32::from(place.smooth);
                apart |= cells[axis][lane] ^ cells[axis][0];
            }
            smooth[axis] = W::of(weights);
        }
        if apart == 0 {
            return self.in_one_cell(cells.map(|cells| cells[0]), smooth);
        }
        let mut near = [self.salt; 3];
        let mut far = near;
        for axis in 0..3 {
            let prime = W::splat(PRIMES[axis] as i32);
            near[axis] = W::of(cells[axis]).mul(prime);
            far[axis] = near[axis].add(prime);
        }
        let [low, high] = [near[2].xor(self.salt), far[2].xor(self.salt)];
        let along_x = [
            knots_along_x(near[0], far[0], near[1].xor(low), smooth[0]),
            knots_along_x(near[0], far[0], far[1].xor(low), smooth[0]),
            knots_along_x(near[0], far[0], near[1].xor(high), smooth[0]),
            knots_along_x(near[0], far[0], far[1].xor(high), smooth[0]),
        ];
        let [low, high] =
            [between(along_x[0], along_x[1], smooth[1]), between(along_x[2], along_x[3], smooth[1])];
        between(low, high, smooth[2])
    }

    /// Where all voxels lie in one cell: its eight knots are the lanes of one hash.
    #[inline(always)]
    fn in_one_cell(&self, cell: [i32; 3], smooth: [W; 3]) -> W {
        const { assert!(LANES == 8) };
        let mut hashed = self.salt;
        for axis in 0..3 {
            let corners = std::array::from_fn(|lane| cell[axis] + (lane as i32 >> axis & 1));
            hashed = hashed.xor(W::of(corners).mul(W::splat(PRIMES[axis] as i32)));
        }
        let knots = stirred(hashed).down_unsigned::<16>().array();
        let along_x = |k: usize| between(W::splat(knots[k]), W::splat(knots[k + 1]), smooth[0]);
        let low = between(along_x(0), along_x(2), smooth[1]);
        let high = between(along_x(4), along_x(6), smooth[1]);
        between(low, high, smooth[2])
    }
}

/// Interpolates between two successive knots along x.
#[inline(always)]
fn knots_along_x<W: I32x8>(near: W, far: W, rest: W, smooth: W) -> W {
    let [near, far] = [stirred(near.xor(rest)), stirred(far.xor(rest))];
    between(near.down_unsigned::<16>(), far.down_unsigned::<16>(), smooth)
}

#[inline(always)]
fn between<W: I32x8>(a: W, b: W, smooth: W) -> W {
    a.add(b.sub(a).mul(smooth).down::<12>())
}

/// Round specks in some of the cells of one lattice.
struct Specks<'a, W> {
    places: &'a [Place],
    salts: [W; 2],
    cell: i32,
    chance: i32,
    radii: [i32; 2],
}

impl<'a, W: I32x8> Specks<'a, W> {
    fn new(grid: &'a VolumeGrid, cell: u32, salt: u32, chance: i32, radii: [i32; 2]) -> Self {
        let salts = [salted(grid, salt), salted(grid, salt + 1)];
        Self { places: grid.places(salt, false, cell), salts, cell: cell as i32, chance, radii }
    }

    /// Weight of a speck, and its cell's own number.
    #[inline(always)]
    fn speck(&self, at: &[[u32; LANES]; 3]) -> (W, W) {
        let mut hashed = W::splat(0);
        let mut within = [hashed; 3];
        for axis in 0..3 {
            let (mut cells, mut places) = ([0; LANES], [0; LANES]);
            for lane in 0..LANES {
                let place = self.places[at[axis][lane] as usize];
                cells[lane] = place.cell as i32;
                places[lane] = i32::from(place.within);
            }
            hashed = hashed.xor(W::of(cells).mul(W::splat(PRIMES[axis] as i32)));
            within[axis] = W::of(places);
        }
        let byte = W::splat(0xff);
        let [least, most] = self.radii;
        let h = stirred(hashed.xor(self.salts[0]));
        let there = W::splat(self.chance).more(h.and(byte));
        if there.is_zero() {
            return (there, there);
        }
        let size = h.down_unsigned::<8>().and(byte).mul(W::splat(most - least)).down::<8>();
        let radius = W::splat(least).add(size);
        let place = stirred(hashed.xor(self.salts[1]));
        let ten = W::splat(0x3ff);
        let parts = [place.and(ten), place.down_unsigned::<10>().and(ten), place.down_unsigned::<22>()];
        let room = W::splat(self.cell).sub(radius.add(radius));
        let mut d2 = W::splat(0);
        for axis in 0..3 {
            let centre = radius.add(parts[axis].mul(room).down_unsigned::<10>());
            let apart = within[axis].sub(centre);
            d2 = d2.add(apart.mul(apart));
        }
        let r2 = radius.mul(radius);
        // Outside the quotient is not used; inside it is below 2^24.
        let ahead = r2.sub(d2).max(W::splat(0)).mul(W::splat(512));
        let weight = ahead.quotient(r2).min(W::splat(256)).mul(W::splat(256));
        (weight.and(there), h.down_unsigned::<16>().and(there))
    }
}
