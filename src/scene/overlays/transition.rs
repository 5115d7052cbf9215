//! Transition voxels (2018, sec. 5.2) as wire cubes: crossed ones, coloured by the number of objects that own
//! a corner.

use super::{
    Inside, OverlayFileError, OverlayFiles, OverlayMaker, Part, Placing, Reads, crack::arrays, files::rgb,
    wire_cells,
};
use crate::{export::PlainPly, render::Overlay};

/// Colours for two, three, four, and more objects, distinguishable by colour-blind people (Okabe & Ito).
pub(super) const COLORS: [[u8; 4]; 4] =
    [[86, 180, 233, 130], [0, 158, 115, 190], [240, 228, 66, 230], [213, 94, 0, 255]];

/// The maker.
pub(super) static MAKER: OverlayMaker = OverlayMaker {
    name: "transition",
    label: "Transition voxels",
    help: "Voxels of the transition level that a crack crosses: blue where two objects meet, green three, yellow four, red more",
    reads: Reads::Cracks,
    has_cut: false,
    number: None,
    add,
    write: Some(write),
};

fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing, _: &Part) {
    let Some(transition) = inside.transition else { return };
    let size = f64::from(1u32 << (inside.forest.level - transition));
    let cells = inside.voxels.iter().map(|voxel| {
        let mut objects = voxel.objects;
        objects.sort_unstable();
        let kinds = 1 + objects.windows(2).filter(|pair| pair[0] != pair[1]).count();
        (voxel.place, kinds as u32)
    });
    let color = |kinds: u32| COLORS[(kinds.saturating_sub(2) as usize).min(3)];
    wire_cells(overlay, placing, cells, size, (color, 1.1));
}

/// Transition voxels as six squares each.
fn write(files: &mut OverlayFiles<'_>) -> Result<(), OverlayFileError> {
    /// Corners of the faces of a cube, counter-clockwise as seen from outside.
    const FACES: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let all = arrays(files)?;
    let mut ply = PlainPly::default();
    let (mut points, mut kinds, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (row, ([x, y, z, edge], objects)) in all.voxels.iter().zip(&all.objects).enumerate() {
        let first = 8 * row as u32;
        let corner = |c: i32| [x + (c & 1) * edge, y + (c >> 1 & 1) * edge, z + (c >> 2) * edge];
        points.extend((0..8).map(|c| corner(c).map(f64::from)));
        ply.polygons.extend(FACES.iter().map(|face| face.iter().map(|c| first + c).collect()));
        let mut objects = objects.to_vec();
        objects.sort_unstable();
        objects.dedup();
        let count = objects.len();
        ply.colors.extend([rgb(COLORS[count.saturating_sub(2).min(3)]); 8]);
        kinds.extend([count as i32; 8]);
        rows.extend([row as i32; 8]);
    }
    ply.columns = vec![("objects", kinds), ("voxel", rows)];
    Ok(files.ply("transition.ply", &points, ply)?)
}
