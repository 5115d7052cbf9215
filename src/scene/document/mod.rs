//! The open document as plain data: the scene, its objects, the tuned values and the number of past events.
//!
//! In: scenes with the results of their import, tuned values, the user's actions. Out: values for bodies, settings for
//! the world, the next event, a scene to save. It does not depend on bodies or the GPU.

mod physics;
mod values;

pub(super) use values::give_values;

use std::sync::Arc;

use glam::DVec3;

use super::{
    DocumentId, Event, Pin, Scene, SceneBody, SceneFile, Tuning, breaking::NamedPiece, home::Homes,
    numbering::numbers_of_thrown, stage::Runs,
};
use crate::{
    bodies::BodyId,
    fracture::Dab,
    import::{KnownMesh, ReadMesh},
    mesh::{HealthReport, Mesh},
    render::Camera,
};

/// An imported object as the panels show it.
#[derive(Clone, Debug)]
pub struct ObjectInfo {
    /// Its entry in the scene.
    pub scene: SceneBody,
    /// Display name.
    pub name: String,
    /// Triangles in the file.
    pub triangles: usize,
    /// Boundary voxels.
    pub leaves: usize,
    /// Parent nodes.
    pub nodes: usize,
    /// Voxel edge, m.
    pub voxel_m: f64,
    /// Time for reading and voxelising, s.
    pub seconds: f64,
    /// Defects found in the mesh.
    pub health: HealthReport,
    /// Warnings of the reader.
    pub warnings: Vec<String>,
    /// Mean colour of the surface, sRGB.
    pub surface_color: [u8; 3],
    /// The mesh as it was imported, in its own units.
    pub mesh: Arc<Mesh>,
    /// Results of the mesh checks.
    pub known: KnownMesh,
}

impl ObjectInfo {
    /// The mesh in the form of a mesh just read.
    pub(crate) fn read_mesh(&self) -> ReadMesh {
        let (mesh, known) = (Arc::clone(&self.mesh), Arc::clone(&self.known));
        ReadMesh::again(self.scene.file.clone(), mesh, known, self.scene.up, self.warnings.clone())
    }
}

/// An event may come early by this share of a step, so that rounding of times does not delay it by a step.
const HAIR_STEPS: f64 = 1e-3;

/// Number of steps of `dt` s in a time, s.
fn step_of(time: f64, dt: f64) -> usize {
    (time / dt).round().max(0.0) as usize
}

/// The part of the document that breaks and events change.
#[derive(Default)]
struct Opened {
    /// The scene without its events.
    scene: Arc<Scene>,
    events: Vec<Arc<Event>>,
    /// Number of past events.
    next_event: usize,
    /// By their numbers: the scene's bodies, then thrown ones.
    objects: Vec<Arc<ObjectInfo>>,
    /// Whether the user moved anything by hand since the start.
    by_hand: bool,
    /// Which document it is.
    id: DocumentId,
    /// Whether not all breaks of the scene have been repeated.
    in_part: bool,
}

impl Opened {
    fn of(id: DocumentId, mut scene: Scene, objects: Vec<ObjectInfo>) -> Self {
        let events = std::mem::take(&mut scene.events).into_iter().map(Arc::new).collect();
        let objects = objects.into_iter().map(Arc::new).collect();
        let scene = Arc::new(scene);
        Self { scene, events, next_event: 0, objects, by_hand: false, id, in_part: false }
    }
}

/// A snapshot of the document for undo. It shares unchanged parts with earlier snapshots.
#[derive(Clone, Default)]
pub(super) struct WasOpen {
    scene: Arc<Scene>,
    events: Runs<Arc<Event>>,
    next_event: usize,
    objects: Runs<Arc<ObjectInfo>>,
    by_hand: bool,
    id: DocumentId,
    in_part: bool,
}

impl WasOpen {
    /// Memory not shared with `other`, without meshes, bytes.
    pub fn bytes_beside(&self, other: Option<&Self>) -> usize {
        let is_shared = other.is_some_and(|other| Arc::ptr_eq(&self.scene, &other.scene));
        let scene = if is_shared { 0 } else { size_of::<Scene>() + size_of_val(&*self.scene.bodies) };
        let (events, objects) = (other.map(|other| &other.events), other.map(|other| &other.objects));
        scene
            + self.events.bytes_beside(events)
            + self.events.beside(events, Arc::ptr_eq).map(|event| event.bytes()).sum::<usize>()
            + self.objects.bytes_beside(objects)
            + self.objects.beside(objects, Arc::ptr_eq).count() * size_of::<ObjectInfo>()
    }

    #[cfg(test)]
    pub fn of_size(bytes: usize) -> Self {
        let bodies = vec![SceneBody::default(); bytes.div_ceil(size_of::<SceneBody>())];
        Self { scene: Arc::new(Scene { bodies, ..Scene::default() }), ..Self::default() }
    }
}

/// The dabs of the brush on all bodies of a scene.
fn paint_of(scene: &Scene) -> Vec<Dab> {
    let on = |(number, body): (u32, &SceneBody)| -> Vec<Dab> {
        body.fracture.paint.iter().map(|dab| Dab { body: number, ..*dab }).collect()
    };
    (0u32..).zip(&scene.bodies).flat_map(on).collect()
}

/// The open scene and the tuned values.
pub(super) struct Document {
    opened: Opened,
    tuning: Tuning,
    /// Files and states of this document and of those before it.
    pub homes: Homes,
}

impl Document {
    /// An empty document.
    pub fn new(tuning: Tuning) -> Self {
        Self { opened: Opened::default(), tuning, homes: Homes::default() }
    }

    /// Begins another document, which is read from `file`; [`Document::open`] gives it its scene.
    pub fn begin(&mut self, file: Option<SceneFile>) {
        self.opened.id = self.homes.begin(file);
    }

    /// Which document is open.
    pub fn id(&self) -> DocumentId {
        self.opened.id
    }

    /// Opens a scene whose bodies and thrown bodies were imported as `objects`. Tuned values take the scene's values;
    /// nothing is pinned.
    pub fn open(&mut self, scene: Scene, objects: Vec<ObjectInfo>) {
        self.tuning.take_physics(&scene);
        self.tuning.pin = None;
        self.tuning.view.take_look(&scene);
        self.tuning.saved_views.clone_from(&scene.saved_views);
        self.tuning.backdrop.clone_from(&scene.backdrop);
        self.tuning.slices.clone_from(&scene.slices);
        (self.tuning.focus, self.tuning.own) = (None, Arc::default());
        if let Some(body) = scene.bodies.first() {
            self.tuning.show_values(body);
            self.tuning.fracture.keep.clone_from(&body.fracture.keep);
            self.tuning.fracture.paint = paint_of(&scene);
        }
        self.opened = Opened::of(self.opened.id, scene, objects);
    }

    /// Whether nothing is open.
    pub fn is_empty(&self) -> bool {
        self.opened.objects.is_empty()
    }

    /// The open scene without its events.
    pub fn scene(&self) -> &Scene {
        &self.opened.scene
    }

    /// Imported objects.
    pub fn objects(&self) -> &[Arc<ObjectInfo>] {
        &self.opened.objects
    }

    /// The tuned values.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Sets the tuned values; a pin on a body that is not `there` is removed. Returns `true` if bodies move differently
    /// now.
    pub fn set_tuning(&mut self, tuning: Tuning, there: impl Fn(BodyId) -> bool) -> bool {
        let before = std::mem::replace(&mut self.tuning, tuning);
        let moved = self.tuning.moves_unlike(&before) || self.objects_move_unlike(&before);
        if self.tuning.pin.as_ref().is_some_and(|pin| !there(pin.aim.body)) {
            self.tuning.pin = None;
        }
        moved
    }

    /// Pins the impact that the scene pins. The list of seeds that stay is reset, since it was meant for this impact.
    pub fn pin_as_opened(&mut self, pin: Pin) {
        self.tuning.fracture.keep.clear();
        self.tuning.pin = Some(pin);
    }

    /// Called when a body broke: removes a pin on it. A user's blow advances the random seed, unless that is locked.
    pub fn broke(&mut self, body: BodyId, by_user: bool) {
        if by_user && !self.tuning.lock_rng {
            self.tuning.fracture.rng = (self.tuning.fracture.rng + 1) & i64::MAX as u64;
        }
        if self.tuning.pin.as_ref().is_some_and(|pin| pin.aim.body == body) {
            self.tuning.pin = None;
        }
    }

    /// A snapshot for undo, which shares unchanged parts with `like`.
    pub fn was_open(&self, like: Option<&WasOpen>) -> WasOpen {
        WasOpen {
            scene: Arc::clone(&self.opened.scene),
            events: Runs::of_same(&self.opened.events, like.map(|like| &like.events)),
            next_event: self.opened.next_event,
            objects: Runs::of_same(&self.opened.objects, like.map(|like| &like.objects)),
            by_hand: self.opened.by_hand,
            id: self.opened.id,
            in_part: self.opened.in_part,
        }
    }

    /// Restores a snapshot; tuned values stay.
    pub fn put_back(&mut self, was: &WasOpen) {
        self.opened = Opened {
            scene: Arc::clone(&was.scene),
            events: was.events.iter().cloned().collect(),
            next_event: was.next_event,
            objects: was.objects.iter().cloned().collect(),
            by_hand: was.by_hand,
            id: was.id,
            in_part: was.in_part,
        };
    }

    /// Notes that the user moves something by hand.
    pub fn take_by_hand(&mut self) {
        self.opened.by_hand = true;
    }

    /// Whether the user moved anything by hand since the start of the scene.
    pub fn was_moved_by_hand(&self) -> bool {
        self.opened.by_hand
    }

    /// Sets whether not all breaks of the scene have been repeated.
    pub fn set_remade_in_part(&mut self, in_part: bool) {
        self.opened.in_part = in_part;
    }

    /// Whether not all breaks of the scene have been repeated.
    pub fn is_remade_in_part(&self) -> bool {
        self.opened.in_part
    }

    /// Number of past events.
    pub fn events_over(&self) -> usize {
        self.opened.next_event
    }

    /// Sets the number of past events.
    pub fn go_to_event(&mut self, over: usize) {
        self.opened.next_event = over.min(self.opened.events.len());
    }

    /// Future events.
    pub fn events_left(&self) -> impl Iterator<Item = &Event> {
        self.opened.events.iter().skip(self.opened.next_event).map(|event| &**event)
    }

    /// Whether there are future events.
    pub fn has_events_left(&self) -> bool {
        !self.is_empty() && self.opened.next_event < self.opened.events.len()
    }

    /// The next event if it is due in a step of `dt` s that begins at `time` (s), and how many bodies were thrown
    /// before it. The event then counts as past.
    pub fn next_due(&mut self, time: f64, dt: f64) -> Option<(Event, usize)> {
        let event = self.opened.events.get(self.opened.next_event)?;
        // Ten steps of a hundredth add up to slightly less than a tenth.
        let event = (event.time() <= time + HAIR_STEPS * dt).then(|| Event::clone(event))?;
        let thrown = self.thrown();
        self.opened.next_event += 1;
        Some((event, thrown))
    }

    /// Whether the next event sets a body somewhere.
    pub fn moves_next(&self) -> bool {
        let next = self.opened.events.get(self.opened.next_event);
        next.is_some_and(|event| matches!(**event, Event::Move { .. }))
    }

    /// Number of bodies thrown so far.
    pub fn thrown(&self) -> usize {
        let over = self.opened.events.iter().take(self.opened.next_event);
        over.filter(|event| matches!(***event, Event::Projectile { .. })).count()
    }

    /// The numbers of the objects that events bring, in the order of the events.
    pub fn numbers_of_thrown(&self) -> Vec<usize> {
        let events = self.opened.events.iter().map(|event| &**event);
        numbers_of_thrown(events, self.opened.scene.bodies.len())
    }

    /// Records a user's action as an event, before the future ones.
    pub fn happened(&mut self, mut event: Event) {
        let at = self.opened.next_event.min(self.opened.events.len());
        // Steps add up to a hair more or less than the times of events, and a file's events come in the order of their
        // times: this one takes place in the same step either way.
        let (past, future) = self.opened.events.split_at(at);
        let time = past.last().map_or(event.time(), |before| event.time().max(before.time()));
        *event.time_mut() = future.first().map_or(time, |next| time.min(next.time()));
        self.opened.events.insert(at, Arc::new(event));
        self.opened.next_event = at + 1;
    }

    /// The hand of past event number `at` is at `target` (m) in the step of `dt` s that begins at `time` (s).
    pub fn lead_hand(&mut self, at: usize, (time, dt): (f64, f64), target: DVec3) {
        let Some(event) = self.opened.events.get_mut(at) else { return };
        let Event::Hand { time: start, path, .. } = Arc::make_mut(event) else { return };
        let step = step_of(time - *start, dt);
        // A step may be taken again, with a hand that has moved meanwhile.
        path.truncate(step);
        path.resize(step, target);
        path.push(target);
    }

    /// Where the hand of a past event is in the step of `dt` s that begins at `time` (s): what it holds, the point that it
    /// holds (body axes, m) and the hand (world, m).
    pub fn hand_at(&self, time: f64, dt: f64) -> Option<(NamedPiece, DVec3, DVec3)> {
        let past = &self.opened.events[..self.opened.next_event.min(self.opened.events.len())];
        past.iter().rev().find_map(|event| match &**event {
            Event::Hand { time: start, body, parts, anchor, path } if *start <= time + HAIR_STEPS * dt => {
                let piece = NamedPiece { object: *body as usize, parts: parts.clone() };
                Some((piece, *anchor, *path.get(step_of(time - start, dt))?))
            }
            _ => None,
        })
    }

    /// Takes back a hand that has held nothing for a step. Returns whether it had.
    pub fn ended_hold(&mut self, at: usize) -> bool {
        let holds = |event: &Event| matches!(event, Event::Hand { path, .. } if !path.is_empty());
        if self.opened.events.get(at).is_none_or(|event| holds(event)) {
            return true;
        }
        self.opened.events.remove(at);
        self.opened.next_event -= usize::from(at < self.opened.next_event);
        false
    }

    /// Adds an object that the user throws; returns its index, which its event must claim: objects that are still to
    /// come have their numbers already, by which events and tuned values name them.
    pub fn add_object(&mut self, object: ObjectInfo) -> usize {
        let number = self.opened.objects.len();
        self.opened.objects.push(Arc::new(object));
        // An object of this number may have been taken back.
        if self.tuning.own.contains_key(&number) {
            Arc::make_mut(&mut self.tuning.own).remove(&number);
        }
        number
    }

    /// Sets where an object of the scene starts, as `entry` says.
    pub fn set_start(&mut self, object: usize, entry: &SceneBody) {
        let set = |body: &mut SceneBody| {
            (body.position, body.rotation, body.on_floor) = (entry.position, entry.rotation, entry.on_floor);
        };
        if let Some(body) = Arc::make_mut(&mut self.opened.scene).bodies.get_mut(object) {
            set(body);
        }
        if let Some(info) = self.opened.objects.get_mut(object) {
            set(&mut Arc::make_mut(info).scene);
        }
    }

    /// Adds an object to those of the scene, before all that are thrown; returns its index.
    pub fn insert_object(&mut self, object: ObjectInfo) -> usize {
        let number = self.opened.scene.bodies.len();
        self.renumber(|other| Some(if other < number { other } else { other + 1 }));
        Arc::make_mut(&mut self.opened.scene).bodies.push(object.scene.clone());
        self.opened.objects.insert(number, Arc::new(object));
        number
    }

    /// Adds dabs of the brush on an object.
    pub fn add_paint(&mut self, object: usize, paint: Vec<Dab>) {
        let on_it = paint.into_iter().map(|dab| Dab { body: object as u32, ..dab });
        self.tuning.fracture.paint.extend(on_it);
    }

    /// Removes an object of the scene, with what events and values name it.
    pub fn remove_object(&mut self, number: usize) {
        if number < self.opened.scene.bodies.len() {
            let scene = Arc::make_mut(&mut self.opened.scene);
            let name = scene.bodies.remove(number).name;
            scene.pairs.retain(|pair| !name.as_ref().is_some_and(|name| pair.bodies.contains(name)));
            self.opened.objects.remove(number);
            self.renumber(|other| match other.cmp(&number) {
                std::cmp::Ordering::Less => Some(other),
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater => Some(other - 1),
            });
        }
    }

    /// Gives objects other numbers in events and tuned values; what names an object without a number goes.
    fn renumber(&mut self, number: impl Fn(usize) -> Option<usize>) {
        let tuning = &mut self.tuning;
        self.opened.events.retain_mut(|event| {
            let Some(old) = event.object() else { return true };
            let Some(new) = number(old as usize).map(|new| new as u32) else { return false };
            // Snapshots share the event, which a change copies with all of its path.
            if new != old
                && let Some(body) = Arc::make_mut(event).object_mut()
            {
                *body = new;
            }
            true
        });
        let own = tuning.own.iter();
        tuning.own =
            Arc::new(own.filter_map(|(object, own)| Some((number(*object)?, Arc::clone(own)))).collect());
        tuning.focus = tuning.focus.and_then(&number);
        tuning.pairs.retain_mut(|pair| {
            let [a, b] = pair.bodies.map(&number);
            a.zip(b).inspect(|(a, b)| pair.bodies = [*a, *b]).is_some()
        });
        tuning
            .fracture
            .paint
            .retain_mut(|dab| number(dab.body as usize).inspect(|new| dab.body = *new as u32).is_some());
    }

    /// The scene with its tuned values, to save, but without the pinned impact, which needs the bodies.
    pub fn to_save(&self, camera: Camera) -> Scene {
        let mut scene = Scene::clone(&self.opened.scene);
        scene.events = self.opened.events.iter().map(|event| Event::clone(event)).collect();
        scene.tidy_numbers();
        // Names first, by which pairs know bodies.
        self.write_values(&mut scene);
        self.tuning.put_physics(&mut scene);
        scene.camera = Some(camera);
        self.tuning.view.put_look(&mut scene);
        scene.saved_views.clone_from(&self.tuning.saved_views);
        scene.backdrop.clone_from(&self.tuning.backdrop);
        scene.slices.clone_from(&self.tuning.slices);
        scene
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn blow(time: f64) -> Event {
        Event::Impact {
            time,
            point: DVec3::ZERO,
            direction: DVec3::X,
            speed: 1.0,
            body: None,
            parts: Vec::new(),
            fracture: None,
            hold: false,
            energy: None,
            at_once: false,
        }
    }

    fn throw(time: f64) -> Event {
        Event::Projectile { time, object: None, body: Box::default() }
    }

    #[test]
    fn events_come_in_their_time_and_what_the_user_does_comes_before_the_rest() {
        let mut document = Document::new(Tuning::default());
        let events = vec![throw(0.1), blow(0.2), throw(0.3)];
        document.open(Scene { events, ..Scene::default() }, Vec::new());
        assert!(document.next_due(0.0, 0.01).is_none());
        assert_eq!(document.next_due(0.25, 0.01), Some((throw(0.1), 0)));
        assert_eq!(document.next_due(0.25, 0.01), Some((blow(0.2), 1)));
        assert!(document.next_due(0.25, 0.01).is_none());
        document.happened(throw(0.25));
        assert_eq!((document.events_over(), document.thrown()), (3, 2));
        assert_eq!(document.next_due(1.0, 0.01), Some((throw(0.3), 2)));
        let then = document.was_open(None);
        document.go_to_event(99);
        assert_eq!(document.events_over(), 4);
        document.go_to_event(1);
        assert_eq!(document.next_due(1.0, 0.01), Some((blow(0.2), 1)), "it happens again");
        document.put_back(&then);
        assert!(document.next_due(1.0, 0.01).is_none());
    }

    #[test]
    fn what_the_user_does_stands_in_the_order_of_times_where_it_happened() {
        let mut document = Document::new(Tuning::default());
        document.open(Scene { events: vec![blow(0.1), blow(0.3)], ..Scene::default() }, Vec::new());
        // Steps begin a hair before the one and after the other.
        assert!(document.next_due(0.1 - 1e-6, 0.01).is_some());
        document.happened(throw(0.1 - 1e-6));
        document.happened(throw(0.2));
        document.happened(throw(0.3 + 1e-9));
        let mut times: Vec<f64> = document.opened.events.iter().map(|event| event.time()).collect();
        assert_eq!(times, [0.1, 0.1, 0.2, 0.3, 0.3]);
        times.clear();
        times.extend(document.events_left().map(Event::time));
        assert_eq!(times, [0.3], "the scene's own is still to come");
    }

    #[test]
    fn other_numbers_of_objects_copy_only_the_events_that_name_them() {
        let hand = |body: u32| {
            let (parts, path) = (Vec::new(), vec![DVec3::X; 3]);
            Event::Hand { time: 0.0, body, parts, anchor: DVec3::ZERO, path }
        };
        let mut document = Document::new(Tuning::default());
        let events = vec![hand(0), hand(1), blow(0.1), throw(0.1), hand(2)];
        document.open(Scene { events, ..Scene::default() }, Vec::new());
        let before = document.was_open(None);
        document.renumber(|object| match object {
            0 => Some(0),
            1 => None,
            _ => Some(object - 1),
        });
        let left: Vec<Event> = document.events_left().cloned().collect();
        assert_eq!(left, [hand(0), blow(0.1), throw(0.1), hand(1)]);
        let is_shared = |event: &Arc<Event>| before.events.iter().any(|old| Arc::ptr_eq(old, event));
        let shared: Vec<bool> = document.opened.events.iter().map(is_shared).collect();
        assert_eq!(shared, [true, true, true, false]);
        document.put_back(&before);
        assert_eq!(document.events_left().last(), Some(&hand(2)), "the snapshot keeps the old number");
    }

    #[test]
    fn steps_that_add_up_to_a_hair_less_than_the_time_of_an_event_are_enough() {
        let sum = |steps: u32| (0..steps).map(|_| 0.01).sum::<f64>();
        assert!(sum(10) < 0.1, "else this says nothing");
        for steps in [10, 20, 57, 500] {
            let mut document = Document::new(Tuning::default());
            let events = vec![throw(f64::from(steps) / 100.0)];
            document.open(Scene { events, ..Scene::default() }, Vec::new());
            assert!(document.next_due(sum(steps - 1), 0.01).is_none(), "{steps}");
            assert!(document.next_due(sum(steps), 0.01).is_some(), "{steps}");
        }
    }

    #[test]
    fn a_broken_body_has_no_pin_and_a_locked_seed_stays() {
        let aim =
            super::super::Aim { body: BodyId(3), point_in_grid: DVec3::ZERO, direction_in_grid: DVec3::X };
        let mut document = Document::new(Tuning::default());
        document.pin_as_opened(Pin { aim, kept: None });
        let rng = document.tuning().fracture.rng;
        document.broke(BodyId(2), false);
        assert!(document.tuning().pin.is_some() && document.tuning().fracture.rng == rng);
        document.broke(BodyId(3), true);
        assert!(document.tuning().pin.is_none() && document.tuning().fracture.rng == rng + 1);
        let locked = Tuning { lock_rng: true, ..document.tuning().clone() };
        assert!(!document.set_tuning(locked, |_| true), "nothing moves unlike before");
        document.broke(BodyId(3), true);
        assert_eq!(document.tuning().fracture.rng, rng + 1);
        let mut tuning = document.tuning().clone();
        tuning.gravity = 1.0;
        tuning.pin = Some(Pin { aim, kept: None });
        assert!(document.set_tuning(tuning, |id| id != BodyId(3)));
        assert!(document.tuning().pin.is_none(), "a body that is gone has no pin");
    }
}
