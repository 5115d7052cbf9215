//! Scales the picture bilinearly to its rectangle in the window, on the cores.

use super::area::Area;

/// Subdivisions of a pixel in sampling positions.
const PARTS: u32 = 256;

/// A picture scaled to a rectangle of the window, with the samples of each column.
pub struct Stretch<'a> {
    place: Area,
    size: [u32; 2],
    rgba: &'a [u8],
    /// For each column of the rectangle: the left one of two pixels, and the weight of the right one, 0..=255.
    columns: Vec<(u32, u32)>,
}

impl<'a> Stretch<'a> {
    /// `rgba`: rows of `size` from the top. `None` if it is empty or smaller than `size` says.
    pub fn new(size: [u32; 2], rgba: &'a [u8], place: Area) -> Option<Self> {
        let pixels = size[0] as usize * size[1] as usize;
        if place.is_empty() || pixels == 0 || rgba.len() < 4 * pixels {
            return None;
        }
        let width = (place.max[0] - place.min[0]) as u32;
        let columns = (0..width).map(|x| neighbours(x, width, size[0])).collect();
        Some(Self { place, size, rgba, columns })
    }

    /// Fills row `y` of the window from column `first` on; both must lie in the rectangle. `scratch` is a reusable
    /// buffer.
    pub fn row(&self, y: i32, first: i32, out: &mut [u32], scratch: &mut Vec<u32>) {
        let height = (self.place.max[1] - self.place.min[1]) as u32;
        let (above, weight) = neighbours((y - self.place.min[1]) as u32, height, self.size[1]);
        let below = (above + 1).min(self.size[1] - 1);
        let [upper, lower] = [above, below].map(|row| {
            let from = 4 * row as usize * self.size[0] as usize;
            self.rgba[from..from + 4 * self.size[0] as usize].as_chunks::<4>().0
        });
        scratch.clear();
        let mixed = upper.iter().zip(lower).map(|(upper, lower)| mix(packed(upper), packed(lower), weight));
        scratch.extend(mixed);
        // The last pixel gets a right neighbour, too.
        scratch.extend(scratch.last().copied());
        let columns = &self.columns[(first - self.place.min[0]) as usize..];
        for (out, (left, weight)) in out.iter_mut().zip(columns) {
            let left = *left as usize;
            *out = mix(scratch[left], scratch[left + 1], *weight);
        }
    }

    /// The rectangle in the window.
    pub fn place(&self) -> Area {
        self.place
    }
}

/// The two of `count` pixels between which the centre of pixel `at` of `side` falls: the first one, and the weight of
/// the second in parts of 256. At the edges the outermost pixel counts alone.
fn neighbours(at: u32, side: u32, count: u32) -> (u32, u32) {
    // All terms are doubled to avoid fractions: (at + 1/2) count / side - 1/2.
    let (at, side, count) = (u64::from(at), u64::from(side), u64::from(count));
    let parts = u64::from(PARTS);
    let middle = ((2 * at + 1) * count * parts / (2 * side)).saturating_sub(parts / 2);
    let most = (count - 1) * parts;
    let middle = middle.min(most);
    ((middle / parts) as u32, (middle % parts) as u32)
}

/// Red, green and blue as windows have them: 0RGB.
fn packed(rgba: &[u8; 4]) -> u32 {
    u32::from_be_bytes([0, rgba[0], rgba[1], rgba[2]])
}

/// Blends `a` with `weight`/256 of `b`, two channels at a time.
fn mix(a: u32, b: u32, weight: u32) -> u32 {
    const PAIR: u32 = 0x00ff_00ff;
    let two = |a: u32, b: u32| ((a * (PARTS - weight) + b * weight + 0x0080_0080) >> 8) & PAIR;
    two(a & PAIR, b & PAIR) | (two((a >> 8) & PAIR, (b >> 8) & PAIR) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same scaling in floats, pixel by pixel.
    fn reference(size: [u32; 2], rgba: &[u8], place: [u32; 2], at: [u32; 2]) -> [f64; 3] {
        let near = |k: usize| {
            let x = (f64::from(at[k]) + 0.5) * f64::from(size[k]) / f64::from(place[k]) - 0.5;
            let x = x.clamp(0.0, f64::from(size[k] - 1));
            (x.floor() as u32, (x.floor() as u32 + 1).min(size[k] - 1), x.fract())
        };
        let ((x0, x1, fx), (y0, y1, fy)) = (near(0), near(1));
        [0, 1, 2].map(|c| {
            let of = |x: u32, y: u32| f64::from(rgba[4 * (y * size[0] + x) as usize + c]);
            let row = |y| of(x0, y) * (1.0 - fx) + of(x1, y) * fx;
            row(y0) * (1.0 - fy) + row(y1) * fy
        })
    }

    #[test]
    fn it_is_bilinear() {
        for (size, place) in [([7, 5], [31, 23]), ([8, 8], [8, 8]), ([1, 1], [5, 3]), ([40, 30], [13, 17])] {
            let rgba: Vec<u8> = (0..size[0] * size[1] * 4).map(|k| (k * 73 % 251) as u8).collect();
            let min = [3, 2];
            let max = [min[0] + place[0] as i32, min[1] + place[1] as i32];
            let stretch = Stretch::new(size, &rgba, Area { min, max }).unwrap();
            let mut scratch = Vec::new();
            for y in 0..place[1] {
                let mut row = vec![0; place[0] as usize - 1];
                stretch.row(y as i32 + min[1], min[0] + 1, &mut row, &mut scratch);
                for (x, pixel) in (1..).zip(row) {
                    let wanted = reference(size, &rgba, place, [x, y]);
                    let got = pixel.to_be_bytes();
                    for c in 0..3 {
                        let off = (f64::from(got[c + 1]) - wanted[c]).abs();
                        // Positions are rounded to 1/256 of a pixel, and neighbours differ by at most 255.
                        assert!(off <= 2.6, "{size:?} on {place:?} at {x}, {y}: {got:?}, wanted {wanted:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn too_few_pixels_are_refused() {
        let place = Area::of_size([4, 4]);
        assert!(Stretch::new([2, 2], &[0; 15], place).is_none());
        assert!(Stretch::new([0, 2], &[], place).is_none());
        assert!(Stretch::new([2, 2], &[0; 16], Area::of_size([0, 4])).is_none());
    }
}
