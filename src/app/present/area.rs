//! Rectangles of pixels, and few of them instead of many.

/// A rectangle of pixels: from the first to before the last, across and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Left, top.
    pub min: [i32; 2],
    /// Right, bottom: the first that are outside.
    pub max: [i32; 2],
}

/// Areas that are drawn one by one, at the most; more are joined into one.
const MOST_AREAS: usize = 16;
/// Pixels that one area costs beside those that it has: so many may be drawn in vain to save it.
const COST: i64 = 4096;

impl Area {
    /// From nothing to `size`.
    pub fn of_size(size: [u32; 2]) -> Self {
        Self { min: [0, 0], max: size.map(|side| i32::try_from(side).unwrap_or(i32::MAX)) }
    }

    /// All pixels that a rectangle touches, pixels.
    pub fn around(rect: egui::Rect) -> Self {
        let (min, max) = (rect.min.floor(), rect.max.ceil());
        Self { min: [min.x as i32, min.y as i32], max: [max.x as i32, max.y as i32] }
    }

    /// The pixels of a rectangle whose sides are rounded to whole ones, as a scissor takes it.
    pub fn rounded(rect: egui::Rect) -> Self {
        let (min, max) = (rect.min.round(), rect.max.round());
        Self { min: [min.x as i32, min.y as i32], max: [max.x as i32, max.y as i32] }
    }

    /// What both have.
    pub fn and(self, other: Self) -> Self {
        let min = [0, 1].map(|k| self.min[k].max(other.min[k]));
        Self { min, max: [0, 1].map(|k| self.max[k].min(other.max[k])) }
    }

    /// The smallest that holds both.
    fn or(self, other: Self) -> Self {
        let min = [0, 1].map(|k| self.min[k].min(other.min[k]));
        Self { min, max: [0, 1].map(|k| self.max[k].max(other.max[k])) }
    }

    /// No pixels.
    pub fn is_empty(self) -> bool {
        self.min[0] >= self.max[0] || self.min[1] >= self.max[1]
    }

    /// Whether both have a pixel.
    pub fn meets(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    /// Number of pixels.
    fn pixels(self) -> i64 {
        if self.is_empty() {
            return 0;
        }
        i64::from(self.max[0] - self.min[0]) * i64::from(self.max[1] - self.min[1])
    }

    /// Rows that it has, of a picture's.
    pub fn rows(self) -> std::ops::Range<i32> {
        self.min[1]..self.max[1].max(self.min[1])
    }
}

/// Few areas that hold all pixels of these and not many more, inside of `bounds`.
pub fn joined(areas: impl IntoIterator<Item = Area>, bounds: Area) -> Vec<Area> {
    let mut out: Vec<Area> = Vec::new();
    for area in areas {
        let mut area = area.and(bounds);
        if area.is_empty() {
            continue;
        }
        // One that has grown may have come near to others.
        let worth = |a: Area, b: Area| a.or(b).pixels() <= a.pixels() + b.pixels() - a.and(b).pixels() + COST;
        while let Some(near) = out.iter().position(|other| worth(*other, area)) {
            area = area.or(out.swap_remove(near));
        }
        out.push(area);
        if out.len() > MOST_AREAS {
            let all = out.iter().copied().fold(area, Area::or);
            out.clear();
            out.push(all);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(min: [i32; 2], max: [i32; 2]) -> Area {
        Area { min, max }
    }

    #[test]
    fn near_ones_become_one_and_far_ones_stay_apart() {
        let window = Area::of_size([1000, 800]);
        let near = joined([area([10, 10], [30, 20]), area([32, 10], [60, 20])], window);
        assert_eq!(near, [area([10, 10], [60, 20])]);
        let far = joined([area([0, 0], [100, 100]), area([900, 700], [1200, 790])], window);
        assert_eq!(
            far,
            [area([0, 0], [100, 100]), area([900, 700], [1000, 790])],
            "cut at the window's edge"
        );
        assert!(joined([area([5, 5], [5, 9]), area([2000, 0], [2100, 9])], window).is_empty());
    }

    #[test]
    fn many_are_few_and_hold_all() {
        let window = Area::of_size([4000, 4000]);
        let many: Vec<Area> = (0..40).map(|k| area([97 * k, 91 * k], [97 * k + 4, 91 * k + 4])).collect();
        let few = joined(many.iter().copied(), window);
        assert!(few.len() <= MOST_AREAS);
        assert!(many.iter().all(|a| few.iter().any(|b| b.and(*a) == *a)));
    }
}
