//! Draws the dabs of the brush, as dots on the surface that they cover.
//!
//! In: dabs, bodies. Out: an overlay, which includes those of fracture internals and contacts.

use super::{layer::Layer, stage::Stage};
use crate::{
    bodies::Body,
    fracture::{Dab, Paint},
    render::{Line, Overlay, Point},
};

/// Most dots of one dab on one body.
const MOST_DOTS: usize = 1500;
/// Width of a stroke that cuts, pixels.
const CUT_PIXELS: f32 = 3.0;
/// Opacity of a dot.
const OPACITY: u8 = 210;
/// Opacity factor of hidden dots: the far side of a body would confuse.
const THROUGH: f32 = 0.06;

/// Colour of a dab, sRGB; dabs of two kinds differ in brightness as well.
#[must_use]
pub fn paint_color(kind: Paint) -> [u8; 3] {
    match kind {
        Paint::Dense => [255, 200, 60],
        Paint::Whole => [70, 190, 120],
        Paint::Cut => [236, 236, 240],
        Paint::Weak => [226, 84, 58],
        Paint::Anchor => [84, 130, 240],
    }
}

/// The overlay, and what it was made from.
#[derive(Default)]
pub(super) struct Painted {
    is_shown: bool,
    /// Made from the dabs, and the revisions of the stage and of the overlay below.
    pub layer: Layer<(Vec<Dab>, u64, u64)>,
}

impl Painted {
    /// Sets whether dabs are drawn.
    pub fn show(&mut self, is_shown: bool) {
        self.is_shown = is_shown;
    }

    /// Updates the overlay, on top of the overlay `below` with its revision. Draws nothing unless `fits`, that is, bodies are
    /// drawn where they are.
    pub fn update(&mut self, fits: bool, paint: &[Dab], stage: &Stage, below: (Option<&Overlay>, u64)) {
        if !(fits && self.is_shown) || paint.is_empty() {
            self.layer.hide();
            return;
        }
        let is_made =
            |made: &(Vec<Dab>, u64, u64)| (made.1, made.2) == (stage.revision(), below.1) && made.0 == paint;
        if self.layer.made_of().is_some_and(is_made) {
            return;
        }
        self.layer.begin((paint.to_vec(), stage.revision(), below.1));
        let mut made = below.0.cloned().unwrap_or(Overlay { through: THROUGH, ..Overlay::default() });
        for body in stage.bodies() {
            let object = stage.info_or_whole(body.id).object;
            for dab in paint.iter().filter(|dab| dab.body as usize == object) {
                dots(body, dab, &mut made);
            }
        }
        self.layer.show(made);
    }
}

/// The part of a stroke that ends in a cut dab, or a dot where the stroke begins.
fn line(body: &Body, dab: &Dab, made: &mut Overlay) {
    let shape = &body.def.shape;
    let place = |p: glam::DVec3| {
        let local = shape.as_octree().map_or(p, |octree| octree.grid.from_mesh(p));
        shape.to_world(body.state.position, body.state.rotation, local).as_vec3()
    };
    let [r, g, b] = paint_color(dab.kind);
    let (color, at) = ([r, g, b, OPACITY], place(dab.at));
    made.lift = made.lift.max(shape.unit_m() as f32);
    match dab.from {
        Some(from) => made.lines.push(Line { start: place(from), color, end: at, width: CUT_PIXELS }),
        None => {
            let radius_pixels = CUT_PIXELS;
            made.points.push(Point { at, color, radius_pixels, radius_m: 0.0, back_pixels: 0.0 });
        }
    }
}

/// Dots on the boundary voxels of a body that a dab covers.
fn dots(body: &Body, dab: &Dab, made: &mut Overlay) {
    let Some(octree) = body.def.shape.as_octree() else { return };
    let grid = octree.grid;
    let bounds = body.def.shape.bounds();
    let (middle, radius) = (grid.from_mesh(dab.at), (dab.radius / grid.h).max(0.87));
    if middle.distance(middle.clamp(bounds.low, bounds.high)) > radius {
        return;
    }
    let cells = octree.forest.leaves_near(octree.tree as usize, middle, radius);
    if dab.kind == Paint::Cut {
        if !cells.is_empty() {
            line(body, dab, made);
        }
        return;
    }
    let step = cells.len().div_ceil(MOST_DOTS).max(1);
    let voxel = grid.h as f32;
    made.lift = made.lift.max(voxel);
    let [r, g, b] = paint_color(dab.kind);
    made.points.extend(cells.into_iter().step_by(step).map(|cell| {
        let local = glam::DVec3::from_array(cell.map(f64::from)) + 0.5;
        let at = body.def.shape.to_world(body.state.position, body.state.rotation, local);
        Point {
            at: at.as_vec3(),
            color: [r, g, b, OPACITY],
            radius_pixels: 1.0,
            radius_m: 0.55 * voxel * (step as f32).sqrt(),
            back_pixels: 0.0,
        }
    }));
}
