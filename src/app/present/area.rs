//! Rectangles of pixels, and joining many into few.

/// A rectangle of pixels; `max` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Left and top.
    pub min: [i32; 2],
    /// Right and bottom, exclusive.
    pub max: [i32; 2],
}

/// Most areas drawn separately; more are joined into one.
const MOST_AREAS: usize = 16;
/// Fixed cost of an area, in pixels: two areas are joined if that adds fewer pixels than this.
const COST: i64 = 4096;

impl Area {
    /// The area of a picture of `size`.
    pub fn of_size(size: [u32; 2]) -> Self {
        Self { min: [0, 0], max: size.map(|side| i32::try_from(side).unwrap_or(i32::MAX)) }
    }

    /// The smallest area that contains `rect`.
    pub fn around(rect: egui::Rect) -> Self {
        let (min, max) = (rect.min.floor(), rect.max.ceil());
        Self { min: [min.x as i32, min.y as i32], max: [max.x as i32, max.y as i32] }
    }

    /// The area of `rect` with its sides rounded to whole pixels, as for a scissor rectangle.
    pub fn rounded(rect: egui::Rect) -> Self {
        let (min, max) = (rect.min.round(), rect.max.round());
        Self { min: [min.x as i32, min.y as i32], max: [max.x as i32, max.y as i32] }
    }

    /// The intersection.
    pub fn and(self, other: Self) -> Self {
        let min = [0, 1].map(|k| self.min[k].max(other.min[k]));
        Self { min, max: [0, 1].map(|k| self.max[k].min(other.max[k])) }
    }

    /// The bounding rectangle of both.
    fn or(self, other: Self) -> Self {
        let min = [0, 1].map(|k| self.min[k].min(other.min[k]));
        Self { min, max: [0, 1].map(|k| self.max[k].max(other.max[k])) }
    }

    /// Whether the area contains no pixels.
    pub fn is_empty(self) -> bool {
        self.min[0] >= self.max[0] || self.min[1] >= self.max[1]
    }

    /// Whether the areas overlap.
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

    /// The rows of the picture that the area covers.
    pub fn rows(self) -> std::ops::Range<i32> {
        self.min[1]..self.max[1].max(self.min[1])
    }
}

/// Joins areas, clipped to `bounds`, into few that cover the same pixels and few others.
pub fn joined(areas: impl IntoIterator<Item = Area>, bounds: Area) -> Vec<Area> {
    let mut out: Vec<Area> = Vec::new();
    for area in areas {
        let mut area = area.and(bounds);
        if area.is_empty() {
            continue;
        }
        // A joined area may have come near to others.
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
