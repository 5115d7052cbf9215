//! The stage for the renderer: bodies moved apart by the explode slider, and their bounds.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::geometry::Aabb;
use glam::{DVec3, Mat4, Vec3};

use super::Stage;
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState},
    render::RenderBody,
    scene::{
        breaking::{part_state, world_from_local_matrix},
        coloring::{BodyColors, LeafColors},
        insides::BodyInsides,
    },
    shape::Shape,
};

/// The shapes by which a body is drawn: its parts where bonds hold several, so that one sees what is cracked.
pub(in crate::scene) fn drawn_shapes(def: &BodyDef) -> impl Iterator<Item = &Arc<Shape>> {
    let held = def.structure.as_ref().map(|structure| &structure.parts).filter(|parts| parts.len() > 1);
    let whole = held.is_none().then_some(&def.shape);
    held.into_iter().flatten().map(|part| &part.shape).chain(whole)
}

/// These shapes with their transforms from local space to the world, for a body in this state.
pub(in crate::scene) fn drawn_parts(
    def: &BodyDef,
    state: BodyState,
) -> impl Iterator<Item = (Arc<Shape>, Mat4)> {
    drawn_shapes(def).map(move |shape| {
        let is_whole = Arc::ptr_eq(shape, &def.shape);
        let state = if is_whole { state } else { part_state(&state, &def.shape, shape) };
        (Arc::clone(shape), world_from_local_matrix(&state, shape))
    })
}

/// Values besides the bodies that determine how they look.
pub(in crate::scene) struct Appearance {
    /// Explode distance of an object's pieces, 0 to 1.
    pub explode: f64,
    /// The materials inside the bodies.
    pub insides: BodyInsides,
    /// Colours of bodies where these mean a quantity.
    pub colors: Option<BodyColors>,
    /// Copies of shapes in the colours of their voxels, where colours mean a quantity of these.
    pub leaves: Option<Arc<LeafColors>>,
    /// Highlighted bodies.
    pub selected: Arc<BTreeSet<BodyId>>,
}

impl Stage {
    /// Displacement of each body by the explode slider, m.
    pub fn explode_offsets(&self, explode: f64) -> Vec<DVec3> {
        let bodies = &self.world.bodies;
        if explode == 0.0 || bodies.len() < 2 {
            return vec![DVec3::ZERO; bodies.len()];
        }
        let mut sums: BTreeMap<usize, (DVec3, f64, f64)> = BTreeMap::new();
        let object = |id: &BodyId| self.info.get(id).map_or(0, |info| info.object);
        for body in bodies {
            let m = body.def.shape.mass().volume_m3;
            let sum = sums.entry(object(&body.id)).or_insert((DVec3::ZERO, 0.0, f64::INFINITY));
            *sum = (sum.0 + body.state.position * m, sum.1 + m, sum.2.min(body.state.position.y));
        }
        bodies
            .iter()
            .map(|body| match sums.get(&object(&body.id)) {
                Some((sum, m, lowest)) if *m > 0.0 => {
                    let centre = *sum / *m;
                    // Measured from the lowest point, so that nothing is drawn below the floor.
                    (body.state.position - DVec3::new(centre.x, *lowest, centre.z)) * explode
                }
                _ => DVec3::ZERO,
            })
            .collect()
    }

    /// Bodies with the transforms from local space to where they are drawn in the world.
    fn placed(&self, explode: f64) -> impl Iterator<Item = (&Body, Mat4)> {
        self.world.bodies.iter().zip(self.explode_offsets(explode)).map(|(body, offset)| {
            let matrix = world_from_local_matrix(&body.state, &body.def.shape);
            (body, Mat4::from_translation(offset.as_vec3()) * matrix)
        })
    }

    /// Transform from the local space of body number `at` to where it is drawn in the world.
    pub fn drawn_at(&self, at: usize, explode: f64) -> Option<Mat4> {
        self.placed(explode).nth(at).map(|(_, matrix)| matrix)
    }

    /// Whether a body is visible.
    fn is_shown(&self, body: &Body) -> bool {
        !self.status(body.id).hidden
    }

    /// Index of what it is drawn by, or of its first part, among [`Stage::render_bodies`]; `None` if it is hidden.
    pub fn shown_index(&self, id: BodyId) -> Option<usize> {
        let mut before = 0;
        for body in self.world.bodies.iter().filter(|body| self.is_shown(body)) {
            if body.id == id {
                return Some(before);
            }
            before += drawn_shapes(&body.def).count();
        }
        None
    }

    /// Visible bodies for the renderer, with parts that bonds hold one by one; `selected` is highlighted, too.
    pub fn render_bodies(&self, look: &Appearance, selected: Option<BodyId>) -> Vec<RenderBody> {
        let bodies = self.world.bodies.iter().zip(self.explode_offsets(look.explode));
        bodies
            .filter(|(body, _)| self.is_shown(body))
            .flat_map(|(body, offset)| {
                let info = self.info.get(&body.id);
                let insides = look.insides.of(&info.copied().unwrap_or_default());
                let moved = Mat4::from_translation(offset.as_vec3());
                let parts = drawn_parts(&body.def, body.state);
                parts.map(move |(shape, world_from_local)| {
                    let drawn = RenderBody {
                        shape,
                        world_from_local: moved * world_from_local,
                        id: info.map_or(body.id.0, |info| info.color_id),
                        object: info.map_or(0, |info| info.object as u32),
                        color: look.colors.as_ref().map(|colors| colors.of(body.id)),
                        selected: selected == Some(body.id) || look.selected.contains(&body.id),
                        mark: None,
                        interior: insides.first,
                        later: insides.later,
                    };
                    match &look.leaves {
                        Some(leaves) => leaves.dressed(drawn),
                        None => drawn,
                    }
                })
            })
            .collect()
    }

    /// Points on the surfaces of the bodies where they are drawn, world space: of the bodies in `only`, or of all
    /// visible ones.
    pub fn surface_points(&self, explode: f64, only: Option<&BTreeSet<BodyId>>) -> Vec<Vec3> {
        let each = |count: usize| (20_000 / count.max(1)).max(64);
        let most = only.map_or_else(|| each(self.world.bodies.len()), |only| each(only.len()).min(8000));
        let wanted = |body: &Body| only.map_or_else(|| self.is_shown(body), |only| only.contains(&body.id));
        self.placed(explode)
            .filter(|(body, _)| wanted(body))
            .flat_map(|(body, world_from_local)| {
                let points = body.def.shape.surface_points(most).into_iter();
                points.map(move |p| world_from_local.transform_point3(p))
            })
            .collect()
    }

    /// Centres of mass of the visible bodies where they are drawn, world space.
    pub fn drawn_centres(&self, explode: f64) -> Vec<(BodyId, Vec3)> {
        let centre = |(body, world_from_local): (&Body, Mat4)| {
            (body.id, world_from_local.transform_point3(body.def.shape.centre().as_vec3()))
        };
        self.placed(explode).filter(|(body, _)| self.is_shown(body)).map(centre).collect()
    }

    /// World bounds of all visible bodies, or of one body.
    pub fn bounds(&self, explode: f64, only: Option<BodyId>) -> Option<(Vec3, Vec3)> {
        let mut all: Option<(Vec3, Vec3)> = None;
        for (body, world_from_local) in self.placed(explode) {
            if only.map_or_else(|| !self.is_shown(body), |id| id != body.id) {
                continue;
            }
            let Aabb { low, high } = body.def.shape.bounds();
            let (low, high) = (low.as_vec3(), high.as_vec3());
            for c in 0..8u32 {
                let corner = Vec3::new(
                    if c & 1 == 0 { low.x } else { high.x },
                    if c & 2 == 0 { low.y } else { high.y },
                    if c & 4 == 0 { low.z } else { high.z },
                );
                let p = world_from_local.transform_point3(corner);
                all = Some(all.map_or((p, p), |(a, b)| (a.min(p), b.max(p))));
            }
        }
        all
    }
}
