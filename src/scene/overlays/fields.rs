//! Distance-field contacts of a breaking object: the fronts of its field's update, the spheres of its trees (Glondu et
//! al. 2012, sec. 4 and 5).
//!
//! In: the object's octree and its pieces. Out: its field and trees, updated as a break updates those of a body, and
//! overlays of them.

use glam::{DVec3, IVec3, Vec3};

use super::{Inside, Number, OverlayMaker, Part, Placing, Reads, color_of};
use crate::{
    fracture::Fracture,
    papers::field::{
        distance::{FamilyField, FragmentId, Update},
        spheres::{Sampling, SphereForest},
    },
    render::{Line, Overlay, Point},
    shape::{Look, Octree, Shape},
    svo::{Forest, Grid},
};
use std::sync::Arc;

/// Colours of exact nodes, of nodes that the front reached first and last, in the step shown, and not at all.
const EXACT: [u8; 4] = [255, 236, 170, 255];
const EARLY: [f64; 3] = [120.0, 220.0, 190.0];
const LATE: [f64; 3] = [70.0, 90.0, 220.0];
pub(super) const NOW: [u8; 4] = [240, 90, 60, 255];
pub(super) const UNTOUCHED: [u8; 4] = [150, 150, 150, 110];
/// Vertices of a circle, and most spheres drawn.
const CORNERS: usize = 20;
pub(super) const MOST_SPHERES: usize = 3000;
/// Default level of the spheres.
const DEFAULT_LEVEL: u32 = 6;

/// The maker.
pub(super) static FRONTS: OverlayMaker = OverlayMaker {
    name: "fronts",
    label: "Fronts",
    help: "Nodes of the field on the slice, by the step at which the update after the break reached them: yellow exact beside the crack, red now, blue late, grey untouched",
    reads: Reads::Fields,
    has_cut: true,
    number: Some(Number {
        word: "STEP",
        name: "front_step",
        label: "Front step",
        help: "The step of the fronts that is shown; 0: what is exact beside the crack, before they set out",
        least: 0,
        most: |inside| inside.fields.as_ref().map_or(0, Fields::steps),
        first: u32::MAX,
        is_octree_level: false,
    }),
    add: add_fronts,
    write: None,
};

/// The maker.
pub(super) static SPHERES: OverlayMaker = OverlayMaker {
    name: "spheres",
    label: "Sphere trees",
    help: "Spheres of the pieces' trees at a level: points whose spheres miss another body are not looked up",
    reads: Reads::Fields,
    has_cut: false,
    number: Some(Number {
        word: "LEVEL",
        name: "spheres_level",
        label: "Tree level",
        help: "Spheres of the pieces' trees at a level: points whose spheres miss another body are not looked up",
        least: 0,
        most: |inside| inside.fields.as_ref().map_or(0, Fields::levels),
        first: DEFAULT_LEVEL,
        is_octree_level: false,
    }),
    add: add_spheres,
    write: None,
};

/// The field and the trees of an object that broke.
pub struct Fields {
    field: FamilyField,
    update: Update,
    forests: Vec<SphereForest>,
}

impl Fields {
    /// The field and trees of a tree of a forest and its pieces, with field cells of that level. `None` for an empty
    /// tree, which has no field.
    pub(super) fn new(
        forest: &Arc<Forest>,
        tree: u32,
        fracture: &Fracture,
        field_level: u32,
    ) -> Option<Self> {
        let grid = Grid { level: forest.level, origin: DVec3::ZERO, h: 1.0 };
        let shape =
            |forest: &Arc<Forest>, tree| Shape::octree(Octree::new(forest, tree, grid), 1.0, Look::default());
        let whole = shape(forest, tree);
        // The default of bodies: they collide one level above their leaves.
        let level = forest.level.saturating_sub(1).max(1);
        let mut field = FamilyField::new(&whole, field_level.min(level).max(1)).ok()?;
        let pieces: Vec<Shape> =
            fracture.pieces.iter().map(|piece| shape(&fracture.forest, piece.tree)).collect();
        let pieces: Vec<&Shape> = pieces.iter().collect();
        let update = field.fracture(FragmentId::WHOLE, &pieces).ok()?;
        let sampling = Sampling::new(&whole, level);
        let tree = SphereForest::build(&sampling.points(&whole));
        let forests = tree.fracture(&sampling.fracture(&tree, &pieces)).ok()?;
        Some(Self { field, update, forests })
    }

    /// Number of steps of the fronts.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.update.accepted.iter().map(|(_, step)| *step).max().unwrap_or(0)
    }

    /// The last level of the trees.
    #[must_use]
    pub fn levels(&self) -> u32 {
        self.forests.iter().map(SphereForest::last_level).max().unwrap_or(0)
    }

    /// The field after the break.
    #[must_use]
    pub fn field(&self) -> &FamilyField {
        &self.field
    }

    /// The trees of each piece.
    #[must_use]
    pub fn forests(&self) -> &[SphereForest] {
        &self.forests
    }

    /// The piece that a fragment belongs to.
    pub(super) fn piece_of(&self, fragment: FragmentId) -> Option<usize> {
        self.update.fragments.iter().position(|id| *id == fragment)
    }
}

/// The nodes nearest to the slice, with their directions and the step at which a front reached them, up to a step (all
/// by default).
fn add_fronts(overlay: &mut Overlay, inside: &Inside, placing: &Placing, part: &Part) {
    let Part { cut, number: step, .. } = *part;
    let Some(fields) = &inside.fields else { return };
    let (field, last) = (&fields.field, fields.steps());
    let shown = step.map_or(last, |step| step.min(last));
    let lattice = field.lattice();
    let axis = usize::from(cut.axis.min(2));
    let layer = (f64::from(lattice.cells[axis]) * f64::from(cut.percent.min(100)) / 100.0).round() as i32;
    // A node may be reached several times; its value is that of the last time.
    let mut reached = vec![None; lattice.nodes()];
    for (node, step) in fields.update.accepted.iter().filter(|(_, step)| *step <= shown) {
        reached[*node as usize] = Some(*step);
    }
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for a in 0..=lattice.cells[u] {
        for b in 0..=lattice.cells[v] {
            let mut at = IVec3::ZERO;
            (at[axis], at[u], at[v]) = (layer, a, b);
            let Some((number, node)) = lattice.node(at).and_then(|k| Some((k, field.node(k)?))) else {
                continue;
            };
            let Some(piece) = node.fragment.and_then(|id| fields.piece_of(id)) else { continue };
            let (color, radius) = match reached[number] {
                None => (UNTOUCHED, 0.10),
                Some(0) => (EXACT, 0.16),
                Some(step) if step == shown && shown > 0 => (NOW, 0.22),
                Some(step) => (mixed(f64::from(step) / f64::from(last.max(1))), 0.16),
            };
            let start = placing.with_piece(node.place, piece);
            let radius_m = (radius * lattice.cell) as f32 * placing.voxel();
            overlay.points.push(Point { at: start, color, radius_pixels: 1.2, radius_m, back_pixels: 0.0 });
            if reached[number].is_some() {
                let end = node.place + node.direction * node.distance.min(0.7 * lattice.cell);
                overlay.lines.push(Line { start, color, end: placing.with_piece(end, piece), width: 1.3 });
            }
        }
    }
}

fn mixed(share: f64) -> [u8; 4] {
    let [r, g, b] = [0, 1, 2].map(|k| (EARLY[k] + (LATE[k] - EARLY[k]) * share) as u8);
    [r, g, b, 255]
}

/// The spheres of one level of every fragment's trees, each as three circles in the colour of its piece.
fn add_spheres(overlay: &mut Overlay, inside: &Inside, placing: &Placing, part: &Part) {
    let Some(fields) = &inside.fields else { return };
    let level = part.number.unwrap_or(DEFAULT_LEVEL).min(fields.levels());
    let voxel = placing.voxel();
    let all = fields.forests.iter().enumerate().flat_map(|(piece, forest)| {
        forest.spheres_of_level(level).map(move |(centre, radius)| (piece, centre, radius as f32))
    });
    for (piece, centre, radius) in all.take(MOST_SPHERES) {
        let color = color_of(inside.fracture.pieces[piece].cell, 210);
        let at = placing.with_piece(centre, piece);
        overlay.points.push(Point { at, color, radius_pixels: 1.8, radius_m: 0.0, back_pixels: 0.0 });
        if radius <= 0.0 {
            continue;
        }
        for axis in 0..3 {
            let [u, v] = [Vec3::AXES[(axis + 1) % 3], Vec3::AXES[(axis + 2) % 3]];
            let place = |k: usize| {
                let (s, c) = libm::sincosf(k as f32 / CORNERS as f32 * std::f32::consts::TAU);
                at + (u * c + v * s) * (radius * voxel)
            };
            overlay.lines.extend((0..CORNERS).map(|k| Line {
                start: place(k),
                color,
                end: place(k + 1),
                width: 1.0,
            }));
        }
    }
}
