//! The preview on display: seams on the whole body, or pieces in its place, for drawing and for picking.

use std::sync::Arc;

use glam::{Mat4, Vec3};

use super::{Preview, by_method::ShownParts};
use crate::{
    bodies::{Body, BodyId},
    compute::Compute,
    fracture::{Fracture, Seams, middle_of},
    gpu::GpuError,
    render::{BodySeams, CellMarks, PieceMark, RenderBody},
    scene::{
        Cells,
        breaking::world_from_local_matrix,
        nearest_seed,
        stage::{Appearance, Stage},
    },
    shape::{Octree, Shape},
    svo::{Forest, Grid, pick_forest},
};

/// The preview on display.
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
    /// Parts by a method without cells.
    Parts(ShownParts),
}

/// Pieces in place of an unbroken body.
pub(super) struct ShownPieces {
    body: BodyId,
    forest: Arc<Forest>,
    pieces: Vec<ShownPiece>,
    /// The seeds alone, to find the cells of the part that stays.
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
    pub fn new(compute: &Compute, body: &Body, fracture: &Fracture, cells: &Cells) -> Result<Self, GpuError> {
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
            seeds: Seams::of_seeds(compute, &cells.pattern)?,
            objects: cells.pattern.objects.clone(),
            kept: cells.kept.first().copied(),
        })
    }

    /// Transforms from local space to world of all pieces, for a body whose own is `whole`, moved apart by the explode
    /// slider.
    fn places(&self, body: &Body, whole: Mat4, explode: f64) -> Vec<Mat4> {
        let shift = whole * world_from_local_matrix(&body.state, &body.def.shape).inverse();
        let coarse = f64::from(1u32 << (body.def.octree().level() - self.forest.level));
        let world_from_coarse = whole * Mat4::from_scale(Vec3::splat(coarse as f32));
        let centre = |p: &ShownPiece| world_from_coarse.transform_point3(p.shape.centre().as_vec3());
        let lowest = self.pieces.iter().map(|p| centre(p).y).fold(f32::INFINITY, f32::min);
        let middle = shift.transform_point3(body.state.position.as_vec3());
        let foot = Vec3::new(middle.x, lowest, middle.z);
        let offset = |p: &ShownPiece| (centre(p) - foot) * explode as f32;
        self.pieces.iter().map(|p| Mat4::from_translation(offset(p)) * world_from_coarse).collect()
    }

    /// Mark of a piece that stays or is under the pointer.
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

/// The stage below a preview.
#[derive(Clone, Copy)]
pub(in crate::scene) struct Scenery<'a> {
    pub stage: &'a Stage,
    pub look: &'a Appearance,
}

/// Explode distance if the slider is at zero, since adjoining coarse pieces would look like the whole.
const APART: f64 = 0.2;

/// Explode distance of a preview's pieces.
fn apart(explode: f64) -> f64 {
    if explode > 0.0 { explode } else { APART }
}

impl Preview {
    /// Which cells are marked by colour: only for a pinned impact, the only one whose cells the user can change.
    fn marks(&self, kept: Option<u32>, is_pinned: bool) -> CellMarks {
        if is_pinned { CellMarks { kept, hovered: self.painting.hovered() } } else { CellMarks::default() }
    }

    /// Cracks and marked cells for the picture of an unbroken body; the body's index refers to
    /// [`Preview::shown_bodies`].
    pub fn body_seams(&self, stage: &Stage, is_pinned: bool) -> Option<BodySeams<'_>> {
        match self.shown.as_ref()? {
            Shown::Seams { body, seams, first, kept } => {
                let marks = self.marks(*kept, is_pinned);
                Some(BodySeams { body: stage.shown_index(*body)?, seams, first: *first, marks })
            }
            Shown::Parts(_) => None,
            Shown::Pieces(pieces) => {
                let marks = self.marks(pieces.kept, is_pinned);
                Some(BodySeams { body: usize::MAX, seams: &pieces.seeds, first: 0, marks })
            }
        }
    }

    /// Bodies as the window shows them; an exploded preview's pieces replace their body.
    pub fn shown_bodies(
        &self,
        scenery: Scenery<'_>,
        selected: Option<BodyId>,
        is_pinned: bool,
    ) -> Vec<RenderBody> {
        let mut drawn = scenery.stage.render_bodies(scenery.look, selected);
        let (stage, explode) = (scenery.stage, apart(scenery.look.explode));
        let inside = |body: BodyId| scenery.look.insides.chosen(stage.info_or_whole(body).object);
        let shown = match &self.shown {
            Some(Shown::Pieces(shown)) => shown,
            Some(Shown::Parts(shown)) => {
                if let (Some(at), Some(body)) = (stage.shown_index(shown.body), stage.body(shown.body)) {
                    let whole = drawn.remove(at).opened(inside(shown.body));
                    drawn.extend(shown.drawn(body, &whole, explode, stage.next_color()));
                }
                return drawn;
            }
            Some(Shown::Seams { .. }) | None => return drawn,
        };
        let (Some(at), Some(body)) = (stage.shown_index(shown.body), stage.body(shown.body)) else {
            return drawn;
        };
        let whole = drawn.remove(at).opened(inside(shown.body));
        let marks = self.marks(shown.kept, is_pinned);
        let places = shown.places(body, whole.world_from_local, explode);
        let first_color = stage.next_color();
        drawn.extend(shown.pieces.iter().zip(places).enumerate().map(|(i, (piece, place))| RenderBody {
            shape: Arc::clone(&piece.shape),
            world_from_local: place,
            id: first_color.wrapping_add(i as u32),
            object: whole.object,
            color: None,
            selected: false,
            mark: shown.mark(piece, marks),
            interior: whole.interior,
            later: whole.later,
        }));
        drawn
    }

    /// The first cell of the pinned impact that a ray hits on the body on display: on the whole body the seed nearest
    /// to the voxel's centre, on pieces the nearest seed among the piece's cells. Distances are compared in integers;
    /// the lowest of equally near cells wins.
    pub fn cell_at(&self, scenery: Scenery<'_>, origin: Vec3, direction: Vec3) -> Option<u32> {
        let (pin, cells) = self.painting.pinned()?;
        let (stage, explode) = (scenery.stage, scenery.look.explode);
        let seeds = &cells.pattern.seeds;
        let other = stage.pick(origin, direction, explode);
        let Some(Shown::Pieces(shown)) = self.shown.as_ref().filter(|_| self.shows_pinned()) else {
            let pick = other.filter(|pick| pick.body == pin.aim.body)?;
            let level = stage.body(pick.body)?.def.octree().level();
            return nearest_seed(seeds, middle_of(pick.cell?, 1, level), |_| true);
        };
        let body = stage.body(shown.body)?;
        let whole = stage.drawn_at(stage.index(shown.body)?, explode)?;
        let mut best: Option<(f64, u32, [i32; 3])> = None;
        for (piece, place) in shown.pieces.iter().zip(shown.places(body, whole, apart(explode))) {
            let grid = place.inverse();
            let from = grid.transform_point3(origin).as_dvec3();
            let along = grid.transform_vector3(direction).as_dvec3();
            let octree = piece.shape.as_octree()?;
            if let Some(hit) = pick_forest(&shown.forest, octree.tree, from, along)
                && best.is_none_or(|(t, ..)| hit.t < t)
            {
                best = Some((hit.t, piece.cell, middle_of(hit.cell, hit.size, shown.forest.level)));
            }
        }
        let (t, object, middle) = best?;
        if other.is_some_and(|other| other.body != shown.body && other.distance < t) {
            return None;
        }
        nearest_seed(seeds, middle, |s| shown.objects.get(s as usize) == Some(&object))
    }
}
