//! Saving a scene in its present state: every break in the axes of the broken body, and the states of all bodies. And
//! opening such a scene: its breaks are repeated before the start.
//!
//! In: bodies and the breaks in their ancestry. Out: a scene that opens in this state. Points of blows are in the
//! bodies' own axes, so cracks do not depend on where a body was when it broke, or on how long the fracture took.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use glam::DVec3;

use super::{Sandbox, SandboxError, striking::front};
use crate::{
    bodies::{Body, BodyId, BodyState},
    fracture::Impact,
    render::Camera,
    scene::{
        Blow, BondDamage, Event, Origin, PartName, Scene, SceneBody, SceneBreak, ScenePose, Status,
        breaking::{Cause, Hold, Waiting, world_from_local},
    },
    svo::Forest,
};

/// The breaks of a scene being repeated.
pub(super) struct Remaking {
    breaks: std::vec::IntoIter<SceneBreak>,
    poses: Vec<ScenePose>,
    deleted: Vec<PartName>,
    /// The log index of each repeated break.
    records: Vec<usize>,
    /// Parts of the present break still to be merged.
    joined: VecDeque<Vec<u32>>,
    /// The body broken last, which merging its parts needs.
    broken: Option<Arc<Forest>>,
    /// Objects that hold together and are still to be cracked.
    held: VecDeque<usize>,
    /// Whether the scene is at its start, so that what holds together then belongs to what a reset restores.
    at_start: bool,
}

impl Remaking {
    /// The breaks of a scene that has just been opened; `None` if it has none.
    pub fn of(scene: &Scene) -> Option<Self> {
        let at_start = scene.breaks.is_empty() && scene.poses.is_empty() && scene.deleted.is_empty();
        let is_named = |object: usize| {
            let whole = |name: &PartName| name.of.is_none() && name.body as usize == object;
            let breaks = scene.breaks.iter().map(SceneBreak::what);
            let poses = scene.poses.iter().map(ScenePose::what);
            breaks.chain(poses).chain(scene.deleted.iter().copied()).any(|name| whole(&name))
        };
        let bodies = scene.bodies.iter().enumerate().filter(|(_, body)| body.hold);
        let held: VecDeque<usize> = bodies.map(|(at, _)| at).filter(|at| !is_named(*at)).collect();
        (!at_start || !held.is_empty()).then(|| Self {
            breaks: scene.breaks.clone().into_iter(),
            poses: scene.poses.clone(),
            deleted: scene.deleted.clone(),
            records: Vec::new(),
            joined: VecDeque::new(),
            broken: None,
            held,
            at_start,
        })
    }

    /// Notes that the present break, of the body `broken`, got the log index `record`.
    pub fn made(&mut self, record: usize, broken: Option<Arc<Forest>>) {
        self.records.push(record);
        self.broken = broken;
    }

    /// The origin of a part; `None` for a whole body.
    fn origin(&self, what: &PartName) -> Option<Origin> {
        let record = *self.records.get(what.of? as usize)?;
        Some(Origin { record, part: what.part as usize })
    }
}

impl Sandbox {
    /// Repeats the next break of the scene, or applies the scene's states once all are repeated. The snapshot that a
    /// reset restores stays that of the whole bodies.
    pub(super) fn remake(&mut self) -> Result<(), SandboxError> {
        let Some(mut remaking) = self.remaking.take() else { return Ok(()) };
        if self.jobs.is_changing_pieces() {
            self.remaking = Some(remaking);
            return Ok(());
        }
        if let (Some(record), Some(parts)) = (remaking.records.last(), remaking.joined.pop_front()) {
            self.unite_parts(*record, &parts)?;
            self.remaking = Some(remaking);
            return Ok(());
        }
        remaking.broken = None;
        let Some(one) = remaking.breaks.next().or_else(|| self.next_to_hold(&mut remaking)) else {
            self.put_all(&remaking)?;
            // Bonds were made with the paint of the time of their crack.
            self.strengthen();
            if remaking.at_start {
                let first = super::past::moment(&self.document, &self.stage, (None, None), None);
                self.history.set_first(Arc::new(first));
            }
            self.document.set_remade_in_part(false);
            return Ok(());
        };
        let hold = one.hold.then(|| Hold {
            damaged: one.damaged.clone(),
            together: (!one.joined.is_empty()).then(|| one.joined.clone()),
        });
        // What bonds hold together is one body without being merged.
        remaking.joined = if one.hold { VecDeque::new() } else { one.joined.iter().cloned().collect() };
        let Some(body) = self.named(&one.what(), &remaking).and_then(|id| self.stage.body(id)) else {
            return Err(no_such_part("break", &one.what()));
        };
        let shape = &body.def.shape;
        let local = shape.as_octree().map_or(one.point, |octree| octree.grid.from_mesh(one.point));
        let impact = Impact { point: local, direction: one.direction.normalize_or(DVec3::NEG_Y) };
        let blow = Blow {
            point: world_from_local(&body.state, shape, local),
            direction: body.state.rotation * impact.direction,
            speed: 0.0,
        };
        let waiting = Waiting {
            body: body.id,
            blow,
            params: one.fracture,
            kept: None,
            cause: Cause::Opening,
            impact: Some(impact),
            piece: None,
            hold,
        };
        self.remaking = Some(remaking);
        self.jobs.breaking.push(waiting);
        Ok(())
    }

    /// The break of the next object that holds together from the start.
    fn next_to_hold(&self, remaking: &mut Remaking) -> Option<SceneBreak> {
        let object = remaking.held.pop_front()?;
        let body = self.stage.body_of(object)?;
        let shape = &body.def.shape;
        let impact = front(shape);
        let point = shape.as_octree().map_or(impact.point, |o| o.grid.origin + o.grid.h * impact.point);
        Some(SceneBreak {
            body: object as u32,
            of: None,
            part: 0,
            point,
            direction: impact.direction,
            joined: Vec::new(),
            hold: true,
            damaged: Vec::new(),
            fracture: self.document.own_params(&self.stage.info_or_whole(body.id)),
        })
    }

    /// Applies the scene's states: places, hides, locks and removes bodies.
    fn put_all(&mut self, remaking: &Remaking) -> Result<(), SandboxError> {
        let mut statuses = (*self.stage.statuses()).clone();
        for pose in &remaking.poses {
            let Some(id) = self.named(&pose.what(), remaking) else {
                return Err(no_such_part("pose", &pose.what()));
            };
            self.put(id, pose);
            let status = Status { hidden: pose.hidden, locked: pose.locked };
            if status != Status::default() {
                statuses.insert(id, status);
            }
        }
        let mut gone = Vec::new();
        for one in &remaking.deleted {
            gone.push(self.named(one, remaking).ok_or_else(|| no_such_part("deleted", one))?);
        }
        // `Stage::remove` wakes the bodies that lay on the removed one, which may be asleep in the scene.
        let asleep: Vec<BodyId> = self.stage.bodies().iter().filter(|b| b.asleep).map(|b| b.id).collect();
        gone.into_iter().for_each(|id| self.stage.remove(id));
        self.stage.set_statuses(Arc::new(statuses));
        for id in asleep {
            if let Some(body) = self.stage.body_mut(id) {
                body.asleep = true;
            }
        }
        Ok(())
    }

    /// The body that a scene names.
    fn named(&self, what: &PartName, remaking: &Remaking) -> Option<BodyId> {
        let origin = remaking.origin(what);
        if origin.is_some() != what.of.is_some() {
            return None;
        }
        let is_it = |body: &&Body| {
            let info = self.stage.info_or_whole(body.id);
            info.object == what.body as usize && info.origin == origin
        };
        self.stage.bodies().iter().find(is_it).map(|body| body.id)
    }

    fn put(&mut self, id: BodyId, pose: &ScenePose) {
        let Some(body) = self.stage.body_mut(id) else { return };
        // A unit quaternion is not normalised again, so that it stays equal to the bit.
        let rotation = pose.rotation;
        body.state = BodyState {
            position: pose.position,
            rotation: if rotation.is_normalized() { rotation } else { rotation.normalize() },
            linear_velocity: pose.linear_velocity,
            angular_velocity: pose.angular_velocity,
        };
        body.wake();
        body.asleep = pose.asleep;
    }

    /// Thrown objects that exist, ascending.
    fn thrown_and_there(&self) -> BTreeSet<usize> {
        let own = self.document.scene().bodies.len();
        let objects = self.stage.bodies().iter().map(|body| self.stage.info_or_whole(body.id).object);
        objects.filter(|object| *object >= own).collect()
    }

    /// The number of an object in [`Sandbox::as_it_stands`]; its present one, if that scene does not have it.
    #[must_use]
    pub fn number_as_it_stands(&self, object: usize) -> usize {
        self.numbers_as_it_stands(&self.thrown_and_there()).get(&object).copied().unwrap_or(object)
    }

    /// The numbers in [`Sandbox::as_it_stands`] by the present ones: the objects of the scene, then the `thrown` ones
    /// that exist, which are bodies of that scene, then those that are still to come. Thrown ones that are gone have
    /// none.
    fn numbers_as_it_stands(&self, thrown: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        let events = self.document.numbers_of_thrown();
        let to_come: BTreeSet<usize> = events.into_iter().skip(self.document.thrown()).collect();
        let all = (0..self.document.scene().bodies.len()).chain(thrown.iter().copied()).chain(to_come);
        all.zip(0..).collect()
    }

    /// Whether pieces were edited, or moved by hand: the user arranged what a scene from its start would have to play first.
    pub(super) fn has_marked_pieces(&self) -> bool {
        self.document.was_moved_by_hand() || self.has_edited_pieces()
    }

    /// Whether pieces were hidden, locked or merged, which a scene that begins with whole objects cannot express.
    fn has_edited_pieces(&self) -> bool {
        let is_merged = |body: &Body| {
            let info = self.stage.info_or_whole(body.id);
            let record = info.origin.and_then(|origin| self.breaks.get(origin.record));
            info.joined.is_some() && !record.is_some_and(|record| record.holds)
        };
        let is_edited = |body: &Body| self.stage.status(body.id) != Status::default() || is_merged(body);
        self.stage.bodies().iter().any(is_edited)
    }

    /// The scene to save: from its start, with the user's actions as events. If pieces were edited, deleted or moved by
    /// hand, the scene in its present state, and `true`. While the breaks of an opened scene are being repeated, the scene
    /// from its start has them all, and the present state only some.
    #[must_use]
    pub fn scene_to_keep(&self, camera: Camera) -> (Scene, bool) {
        let stands = self.remaking.is_none().then(|| self.as_it_stands(camera));
        let is_edited = |stands: &Scene| self.has_marked_pieces() || !stands.deleted.is_empty();
        match stands.filter(is_edited) {
            Some(stands) => (stands, true),
            None => (self.scene(camera), false),
        }
    }

    /// The scene from its start with blows, throws and the hand as events, so that it plays the same again; `None` if pieces
    /// were deleted, hidden, locked or merged, which events cannot express.
    #[must_use]
    pub fn scene_of_take(&self, camera: Camera) -> Option<Scene> {
        let is_edited = self.remaking.is_some() || self.has_edited_pieces();
        let has_all = || self.as_it_stands(camera).deleted.is_empty();
        (!is_edited && has_all()).then(|| self.scene(camera))
    }

    /// The scene in its present state: it opens with the same pieces in the same places. Past events are left out,
    /// future ones stay, and time restarts at zero.
    #[must_use]
    pub fn as_it_stands(&self, camera: Camera) -> Scene {
        self.as_these_stand(camera, &|_| true)
    }

    /// The same, with bodies that are not `kept` listed as deleted.
    pub(in crate::scene) fn as_these_stand(&self, camera: Camera, kept: &dyn Fn(&Body) -> bool) -> Scene {
        let mut scene = self.scene(camera);
        let over = self.document.events_over();
        let time = self.stage.time();
        // Thrown bodies become bodies of the scene, which come first in a scene's numbering.
        let bodies = || {
            let kept = self.stage.bodies().iter().filter(|body| kept(body));
            kept.map(|body| (body, self.stage.info_or_whole(body.id)))
        };
        let thrown = self.thrown_and_there();
        let numbers = self.numbers_as_it_stands(&thrown);
        // With the values that the panels give them.
        let there = scene.objects().enumerate().filter(|(object, _)| thrown.contains(object));
        let there: Vec<SceneBody> = there.map(|(_, body)| body.clone()).collect();
        // What is still to come keeps its number, also without the events before it.
        scene.claim_numbers();
        scene.bodies.extend(there);
        scene.events.drain(..over.min(scene.events.len()));
        scene.events.retain_mut(|event| {
            let at = event.time_mut();
            *at = (*at - time).max(0.0);
            let Some(old) = event.object() else { return true };
            let new = numbers.get(&(old as usize)).and_then(|new| u32::try_from(*new).ok());
            match (new, &mut *event) {
                // A blow falls on what is nearest then. Nothing else can happen to what is gone.
                (None, Event::Impact { body, .. }) => *body = None,
                (None, _) => return false,
                (Some(new), event) => event.object_mut().into_iter().for_each(|object| *object = new),
            }
            true
        });
        scene.tidy_numbers();
        let names: BTreeSet<String> = scene.objects().filter_map(|body| body.name.clone()).collect();
        scene.pairs.retain(|pair| pair.bodies.iter().all(|name| names.contains(name)));
        let records: BTreeMap<usize, _> =
            bodies().flat_map(|(_, info)| self.breaks.line(info.origin)).collect();
        let number: BTreeMap<usize, u32> = records.keys().copied().zip(0..).collect();
        let number_of = |object: usize| numbers.get(&object).copied().unwrap_or(object) as u32;
        let name = |object: usize, origin: Option<Origin>| PartName {
            body: number_of(object),
            of: origin.and_then(|origin| number.get(&origin.record).copied()),
            part: origin.map_or(0, |origin| origin.part as u32),
        };
        scene.breaks = records
            .values()
            .map(|record| {
                let PartName { body, of, part } = name(record.object, record.broken);
                let Impact { point, direction } = record.impact;
                let (joined, fracture) = (Vec::new(), record.params.clone());
                let (hold, damaged) = (record.holds, Vec::new());
                SceneBreak { body, of, part, point, direction, joined, hold, damaged, fracture }
            })
            .collect();
        for (body, info) in bodies() {
            let Some(structure) = &body.def.structure else { continue };
            let Some(number) = info.origin.and_then(|origin| number.get(&origin.record)) else { continue };
            let damaged = structure.bonds.iter().filter(|bond| bond.damage > 0.0);
            let damaged = damaged.map(|b| BondDamage { parts: b.section.parts, damage: b.damage });
            scene.breaks[*number as usize].damaged.extend(damaged);
        }
        scene.poses = bodies()
            .map(|(body, info)| {
                let PartName { body: object, of, part } = name(info.object, info.origin);
                let BodyState { position, rotation, linear_velocity, angular_velocity } = body.state;
                let asleep = body.asleep;
                let Status { hidden, locked } = self.stage.status(body.id);
                ScenePose {
                    body: object,
                    of,
                    part,
                    position,
                    rotation,
                    linear_velocity,
                    angular_velocity,
                    asleep,
                    hidden,
                    locked,
                }
            })
            .collect();
        // The parts of each break that exist or broke again.
        let mut there: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut seen = |origin: Option<Origin>, joined: Option<usize>| {
            let Some(origin) = origin else { return };
            let parts = self.breaks.parts(Some(origin), joined);
            let holds = records.get(&origin.record).is_some_and(|record| record.holds);
            if let (true, Some(number)) = (joined.is_some() || holds, number.get(&origin.record)) {
                let lists = &mut scene.breaks[*number as usize].joined;
                let list: Vec<u32> = parts.iter().map(|part| *part as u32).collect();
                if !lists.contains(&list) {
                    lists.push(list);
                }
            }
            there.entry(origin.record).or_default().extend(parts);
        };
        bodies().for_each(|(_, info)| seen(info.origin, info.joined));
        records.values().for_each(|record| seen(record.broken, record.joined));
        let whole: BTreeSet<usize> =
            bodies().filter(|(_, info)| info.origin.is_none()).map(|(_, i)| i.object).collect();
        let broken: BTreeSet<usize> = records.values().map(|record| record.object).collect();
        let gone = (0..self.document.scene().bodies.len())
            .chain(thrown.iter().copied())
            .filter(|object| !whole.contains(object) && !broken.contains(object))
            .map(|object| PartName { body: number_of(object), of: None, part: 0 });
        let gone_parts = records.iter().flat_map(|(at, record)| {
            let parts =
                (0..record.cells.len()).filter(|part| !there.get(at).is_some_and(|t| t.contains(part)));
            parts.map(|part| name(record.object, Some(Origin { record: *at, part })))
        });
        scene.deleted = gone.chain(gone_parts).collect();
        scene
    }
}

fn no_such_part(table: &str, what: &PartName) -> SandboxError {
    let of = what.of.map_or(String::new(), |of| format!(", part {} of break {of}", what.part));
    SandboxError::NoSuchPart(format!(
        "a [[{table}]] of the scene names body {}{of}, which is not there; was the mesh or its level changed since?",
        what.body
    ))
}
