//! Room for charts in a square texture: shelves of rectangles, from high to low.
//!
//! In: extents of charts, and the size of a texel that is wanted. Out: an [`Atlas`], whose side is a power of two.

use std::cmp::Reverse;

use glam::DVec2;

/// Texels round each chart that show its edge.
pub const BORDER: u32 = 2;
/// Least and largest texels a side.
const SIDES: [u32; 2] = [16, 8192];
/// Texels grow by this factor until all charts have room.
const GROWTH: f64 = 1.0625;

/// Places of charts in a texture.
#[derive(Debug)]
pub struct Atlas {
    /// Texels a side.
    pub size: u32,
    /// Side of a texel, m.
    pub texel: f64,
    /// Low corner of each chart's rectangle, whose border belongs to it, texels.
    pub corners: Vec<[u32; 2]>,
}

/// Texels along both axes of a chart of this extent, with its border.
pub fn sides(extent: DVec2, texel: f64) -> [u32; 2] {
    (extent / texel).to_array().map(|side| side.ceil().clamp(1.0, f64::from(SIDES[1])) as u32 + 2 * BORDER)
}

/// Places charts of these extents (m) in the smallest texture, with texels of at least the `wanted` size (m). `None` if there
/// are more charts than the largest one has room for.
pub fn pack(extents: &[DVec2], wanted: f64) -> Option<Atlas> {
    let mut texel = wanted;
    loop {
        let all: Vec<[u32; 2]> = extents.iter().map(|extent| sides(*extent, texel)).collect();
        let area: u64 = all.iter().map(|[width, height]| u64::from(*width) * u64::from(*height)).sum();
        let mut size = SIDES[0];
        while size <= SIDES[1] {
            let has_room = u64::from(size).pow(2) >= area;
            if let Some(corners) = has_room.then(|| shelves(&all, size)).flatten() {
                return Some(Atlas { size, texel, corners });
            }
            size *= 2;
        }
        if all.iter().all(|sides| *sides == [1 + 2 * BORDER; 2]) {
            return None;
        }
        texel *= GROWTH;
    }
}

fn shelves(sides: &[[u32; 2]], size: u32) -> Option<Vec<[u32; 2]>> {
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_by_key(|i| (Reverse(sides[*i][1]), Reverse(sides[*i][0]), *i));
    let mut corners = vec![[0; 2]; sides.len()];
    let (mut x, mut y, mut shelf) = (0, 0, 0);
    for i in order {
        let [width, height] = sides[i];
        if x + width > size {
            (x, y, shelf) = (0, y + shelf, 0);
        }
        // The first chart of a shelf is its highest.
        shelf = shelf.max(height);
        if x + width > size || y + height > size {
            return None;
        }
        corners[i] = [x, y];
        x += width;
    }
    Some(corners)
}
