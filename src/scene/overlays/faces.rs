//! Faces of the Voronoi diagram inside the object's bounds: outlines and translucent polygons.

use super::{Inside, Placing, color_of};
use crate::{
    fracture::voronoi_faces,
    render::{Line, Overlay, Triangle},
};

/// Opacity of polygons.
const ALPHA: u8 = 70;
const OUTLINE: [u8; 4] = [255, 236, 190, 200];

pub(super) fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing) {
    let pattern = &inside.blueprint.pattern;
    for face in voronoi_faces(pattern, inside.forest.level, inside.bounds()) {
        let [low, high] = face.seeds.map(|s| pattern.objects.get(s as usize).copied().unwrap_or(s));
        let offsets = [low, high].map(|object| inside.offset_of(placing, object));
        let sides = if offsets[0] == offsets[1] { 1 } else { 2 };
        for (object, offset) in [low, high].into_iter().zip(offsets).take(sides) {
            let corners: Vec<_> = face.polygon.iter().map(|p| placing.at(*p) + offset).collect();
            for (k, start) in corners.iter().enumerate() {
                let end = corners[(k + 1) % corners.len()];
                overlay.lines.push(Line { start: *start, color: OUTLINE, end, width: 1.3 });
            }
            let color = color_of(object, ALPHA);
            for pair in corners[1..].windows(2) {
                overlay.triangles.push(Triangle { a: corners[0], color, b: pair[0], c: pair[1] });
            }
        }
    }
}
