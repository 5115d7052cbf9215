//! What the preview shows: seams on the whole body, or pieces in its place, as the picture wants them and as a ray meets them.

use std::sync::Arc;

use glam::{Mat4, Vec3};

use super::Sandbox;
use crate::{
    bodies::{Body, BodyId},
    fracture::{Fracture, Seams},
    gpu::{Gpu, GpuError},
    render::{BodySeams, CellMarks, PieceMark, RenderBody},
    scene::{Cells, breaking::world_from_local_matrix, nearest_seed},
    shape::{Octree, Shape},
    svo::{Forest, Grid, pick_forest},
};

/// What is shown just now.
pub(super) enum Shown {
    Seams {
        body: BodyId,
        seams: Seams,
        /// Index of the body's first voxel at the seams' level.
        first: u32,
        /// Object id of the cells that stay.
        kept: Option<u32>,
    },
    Pieces(ShownPieces),
}

/// Pieces in the place of a body that is still whole.
pub(super) struct ShownPieces {
    pub body: BodyId,
    forest: Arc<Forest>,
    pieces: Vec<ShownPiece>,
    /// The seeds alone, to tell the cells of what stays apart.
    seeds: Seams,
    objects: Vec<u32>,
    kept: Option<u32>,
}

struct ShownPiece {
    shape: Arc<Shape>,
    /// Object id.
    cell: u32,
}

impl ShownPieces {
    pub fn new(gpu: &Gpu, body: &Body, fracture: &Fracture, cells: &Cells) -> Result<Self, GpuError> {
        let (forest, shape) = (&fracture.forest, &body.def.shape);
        let whole = body.def.octree();
        let grid = Grid { level: forest.level, h: whole.cell_size(forest.level), ..whole.grid };
        let piece = |p: &crate::fracture::Piece| {
            let octree = Octree { forest: Arc::clone(forest), tree: p.tree, grid, mass: p.mass };
            let shape = Shape::octree(octree, shape.density(), *shape.look());
            ShownPiece { shape: Arc::new(shape), cell: p.cell }
        };
        Ok(Self {
            body: body.id,
            forest: Arc::clone(forest),
            pieces: fracture.pieces.iter().map(piece).collect(),
            seeds: Seams::of_seeds(gpu, &cells.pattern)?,
            objects: cells.pattern.objects.clone(),
            kept: cells.kept.first().copied(),
        })
    }

    /// Whether a piece stays, or lies under the pointer.
    fn mark(&self, piece: &ShownPiece, marks: CellMarks) -> Option<PieceMark> {
        let object = |cell: u32| self.objects.get(cell as usize).copied();
        if marks.kept == Some(piece.cell) {
            Some(PieceMark::Kept)
        } else if marks.hovered.and_then(object) == Some(piece.cell) {
            Some(PieceMark::Hovered)
        } else {
            None
        }
    }
}

impl Sandbox {
    /// What is told apart by colour: only where an impact is pinned, since only there something can be done about it.
    fn marks(&self, kept: Option<u32>) -> CellMarks {
        match self.tuning.pin {
            Some(_) => CellMarks { kept, hovered: self.preview.hovered },
            None => CellMarks::default(),
        }
    }

    /// The cracks that the picture draws on a body that is still whole, and how its cells are marked; the index counts in
    /// [`Sandbox::shown_bodies`].
    #[must_use]
    pub fn body_seams(&self) -> Option<BodySeams<'_>> {
        match self.preview.shown.as_ref()? {
            Shown::Seams { body, seams, first, kept } => {
                let body = self.world.bodies.iter().position(|b| b.id == *body)?;
                Some(BodySeams { body, seams, first: *first, marks: self.marks(*kept) })
            }
            Shown::Pieces(pieces) => {
                let marks = self.marks(pieces.kept);
                Some(BodySeams { body: usize::MAX, seams: &pieces.seeds, first: 0, marks })
            }
        }
    }

    /// Bodies as the window shows them: as [`Sandbox::render_bodies`], and where a preview is exploded, its pieces instead of the body.
    #[must_use]
    pub fn shown_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        let mut drawn = self.render_bodies(selected);
        let Some(Shown::Pieces(shown)) = &self.preview.shown else {
            return drawn;
        };
        let Some(at) = self.world.bodies.iter().position(|b| b.id == shown.body) else {
            return drawn;
        };
        let whole = drawn.remove(at);
        let marks = self.marks(shown.kept);
        let places = self.places(shown, at, &whole);
        drawn.extend(shown.pieces.iter().zip(places).enumerate().map(|(i, (piece, place))| RenderBody {
            shape: Arc::clone(&piece.shape),
            world_from_local: place,
            id: self.next_color.wrapping_add(i as u32),
            selected: false,
            mark: shown.mark(piece, marks),
            interior: whole.interior,
        }));
        drawn
    }

    /// Grid to world of every piece in the place of body number `at`, which is drawn as `whole`: apart by the explode slider.
    fn places(&self, shown: &ShownPieces, at: usize, whole: &RenderBody) -> Vec<Mat4> {
        let body = &self.world.bodies[at];
        let shift = whole.world_from_local * world_from_local_matrix(&body.state, &body.def.shape).inverse();
        let coarse = f64::from(1u32 << (body.def.octree().forest.level - shown.forest.level));
        let world_from_coarse = whole.world_from_local * Mat4::from_scale(Vec3::splat(coarse as f32));
        let centre = |p: &ShownPiece| world_from_coarse.transform_point3(p.shape.centre().as_vec3());
        let lowest = shown.pieces.iter().map(|p| centre(p).y).fold(f32::INFINITY, f32::min);
        let middle = shift.transform_point3(body.state.position.as_vec3());
        let foot = Vec3::new(middle.x, lowest, middle.z);
        let offset = |p: &ShownPiece| (centre(p) - foot) * self.tuning.view.explode as f32;
        shown.pieces.iter().map(|p| Mat4::from_translation(offset(p)) * world_from_coarse).collect()
    }

    /// The cell of the pinned impact that a ray through the picture meets first on the body, as it is shown: on the whole one the seed
    /// nearest to the middle of the voxel, on pieces the nearest of those that the piece holds; in whole numbers, of equally near ones the lowest.
    #[must_use]
    pub fn cell_at(&self, origin: Vec3, direction: Vec3) -> Option<u32> {
        let pinned = self.preview.pinned.as_ref()?;
        let seeds = &pinned.cells.pattern.seeds;
        let other = self.pick(origin, direction);
        let level = |id: BodyId| Some(self.body(id)?.def.octree().forest.level);
        let Some(Shown::Pieces(shown)) = self.preview.shown.as_ref().filter(|_| self.shows_pinned()) else {
            let pick = other.filter(|pick| pick.body == pinned.pin.aim.body)?;
            let middle = crate::fracture::middle_of(pick.cell?, 1, level(pick.body)?);
            return nearest_seed(seeds, middle, |_| true);
        };
        let at = self.world.bodies.iter().position(|b| b.id == shown.body)?;
        let whole = self.render_bodies(None).into_iter().nth(at)?;
        let mut best: Option<(f64, u32, [i32; 3])> = None;
        for (piece, place) in shown.pieces.iter().zip(self.places(shown, at, &whole)) {
            let grid = place.inverse();
            let from = grid.transform_point3(origin).as_dvec3();
            let along = grid.transform_vector3(direction).as_dvec3();
            let octree = piece.shape.as_octree()?;
            if let Some(hit) = pick_forest(&shown.forest, octree.tree, from, along)
                && best.is_none_or(|(t, ..)| hit.t < t)
            {
                let middle = crate::fracture::middle_of(hit.cell, hit.size, shown.forest.level);
                best = Some((hit.t, piece.cell, middle));
            }
        }
        let (t, object, middle) = best?;
        if other.is_some_and(|other| other.body != shown.body && other.distance < t) {
            return None;
        }
        nearest_seed(seeds, middle, |s| shown.objects.get(s as usize) == Some(&object))
    }
}
