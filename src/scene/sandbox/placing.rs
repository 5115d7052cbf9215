//! Setting the stage: objects that are added, named, moved and removed by hand.
//!
//! In: files, and poses of bodies while a gesture lasts. Out: changed bodies, one undo step each. Before anything has
//! happened, the scene itself changes: where a whole object starts, and which objects there are. Later, events of the scene
//! say that a body was set somewhere or came, so that the scene plays the same again.

use std::{collections::BTreeSet, sync::Arc};

use glam::{DMat3, DQuat, DVec3};

use super::{Sandbox, SandboxError, past::moment, pieces::counted};
use crate::{
    bodies::{Body, BodyId, BodyState},
    geometry::Aabb,
    mesh::unlike,
    scene::{
        Event, Imported, ObjectInfo, ReadMeshes, SceneBody, Tuning,
        document::give_values,
        placement::{entry_of, object_info, placed, start_of},
    },
    shape::Shape,
    svo::Arena,
};

/// Where a body is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The body.
    pub body: BodyId,
    /// World position of its centre of mass, m.
    pub position: DVec3,
    /// Its rotation.
    pub rotation: DQuat,
}

/// Where a body stands, as panels show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Middle of the upright box round it along x and z, and its lowest point above the floor along y, m.
    pub at: DVec3,
    /// Sides of that box, m.
    pub size: DVec3,
}

/// Most points of a tilted body's surface that are looked at for the lowest one.
const SURFACE: usize = 4000;
/// Distance between an object that is added and what is there, as a share of the object's width.
const GAP: f64 = 0.25;

/// The upright box round the bounds of a shape in a state, world, m.
fn box_round(shape: &Shape, state: &BodyState) -> Aabb {
    let in_world = |corner| shape.to_world(state.position, state.rotation, corner);
    Aabb::of(shape.bounds().corners().map(in_world))
}

impl Sandbox {
    /// Sets bodies where they should be, at rest. Time stands still until [`Sandbox::end_gesture`], and calls until then are
    /// one undo step. Does nothing while bodies break.
    pub fn place(&mut self, poses: &[Pose]) {
        let there = |pose: &&Pose| {
            let is_finite = pose.position.is_finite() && pose.rotation.is_finite();
            is_finite && self.stage.body(pose.body).is_some()
        };
        let poses: Vec<Pose> = poses.iter().filter(there).copied().collect();
        if poses.is_empty() || self.is_breaking() {
            return;
        }
        if self.placing.is_none() {
            self.history.end_gesture();
            let label = match &poses[..] {
                [one] => format!("move {}", self.body_name(one.body)),
                several => format!("move {}", counted(several.len())),
            };
            self.keep_step(&label);
        }
        self.placing.get_or_insert_default().extend(poses.iter().map(|pose| pose.body));
        for Pose { body, position, rotation } in poses {
            self.stage.place(body, position, rotation);
        }
    }

    /// Lets the lowest point of each of these bodies touch the floor, as one undo step.
    pub fn put_on_floor(&mut self, bodies: &[BodyId]) {
        let lowered = bodies.iter().filter_map(|id| {
            let (body, foot) = (self.stage.body(*id)?, self.foot(*id)?);
            let position = body.state.position - DVec3::Y * foot.at.y;
            (foot.at.y.abs() > 1e-12).then_some(Pose { body: *id, position, rotation: body.state.rotation })
        });
        let lowered: Vec<Pose> = lowered.collect();
        self.place(&lowered);
        self.end_placing();
    }

    /// Where a body stands; `None` if it is not there.
    #[must_use]
    pub fn foot(&self, id: BodyId) -> Option<Foot> {
        let body = self.stage.body(id)?;
        let shape = &body.def.shape;
        let Aabb { low, high } = box_round(shape, &body.state);
        let middle = low.midpoint(high);
        let floor = self.document.scene().floor_height;
        // The box of a tilted body reaches below its surface.
        let heights_of_axes = DMat3::from_quat(body.state.rotation).row(1).abs().to_array();
        let is_tilted = heights_of_axes.iter().any(|height| (1e-9..1.0 - 1e-9).contains(height));
        let heights = || {
            let points = shape.surface_points(SURFACE).into_iter().map(|point| point.as_dvec3());
            points.map(|point| shape.to_world(body.state.position, body.state.rotation, point).y)
        };
        let surface = if is_tilted { heights().fold(f64::INFINITY, f64::min) } else { low.y };
        let lowest = if surface.is_finite() { surface.max(low.y) } else { low.y };
        Some(Foot { at: DVec3::new(middle.x, lowest - floor, middle.z), size: high - low })
    }

    /// The whole body of an object; `None` once the object is broken.
    #[must_use]
    pub fn whole_body(&self, object: usize) -> Option<BodyId> {
        let id = self.stage.body_of(object)?.id;
        self.stage.info(id).filter(|info| info.is_intact()).map(|_| id)
    }

    /// The bodies of an object.
    pub fn bodies_of(&self, object: usize) -> impl Iterator<Item = BodyId> {
        let of = move |body: &&Body| self.stage.info(body.id).is_some_and(|info| info.object == object);
        self.stage.bodies().iter().filter(of).map(|body| body.id)
    }

    /// The name of an object: its own, or its file's.
    #[must_use]
    pub fn object_name(&self, object: usize) -> &str {
        self.document.object_name(object).unwrap_or_default()
    }

    fn body_name(&self, id: BodyId) -> String {
        let info = self.stage.info_or_whole(id);
        let name = self.object_name(info.object);
        if info.is_intact() { name.to_owned() } else { format!("a piece of {name}") }
    }

    /// Whether nothing has happened yet in the open scene.
    fn is_at_start(&self) -> bool {
        self.stage.time() == 0.0 && self.document.events_over() == 0 && self.remaking.is_none()
    }

    /// Ends the gesture that moved bodies: the scene has their places from now on.
    pub(super) fn end_placing(&mut self) {
        let Some(ids) = self.placing.take() else { return };
        let in_scene = self.document.scene().bodies.len();
        let starts = |id: &BodyId| {
            let info = self.stage.info(*id).filter(|info| info.is_intact() && info.object < in_scene)?;
            self.stage.body(*id)?.def.shape.as_octree().map(|_| (*id, info.object))
        };
        let starts: Option<Vec<_>> = ids.iter().map(starts).collect();
        match starts.filter(|_| self.is_at_start()) {
            Some(starts) => {
                starts.into_iter().for_each(|(id, object)| self.start_where_it_is(id, object));
                self.stage.lull_what_stands(&self.on_floor_from_start());
                self.begin_here();
            }
            None => self.note_moves(&ids),
        }
    }

    /// Has a whole object start where its body is.
    fn start_where_it_is(&mut self, id: BodyId, object: usize) {
        let scene = self.document.scene();
        let (floor, Some(entry)) = (scene.floor_height, scene.bodies.get(object)) else { return };
        let Some(body) = self.stage.body(id) else { return };
        let Some(octree) = body.def.shape.as_octree() else { return };
        let entry = entry_of((&octree.mass, &octree.grid), entry, &body.state, floor);
        // As the saved scene will have it, to the last bit.
        let start = start_of((&octree.mass, &octree.grid), &entry, floor);
        self.document.set_start(object, &entry);
        if let Some(body) = self.stage.body_mut(id) {
            body.state = start;
        }
    }

    /// The bodies of the scene that begin on its floor.
    fn on_floor_from_start(&self) -> Vec<BodyId> {
        let bodies = self.document.scene().bodies.iter().enumerate();
        let standing = bodies.filter(|(_, body)| body.on_floor);
        standing.filter_map(|(object, _)| self.whole_body(object)).collect()
    }

    /// Makes the present state the scene's first, which a reset restores.
    fn begin_here(&mut self) {
        let first = moment(&self.document, &self.stage, (None, None), None);
        self.history.set_first(Arc::new(first));
        if !self.timeline.is_empty() {
            self.keep_bonds(self.timeline.take_id());
            self.timeline.begin_anew();
        }
        self.forget_later_bonds();
        self.trace.forget_after(self.stage.time());
        self.after_arranging();
    }

    /// The same for a state whose objects have other numbers than before. A take of the old numbers would give objects
    /// the values, the paint and the pairs of others, so takes are on offer again only once undo restores the old numbers.
    fn begin_renumbered(&mut self) {
        self.timeline.open_another();
        self.push = None;
        self.begin_here();
    }

    /// Applies the tuned values to all bodies, of which some are new or elsewhere.
    fn after_arranging(&mut self) {
        self.set_tuning(self.document.tuning().clone());
        self.looking.forget();
    }

    /// Notes where bodies were set as events of the scene.
    fn note_moves(&mut self, ids: &BTreeSet<BodyId>) {
        self.document.take_by_hand();
        let time = self.stage.time();
        for id in ids {
            let Some(body) = self.stage.body(*id) else { continue };
            let (state, info) = (body.state, self.stage.info_or_whole(*id));
            self.document.happened(Event::Move {
                time,
                body: info.object as u32,
                parts: self.breaks.parts_that_led_to(info.origin),
                position: state.position,
                rotation: state.rotation,
            });
        }
        self.stage.wake_all();
        self.after_arranging();
        self.record_anew();
    }

    /// Adds an object to the scene, beside what is there; it is there once [`Sandbox::poll`] says so.
    pub fn add(&mut self, body: SceneBody) {
        self.jobs.adding.push(body, ReadMeshes::new());
    }

    /// The object whose values the panels change; `None`: those of all objects.
    #[must_use]
    pub fn focus(&self) -> Option<usize> {
        self.document.focus()
    }

    /// Has the panels show and change the values of this object alone; `None`: they change those of all objects.
    pub fn focus_on(&mut self, focus: Option<usize>) {
        let tuning = Tuning { focus, ..self.document.tuning().clone() };
        self.tune("focus", tuning);
    }

    /// The object whose values the panels show.
    #[must_use]
    pub fn shown_object(&self) -> Option<&Arc<ObjectInfo>> {
        self.document.objects().get(self.document.shown_object())
    }

    /// Adds a copy of an object as it was before it broke, beside what is there.
    pub fn duplicate(&mut self, object: usize) {
        let (Some(own), Some(info)) = (self.document.values_of(object), self.document.objects().get(object))
        else {
            return;
        };
        let mut body = SceneBody { name: None, ..info.scene.clone() };
        (body.linear_velocity, body.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        give_values(own, &mut body);
        body.fracture.paint = self.document.paint_on(object);
        let mesh = info.read_mesh();
        let meshes = [(body.mesh_key(), mesh)].into();
        self.jobs.adding.push(body, meshes);
    }

    /// Adds the first object of the user's that is imported, or the objects of its file as they stand to each other, in one
    /// undo step.
    pub(super) fn take_in_added(&mut self, arena: &mut Arena) -> Result<bool, SandboxError> {
        let mut added = self.jobs.adding.next(self.jobs.opening.known(), self.document.scene())?;
        let Some(first) = added.first().map(|(body, _)| body.position.x) else { return Ok(false) };
        for (body, one) in &added {
            self.stage.compute().takes(body.level)?;
            self.take_in(arena, &one.forest)?;
        }
        self.put_beside(&mut added, first);
        let mut ready = Vec::with_capacity(added.len());
        for (body, one) in added {
            let scene = self.document.scene();
            let (def, info) = (placed(&one, &body, scene), object_info(&one, &body, scene.meters_per_unit));
            self.jobs.opening.learn(&body, &one);
            ready.push((def, info, body));
        }
        self.end_gesture();
        match &ready[..] {
            [(_, info, _)] => self.keep_step(&format!("add {}", info.name)),
            many => self.keep_step(&format!("add {} objects", many.len())),
        }
        let is_at_start = self.is_at_start();
        let mut objects = Vec::with_capacity(ready.len());
        for (def, info, mut body) in ready {
            objects.push(if is_at_start {
                // The panels have the dabs of all objects of the scene.
                let paint = std::mem::take(&mut body.fracture.paint);
                let object = self.document.insert_object(info);
                self.document.add_paint(object, paint);
                self.stage.renumber(|other| if other < object { other } else { other + 1 });
                self.stage.add(def, object, 0);
                object
            } else {
                self.throw_now(def, info, body)
            });
        }
        if is_at_start {
            self.stage.lull_what_stands(&self.on_floor_from_start());
            self.begin_renumbered();
        }
        let bodies: Vec<BodyId> = objects.into_iter().flat_map(|object| self.bodies_of(object)).collect();
        self.select(bodies);
        Ok(true)
    }

    /// Moves objects that come to the right of what is there, `first` being where the first of them stands along x, and gives
    /// them names that no other object has.
    fn put_beside(&self, added: &mut [(SceneBody, Imported)], first: f64) {
        let scene = self.document.scene();
        let boxes = added.iter().map(|(body, one)| {
            let position = DVec3::X * (body.position.x - first);
            let alone = placed(one, &SceneBody { position, ..body.clone() }, scene);
            box_round(&alone.shape, &alone.state)
        });
        let Aabb { low, high } = boxes.fold(Aabb::NOTHING, Aabb::joined);
        let feet = self.stage.bodies().iter().filter_map(|there| self.foot(there.id));
        let right = feet.map(|foot| foot.at.x + 0.5 * foot.size.x).fold(f64::NEG_INFINITY, f64::max);
        let middle = if right.is_finite() { right - low.x + GAP * (high.x - low.x) } else { 0.0 };
        let count = self.document.objects().len();
        let mut taken: BTreeSet<String> =
            (0..count).map(|object| self.object_name(object).to_owned()).collect();
        for (body, _) in added {
            body.position.x = middle + (body.position.x - first);
            if let Some(name) = &body.name {
                let name = unlike(name, |name| taken.contains(name));
                taken.insert(name.clone());
                body.name = Some(name);
            }
        }
    }

    /// Removes an object with all its pieces, as one undo step: from the scene, if nothing has happened yet.
    ///
    /// # Errors
    /// [`SandboxError::Busy`] while bodies break; nothing has changed then.
    pub fn remove_object(&mut self, object: usize) -> Result<(), SandboxError> {
        if self.is_busy() {
            return Err(SandboxError::Busy);
        }
        self.end_gesture();
        let is_whole = |body: &Body| self.stage.info_or_whole(body.id).is_intact();
        let is_plain = self.stage.bodies().iter().all(is_whole) && self.document.scene().breaks.is_empty();
        let is_in_scene = object < self.document.scene().bodies.len();
        let bodies: Vec<BodyId> = self.bodies_of(object).collect();
        self.keep_step(&format!("remove {}", self.object_name(object)));
        bodies.iter().for_each(|id| self.stage.remove(*id));
        if self.is_at_start() && is_plain && is_in_scene {
            self.document.remove_object(object);
            self.stage.renumber(|other| if other < object { other } else { other.saturating_sub(1) });
            self.begin_renumbered();
        } else {
            self.after_edit();
        }
        Ok(())
    }
}

#[cfg(test)]
mod numbers_tests;
#[cfg(test)]
mod places_tests;
