//! Faces of the Voronoi diagram inside the object's bounds: outlines and translucent polygons.

use super::{
    FaceArrays, Inside, OverlayFileError, OverlayFiles, OverlayMaker, Part, Placing, Reads, color_of,
    files::colors,
};
use crate::{
    export::PlainPly,
    fracture::voronoi_faces,
    render::{Line, Overlay, Triangle},
};

/// Opacity of polygons.
const ALPHA: u8 = 70;
const OUTLINE: [u8; 4] = [255, 236, 190, 200];

/// The maker.
pub(super) static MAKER: OverlayMaker = OverlayMaker {
    name: "faces",
    label: "Voronoi faces",
    help: "Faces of the Voronoi diagram inside the object's bounds",
    reads: Reads::Nothing,
    has_cut: false,
    number: None,
    add,
    write: Some(write),
};

fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing, _: &Part) {
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

fn write(files: &mut OverlayFiles<'_>) -> Result<(), OverlayFileError> {
    let FaceArrays { corners, starts, seeds } = FaceArrays::of(files.inside).numbered_from(files.first_seed);
    files.npz.array("face_corners", &[corners.len(), 3], corners.as_flattened())?;
    files.npz.array("face_start", &[starts.len()], &starts)?;
    files.npz.array("face_seeds", &[seeds.len(), 2], seeds.as_flattened())?;
    let polygons: Vec<Vec<u32>> =
        starts.windows(2).map(|pair| (pair[0] as u32..pair[1] as u32).collect()).collect();
    // Corners are each face's own.
    let of_corners = |at: usize| -> Vec<i32> {
        seeds.iter().zip(&polygons).flat_map(|(pair, face)| face.iter().map(move |_| pair[at])).collect()
    };
    let (cells, beyond) = (of_corners(0), of_corners(1));
    let ply = PlainPly {
        colors: colors(&cells),
        columns: vec![("cell", cells), ("beyond", beyond)],
        polygons,
        ..PlainPly::default()
    };
    Ok(files.ply("faces.ply", &corners, ply)?)
}
