//! Finds the areas of the panels that changed since the last frame.
//!
//! In: the shapes of two frames, in painting order. Out: areas outside of which every pixel is covered by equal shapes
//! in the same order, and therefore unchanged.

use std::sync::Arc;

use egui::{Shape, epaint::ClippedShape};

use super::area::Area;

/// Most shapes skipped while looking for the partner of an inserted or removed shape.
const LOOK_AHEAD: usize = 48;
/// Width by which anti-aliasing may extend a shape's bounds, pixels.
const FEATHER: f32 = 2.0;

/// Areas where `new` differs from `old`, both at `scale` pixels per point.
///
/// Equal shapes are paired in order, and every shape without a partner is redrawn. The choice of pairs only affects how
/// much is redrawn.
pub fn changed(old: &[ClippedShape], new: &[ClippedShape], scale: f32) -> Vec<Area> {
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if is_same(&old[i], &new[j]) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (gone, come) = apart(&old[i..], &new[j..]);
        out.extend(old[i..i + gone].iter().chain(&new[j..j + come]).map(|shape| area_of(shape, scale)));
        (i, j) = (i + gone, j + come);
    }
    out.extend(old[i..].iter().chain(&new[j..]).map(|shape| area_of(shape, scale)));
    out
}

/// How many shapes were removed at the start of `old`, and how many were inserted at the start of `new`.
fn apart(old: &[ClippedShape], new: &[ClippedShape]) -> (usize, usize) {
    let longer = old.len().abs_diff(new.len());
    let is_partner = |a: &ClippedShape, b: &ClippedShape| a.shape != Shape::Noop && is_same(a, b);
    for k in 1..=longer.min(LOOK_AHEAD) {
        if old.len() > new.len() && is_partner(&old[k], &new[0]) {
            return (k, 0);
        }
        if new.len() > old.len() && is_partner(&old[0], &new[k]) {
            return (0, k);
        }
    }
    (1, 1)
}

/// The pixels that a shape may touch.
pub fn area_of(shape: &ClippedShape, scale: f32) -> Area {
    let bounds = shape.transform_after_tessellation * shape.shape.visual_bounding_rect();
    Area::around((bounds * scale).expand(FEATHER).intersect((shape.clip_rect * scale).expand(1.0)))
}

fn is_same(a: &ClippedShape, b: &ClippedShape) -> bool {
    if a.clip_rect != b.clip_rect || a.transform_after_tessellation != b.transform_after_tessellation {
        return false;
    }
    // egui caches laid out text between frames; comparing it letter by letter would take longer than drawing it.
    match (&a.shape, &b.shape) {
        (Shape::Text(a), Shape::Text(b)) if Arc::ptr_eq(&a.galley, &b.galley) => {
            (a.pos, a.underline, a.fallback_color, a.override_text_color)
                == (b.pos, b.underline, b.fallback_color, b.override_text_color)
                && (a.opacity_factor, a.angle) == (b.opacity_factor, b.angle)
        }
        (Shape::Mesh(a), Shape::Mesh(b)) if Arc::ptr_eq(a, b) => true,
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Color32, Rect, pos2, vec2};

    fn shape(x: f32) -> ClippedShape {
        let rect = Rect::from_min_size(pos2(x, 10.0), vec2(8.0, 8.0));
        let clip_rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(500.0, 100.0));
        ClippedShape::new(clip_rect, Shape::rect_filled(rect, 2.0, Color32::RED))
    }

    fn areas(old: &[f32], new: &[f32]) -> Vec<i32> {
        let shapes = |xs: &[f32]| xs.iter().copied().map(shape).collect::<Vec<_>>();
        let mut out: Vec<i32> =
            changed(&shapes(old), &shapes(new), 1.0).iter().map(|a| a.min[0] + 2).collect();
        out.sort_unstable();
        out
    }

    #[test]
    fn only_what_differs_counts() {
        assert!(areas(&[20.0, 40.0, 60.0], &[20.0, 40.0, 60.0]).is_empty());
        assert_eq!(
            areas(&[20.0, 40.0, 60.0], &[20.0, 44.0, 60.0]),
            [40, 44],
            "where it was, and where it is"
        );
        assert_eq!(areas(&[20.0, 40.0, 60.0], &[20.0, 60.0]), [40], "one has gone");
        assert_eq!(areas(&[20.0, 60.0], &[20.0, 40.0, 41.0, 60.0]), [40, 41], "two have come");
        assert_eq!(areas(&[], &[20.0]), [20]);
        assert_eq!(areas(&[20.0, 40.0], &[40.0, 20.0]), [20, 20, 40, 40], "another order may look different");
    }

    #[test]
    fn scale_and_clip_bound_the_area() {
        let mut one = shape(20.0);
        one.clip_rect.max.x = 24.0;
        assert_eq!(area_of(&one, 2.0), Area { min: [38, 18], max: [49, 38] });
    }
}
