//! Draws slices: octants of octrees and cross-sections of meshes in the colours of a quantity, edges of octants, and
//! outlines of surfaces.
//!
//! In: slices, bodies where they are drawn, the fields of these. Out: an overlay on top of another, and
//! legends. It is made anew only if something that it depends on has changed.

use std::sync::Arc;

use glam::{DMat4, DVec3, Mat4, Vec3};
use rayon::prelude::*;

use super::{
    CutOctant, Plane, Slice,
    mesh_section::{Face, Filling, faces},
    section,
};
use crate::{
    bodies::BodyId,
    render::{Clips, Line, Overlay, RenderBody, Triangle},
    scene::{
        Aim, BodyStress, BreakLog, Cells,
        body_stress::{Stresses, cell_size},
        coloring::{
            BodyField, BodyFields, BodyPlace, FieldKind, Legend, Painter, Place, Pressing, Quantity, Scale,
            SeedSet, VoxelPlace, body_place,
        },
        field_view::FieldView,
        layer::Layer,
        stage::{Stage, drawn_parts},
    },
    shape::Shape,
};

/// Largest number of blocks along a side of an octree where a quantity changes within octants.
const FINEST: u32 = 256;
/// Colour of the edges of octants, and the width of lines, pixels.
const EDGE: [u8; 4] = [20, 22, 26, 150];
const EDGE_WIDTH: f32 = 0.7;
/// Colour of the outline in which a plane cuts a surface.
const OUTLINE: [u8; 4] = [20, 22, 26, 255];

/// What a quantity needs of a shape, where it is there.
type FieldOf<'a> = &'a (dyn Fn(&Arc<Shape>, FieldKind) -> Option<Arc<BodyField>> + Sync);

/// A body that slices cut.
pub struct Sliced<'a> {
    /// What quantities read of it.
    pub place: BodyPlace<'a>,
    /// The shapes by which it is drawn, and their places in the world.
    pub parts: Vec<(Arc<Shape>, Mat4)>,
}

/// What slices are drawn from.
pub(in crate::scene) struct SliceScene<'a> {
    pub stage: &'a Stage,
    pub breaks: &'a BreakLog,
    pub stresses: &'a Stresses,
    /// Nothing is drawn of a body whose field a slice shows and that is not there.
    pub fields: &'a FieldView,
    pub explode: f64,
    pub slices: &'a [Slice],
    pub scale: Scale,
    /// The pinned blow and its cells.
    pub pinned: Option<(&'a Aim, &'a Cells)>,
    /// A body that is drawn as pieces, and these: a pinned blow has broken it in a comparison view.
    pub pieces: Option<(BodyId, Vec<RenderBody>)>,
}

impl SliceScene<'_> {
    /// The slices on top of an overlay, and what their colours mean.
    pub fn draw(&self, below: Option<&Overlay>) -> (Overlay, Vec<Legend>) {
        let fields = self.fields.fields();
        let known = |shape: &Arc<Shape>, kind: FieldKind| fields.known(shape, kind);
        draw(&self.bodies(), self.slices, (self.scale, self.stage.time()), &known, below)
    }

    /// The visible bodies. Their contacts are looked up if a slice shows a quantity of these.
    fn bodies(&self) -> Vec<Sliced<'_>> {
        let stage = self.stage;
        let wanted: Vec<Quantity> = self.slices.iter().filter_map(|slice| slice.show).collect();
        let pressing = Pressing::new(stage, &wanted);
        let placed = stage.bodies().iter().zip(stage.explode_offsets(self.explode));
        let broken = self.pieces.as_ref().map(|(id, _)| *id);
        let seen = placed.filter(|(body, _)| !stage.status(body.id).hidden && Some(body.id) != broken);
        let own = seen.map(|(body, offset)| {
            let known = (body.id, &body.def, stage.info_or_whole(body.id), &body.state);
            let place = body_place((self.breaks, self.stresses), known);
            let pinned = self.pinned.filter(|(aim, _)| aim.body == body.id).map(|(aim, cells)| SeedSet {
                seeds: &cells.pattern.seeds,
                objects: &cells.pattern.objects,
                impact: Some(aim.point_in_grid),
                grid: body.def.shape.as_octree().map(|octree| octree.grid),
            });
            let moved = Mat4::from_translation(offset.as_vec3());
            let parts = drawn_parts(&body.def, body.state).map(|(shape, to_world)| (shape, moved * to_world));
            // The cells of a pinned blow are seen in place of the cell that the body is.
            let cell = place.cell.filter(|_| pinned.is_none());
            let place = BodyPlace { seeds: pinned.or(place.seeds), cell, ..place };
            Sliced { place: pressing.beside(body.id, place), parts: parts.collect() }
        });
        let pieces = self.pieces.iter().flat_map(|(_, pieces)| pieces).map(|piece| {
            let unit_m = piece.shape.as_octree().map_or(1.0, |octree| octree.grid.h);
            let (number, object, of) = (piece.id, piece.object as usize, BodyPlace::of(&piece.shape));
            let place = BodyPlace { number, object, unit_m, generation: 1, ..of };
            Sliced { place, parts: vec![(Arc::clone(&piece.shape), piece.world_from_local)] }
        });
        own.chain(pieces).collect()
    }
}

/// What the overlay was made of.
#[derive(Clone, PartialEq)]
pub(in crate::scene) struct Drawn {
    slices: Vec<Slice>,
    scale: Scale,
    explode: f64,
    stage: u64,
    fields: u64,
    pinned: Option<(Aim, Vec<[i32; 3]>)>,
    below: u64,
}

/// The overlay of slices.
#[derive(Default)]
pub(in crate::scene) struct SliceView {
    pub layer: Layer<Drawn>,
    legends: Vec<Legend>,
}

impl SliceView {
    /// What the colours of each quantity mean.
    pub fn legends(&self) -> &[Legend] {
        &self.legends
    }

    /// Updates the overlay, on top of the overlay `below` with its revision, of which nothing is drawn beyond the
    /// planes that open bodies.
    pub fn update(&mut self, of: &SliceScene<'_>, below: (Option<&Overlay>, u64)) {
        if of.slices.is_empty() {
            self.legends.clear();
            self.layer.hide();
            return;
        }
        let wanted = Drawn {
            slices: of.slices.to_vec(),
            scale: of.scale,
            explode: of.explode,
            stage: of.stage.revision(),
            fields: of.fields.revision(),
            pinned: of.pinned.map(|(aim, cells)| (*aim, cells.pattern.seeds.clone())),
            below: below.1,
        };
        if !self.layer.begin(wanted) {
            return;
        }
        let (made, legends) = of.draw(below.0);
        self.legends = legends;
        self.layer.show(made);
    }
}

/// Planes for the renderer.
pub(in crate::scene) fn clips(slices: &[Slice], time: f64) -> Clips {
    Clips::new(slices.iter().filter_map(|slice| slice.clip(time)))
}

/// The slices at a time (s of the scene), on top of an overlay, of which nothing is drawn beyond the planes that open
/// bodies; and what the colours mean. Fields of shapes that slices show are made where `fields` has none, which may
/// take long.
#[must_use]
pub fn draw_slices(
    bodies: &[Sliced<'_>],
    slices: &[Slice],
    of: (Scale, f64),
    fields: &BodyFields,
    below: Option<&Overlay>,
) -> (Overlay, Vec<Legend>) {
    draw(bodies, slices, of, &|shape: &Arc<Shape>, kind: FieldKind| fields.of(shape, kind), below)
}

fn draw(
    bodies: &[Sliced<'_>],
    slices: &[Slice],
    (scale, time): (Scale, f64),
    field: FieldOf<'_>,
    below: Option<&Overlay>,
) -> (Overlay, Vec<Legend>) {
    let clips = clips(slices, time);
    let mut made = below.map(|below| below.clipped(&clips)).unwrap_or_default();
    let mut legends = Vec::new();
    for show in quantities(slices) {
        let those = slices.iter().filter(|slice| slice.show == show);
        let cuts: Vec<Cut> = those
            .flat_map(|slice| {
                let others = slices.iter().filter(|other| *other != slice);
                let beyond = Clips::new(others.filter_map(|other| other.clip(time)));
                cuts_of(bodies, slice, time, (beyond, field))
            })
            .collect();
        if let Some(quantity) = show {
            let values = cuts.iter().flat_map(Cut::values);
            let stresses = bodies.iter().filter_map(|body| body.place.stress);
            let painter = Painter::new(quantity, scale, values).under(stresses.map(BodyStress::load));
            cuts.iter().for_each(|cut| cut.add_octants(&mut made, &painter, &clips));
            legends.extend(painter.legend());
        }
        cuts.iter().for_each(|cut| cut.add_edges(&mut made, &clips));
    }
    for slice in slices {
        outlines(bodies, slice, time, &clips, &mut made);
    }
    (made, legends)
}

/// The quantities shown, each once.
fn quantities(slices: &[Slice]) -> Vec<Option<Quantity>> {
    let mut all: Vec<Option<Quantity>> = slices.iter().map(|slice| slice.show).collect();
    all.sort();
    all.dedup();
    all
}

/// One slice through one octree or mesh.
struct Cut {
    world_from_grid: DMat4,
    plane: Plane,
    /// Octants with their values.
    octants: Vec<(CutOctant, Option<f64>)>,
    /// Of a mesh: polygons with their values.
    faces: Vec<Face>,
    /// The planes of other slices, at which polygons end.
    beyond: Clips,
    lines: bool,
    voxel: f32,
}

/// The slice through every octree and mesh.
fn cuts_of(
    bodies: &[Sliced<'_>],
    slice: &Slice,
    time: f64,
    (beyond, field): (Clips, FieldOf<'_>),
) -> Vec<Cut> {
    if slice.show.is_none() && !slice.lines {
        return Vec::new();
    }
    let mut cuts = Vec::new();
    for Sliced { place, parts } in bodies {
        for (shape, world_from_local) in parts {
            // The local space of an octree is its grid, that of a mesh the grid of the voxels that stand in for it.
            let world_from_grid = world_from_local.as_dmat4();
            let plane = in_grid(slice, time, &world_from_grid);
            let octants = match shape.as_mesh() {
                Some(_) => Vec::new(),
                None => values(shape, &plane, slice.show, place, field),
            };
            let filled = |show: Quantity| cross_section(shape, &plane, show, place, field);
            let faces = slice.show.map_or_else(Vec::new, filled);
            if !octants.is_empty() || !faces.is_empty() {
                let voxel = world_from_grid.x_axis.length() as f32;
                cuts.push(Cut { world_from_grid, plane, octants, faces, beyond, lines: slice.lines, voxel });
            }
        }
    }
    cuts
}

/// A slice in a grid that lies in the world by a map with uniform scale.
fn in_grid(slice: &Slice, time: f64, world_from_grid: &DMat4) -> Plane {
    let normal = slice.unit();
    let grid_normal = world_from_grid.transpose().transform_vector3(normal);
    let scale = world_from_grid.x_axis.length();
    let origin = world_from_grid.transform_point3(DVec3::ZERO);
    let at = (slice.at_time(time) - normal.dot(origin)) / scale;
    Plane { normal: grid_normal.normalize_or(DVec3::Z), at }
}

/// The cross-section of a mesh in a quantity's values: in that of the body, or in those of the voxels that stand in
/// for it. Nothing of another shape.
fn cross_section(
    shape: &Arc<Shape>,
    plane: &Plane,
    quantity: Quantity,
    body: &BodyPlace<'_>,
    field: FieldOf<'_>,
) -> Vec<Face> {
    let Some(solid) = shape.as_mesh() else { return Vec::new() };
    let filling = match quantity.varies_in(body) && solid.voxels().is_some() {
        true => Filling::Octants(values(shape, plane, Some(quantity), body, field)),
        false => Filling::Flat((quantity.of)(&Place { body, voxel: None })),
    };
    faces(solid, plane, &filling)
}

/// The octants in a plane with their values; none of a shape without voxels, or whose field is shown and not there.
fn values(
    shape: &Arc<Shape>,
    plane: &Plane,
    quantity: Option<Quantity>,
    body: &BodyPlace<'_>,
    field: FieldOf<'_>,
) -> Vec<(CutOctant, Option<f64>)> {
    let Some(octree) = shape.as_octree() else { return Vec::new() };
    let needed = quantity.and_then(Quantity::field);
    // What changes within octants.
    let by_place = needed.is_some() || quantity.is_some_and(|q| q.of_seeds && body.seeds.is_some());
    let stress = body.stress.filter(|_| quantity.is_some_and(|quantity| quantity.of_stress));
    // Quantities of whole octants are shown as these are.
    let largest = match stress {
        Some(stress) => stress.cell_size(octree.level()),
        None if quantity == Some(Quantity::Weakness) => cell_size(octree.level()),
        None if by_place => ((1u32 << octree.level()) / FINEST).max(1),
        None => u32::MAX,
    };
    let mut octants = Vec::new();
    section(&octree.forest, octree.tree, plane, largest, &mut |octant| octants.push(octant));
    // Only where the plane meets the body, since a field may have to be made.
    let field = needed.filter(|_| !octants.is_empty()).and_then(|kind| field(shape, kind));
    if needed.is_some() && field.is_none() {
        return Vec::new();
    }
    let body = &BodyPlace { field: field.as_deref(), ..*body };
    let value = |octant: &CutOctant| {
        let low = DVec3::from(octant.low.map(f64::from));
        let centre = low + 0.5 * f64::from(octant.size);
        let voxel = VoxelPlace { octree, leaf: octant.leaf, level: octant.level, centre };
        (quantity?.of)(&Place { body, voxel: Some(voxel) })
    };
    octants.into_par_iter().map(|octant| (octant, value(&octant))).collect()
}

impl Cut {
    fn values(&self) -> impl Iterator<Item = f64> {
        let of_octants = self.octants.iter().filter_map(|(_, value)| *value);
        of_octants.chain(self.faces.iter().filter_map(|(_, value)| *value))
    }

    fn corners(&self, octant: &CutOctant) -> Vec<Vec3> {
        let corners = self.plane.polygon(octant.low, octant.size).into_iter();
        corners.map(|p| self.world_from_grid.transform_point3(p).as_vec3()).collect()
    }

    /// The middle of an octant's cut, which says whether another slice takes it away.
    fn is_seen(corners: &[Vec3], clips: &Clips) -> bool {
        let middle = corners.iter().sum::<Vec3>() / corners.len().max(1) as f32;
        clips.planes().iter().all(|plane| {
            let height = plane.truncate().dot(middle) - plane.w;
            // A slice does not take away what lies in its own plane.
            height <= 1e-4 * middle.abs().max_element().max(1.0)
        })
    }

    fn add_octants(&self, made: &mut Overlay, painter: &Painter, clips: &Clips) {
        made.lift = made.lift.max(0.5 * self.voxel);
        for (octant, value) in &self.octants {
            let Some(value) = value else { continue };
            let corners = self.corners(octant);
            if !Self::is_seen(&corners, clips) {
                continue;
            }
            add_polygon(&mut made.triangles, &corners, painter.color(*value));
        }
        let mut polygons = Overlay::default();
        for (corners, value) in &self.faces {
            let Some(value) = value else { continue };
            let corners = corners.iter().map(|p| self.world_from_grid.transform_point3(*p).as_vec3());
            add_polygon(&mut polygons.triangles, &corners.collect::<Vec<_>>(), painter.color(*value));
        }
        made.triangles.append(&mut polygons.clipped(&self.beyond).triangles);
    }

    fn add_edges(&self, made: &mut Overlay, clips: &Clips) {
        if !self.lines {
            return;
        }
        made.lift = made.lift.max(0.5 * self.voxel);
        for (octant, _) in &self.octants {
            let corners = self.corners(octant);
            if !Self::is_seen(&corners, clips) {
                continue;
            }
            let next = corners.iter().cycle().skip(1);
            let lines = corners.iter().zip(next).map(|(start, end)| Line {
                start: *start,
                color: EDGE,
                end: *end,
                width: EDGE_WIDTH,
            });
            made.lines.extend(lines);
        }
    }
}

/// A convex polygon as triangles.
fn add_polygon(triangles: &mut Vec<Triangle>, corners: &[Vec3], [r, g, b]: [u8; 3]) {
    let Some((first, rest)) = corners.split_first() else { return };
    let color = [r, g, b, 255];
    triangles.extend(rest.windows(2).map(|pair| Triangle { a: *first, color, b: pair[0], c: pair[1] }));
}

/// The lines in which a slice cuts surfaces, whose trees find the triangles that it cuts.
fn outlines(bodies: &[Sliced<'_>], slice: &Slice, time: f64, clips: &Clips, made: &mut Overlay) {
    let (normal, at) = (slice.unit(), slice.at_time(time));
    for (shape, world_from_local) in bodies.iter().flat_map(|body| &body.parts) {
        let Some(solid) = shape.as_mesh() else { continue };
        let world_from_local = world_from_local.as_dmat4();
        let world_from_tree = world_from_local * solid.local_from_tree();
        let plane = in_grid(slice, time, &world_from_local);
        solid.cut_by(plane.normal, plane.at, |triangle| {
            let corners = [triangle.a, triangle.b, triangle.c]
                .map(|p| world_from_tree.transform_point3(Vec3::from(p).as_dvec3()));
            let heights = corners.map(|p| normal.dot(p) - at);
            let mut ends = (0..3).filter_map(|k: usize| {
                let (a, b) = (k, (k + 1) % 3);
                let crosses = (heights[a] < 0.0) != (heights[b] < 0.0);
                crosses.then(|| corners[a].lerp(corners[b], heights[a] / (heights[a] - heights[b])).as_vec3())
            });
            if let (Some(start), Some(end)) = (ends.next(), ends.next())
                && Cut::is_seen(&[start, end], clips)
            {
                made.lines.push(Line { start, color: OUTLINE, end, width: 1.2 });
            }
        });
    }
}
