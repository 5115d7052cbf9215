//! Bodies whose parts bonds hold together: cracks them, lets their bonds fail, and takes apart what has come apart.
//!
//! In: breaks whose parts hold, the responses of structures to a step, blows. Out: a body with a structure; and once
//! bonds have failed, a body for each set of parts that is still connected. A worker makes their shapes; simulated time
//! stands still until they are there.

use std::sync::Arc;

use glam::DVec3;

use super::{Sandbox, SandboxError};
use crate::{
    bodies::{
        Body, BodyDef, BodyId, StructureStep,
        structure::{Bond, Strength, Structure},
    },
    fracture::{FractureError, FractureParams},
    geometry::UnionFind,
    scene::{
        Blow, BodyInsides, BreakJob, BreakRecord,
        breaking::{Cause, Hold, TimedBreak, first_radius, motion_checks, part_state, push},
        debris::BondFailure,
        jobs::Split,
        lumps,
        stage::PartOfSplit,
        strength::Around,
    },
    svo::Arena,
};

/// How far a blow without energy ends bonds of other parts than the struck one, as a multiple of that one's size (the edge of a
/// cube of its volume).
const KNOCK_REACH: f64 = 1.0;
/// Share of the energy of bodies that touch each other above which a step is taken again where blows took structures apart
/// in it. What a smaller blow leaves is lost, as in a collision that is not elastic.
const WORTH_RETAKING: f64 = 0.03;
/// Factor by which that share grows each time: it passes 1 at the 16th, so that every step ends.
const MORE_EACH_TIME: f64 = 1.25;

impl Sandbox {
    /// Makes one body of the parts of a break that hold.
    pub(super) fn take_in_held(
        &mut self,
        arena: &mut Arena,
        job: &BreakJob,
        hold: &Hold,
        TimedBreak { broken, sections, seconds }: TimedBreak,
    ) -> Result<(), SandboxError> {
        let Some(body) = self.stage.body(job.body).cloned() else { return Ok(()) };
        if let Some(problem) = broken.params.hold_problem() {
            return Err(FractureError::Params(format!("what holds by bonds {problem}")).into());
        }
        if broken.parts.len() < 2 {
            return Err(SandboxError::NoCrack);
        }
        if sections.is_empty() {
            let text = "no two of the parts share a crack that bonds could hold closed; give the fracture other seeds";
            return Err(FractureError::Params(text.into()).into());
        }
        let info = self.stage.info_or_whole(body.id);
        let strength = self.document.strength_of(info.object);
        let around = Around { floor: self.stage.settings().floor, bodies: self.stage.bodies() };
        let structure = strength.structure(&body, (&broken, &sections), &around);
        // What a scene says of bonds and anchors is of the body as it comes; of one that was cracked later, boxes may be
        // elsewhere.
        let is_as_it_comes = matches!(job.cause, Cause::Opening | Cause::Event)
            && info.origin.is_none()
            && self.document.values_of(info.object).is_some_and(|own| own.hold);
        if let Some(problem) = strength.unmet(&body, &structure) {
            let name = self.document.objects().get(info.object).map_or("a body", |object| &*object.name);
            let problem = format!("{name}: {problem}");
            if is_as_it_comes {
                return Err(SandboxError::Bonds(problem));
            }
            tracing::warn!("{problem}");
        }
        // The parts are drawn one by one.
        for octree in broken.parts.iter().filter_map(|part| part.shape.as_octree()) {
            self.take_in(arena, &octree.forest)?;
        }
        let shapes = broken.parts.iter().map(|part| &part.shape);
        self.stage.hold_surfaces(shapes, || self.history.shrink() || self.timeline.shrink());
        let label = self.name_of_break(body.id, job.cause).replacen("break", "crack", 1);
        match job.cause {
            Cause::User => self.keep_step(&label),
            Cause::Collision | Cause::Event => self.keep_step_of_itself(&label),
            Cause::Opening | Cause::Again => {}
        }
        self.document.broke(job.body, job.cause == Cause::User);
        let structure = structure.changed(|bonds| {
            for bond in bonds {
                let parts = bond.section.parts;
                let known = hold.damaged.iter().find(|known| known.parts == parts);
                bond.damage = known.map_or(0.0, |known| known.damage);
                if let Some(together) = &hold.together
                    && !together.iter().any(|set| parts.iter().all(|part| set.contains(part)))
                {
                    bond.damage = 1.0;
                }
            }
        });
        let fixed = body.def.fixed || structure.is_anchored();
        let mut record = BreakRecord::new(&body, &info, job, (&broken, seconds), self.stage.time());
        record.holds = true;
        let record = self.breaks.push(record);
        if let (Some(remaking), Cause::Opening) = (&mut self.remaking, job.cause) {
            let broken = body.def.shape.as_octree().map(|octree| Arc::clone(&octree.forest));
            remaking.made(record, broken);
        }
        let joined = self.breaks.join((0..broken.parts.len()).collect());
        let structure = Arc::new(structure);
        self.stage.hold_together(body.id, (Arc::clone(&structure), fixed), (record, joined));
        if job.cause == Cause::User {
            self.note_blow(&job.blow, &info, &broken.params, (true, None));
        }
        // No blow pushes a body whose parts hold.
        let still = (&Blow { speed: 0.0, ..job.blow }, first_radius(&job.params));
        let after: Vec<&Body> = self.stage.body(body.id).into_iter().collect();
        let motion = motion_checks(&body, &after, still, &broken);
        self.sum_up(job, (broken, seconds), &body, motion);
        if job.cause != Cause::Opening {
            self.record_change(job.cause != Cause::User);
        }
        if structure.components().len() > 1 {
            self.settle(body.id, (*structure).clone(), None)?;
        }
        Ok(())
    }

    /// Notes the bonds that failed in the last step, which ended at `time` (s), and weakens those that its blows wore.
    ///
    /// # Errors
    /// [`SandboxError::Bonds`] if the break of a body is no longer in memory.
    pub(super) fn let_bonds_fail(&mut self, time: f64) -> Result<(), SandboxError> {
        // A step that is taken again wears nothing yet: its blows fall a second time.
        let wears = self.taken_back == 0;
        let changes = |step: &&StructureStep| {
            !step.response.failures.is_empty() || wears && !step.response.wear.is_empty()
        };
        let changed: Vec<_> = self.stage.world().structure_steps().iter().filter(changes).cloned().collect();
        let has_worn = wears && changed.iter().any(|step| !step.response.wear.is_empty());
        for step in changed {
            let Some(body) = self.stage.body(step.body) else { continue };
            let Some(structure) = body.def.structure.clone() else { continue };
            let info = self.stage.info_or_whole(body.id);
            let at = (time, info.object, info.origin.map_or(0, |origin| origin.record));
            let (response, held) = (&step.response, (&*structure, body));
            let notes: Vec<BondFailure> = response
                .failures
                .iter()
                .map(|failure| BondFailure::of(failure, held, response, at))
                .collect();
            self.note_failures(notes);
            let after = match wears {
                true => structure.after_step(&step.response),
                false => structure.after(&step.response.failures),
            };
            self.settle(step.body, after, None)?;
        }
        if has_worn {
            // The same blow does not fall again, so what goes on from here must have its damage.
            self.record_change(true);
        }
        Ok(())
    }

    /// Whether a blow of the last step has taken a structure apart that the step should not have treated as one body: what
    /// the structure did not take of the blow is more than a share ([`WORTH_RETAKING`]) of the energy of all that touches.
    pub(super) fn comes_apart_by_blow(&self) -> bool {
        let comes_apart = |step: &&StructureStep| {
            let failures = &step.response.failures;
            let structure = self.stage.body(step.body).and_then(|body| body.def.structure.as_deref());
            failures.iter().any(|failure| failure.by_blow)
                && structure.is_some_and(|structure| structure.after(failures).components().len() > 1)
        };
        let steps: Vec<_> = self.stage.world().structure_steps().iter().filter(comes_apart).collect();
        if steps.is_empty() {
            return false;
        }
        let bodies = self.stage.bodies();
        let index_of = |id: BodyId| bodies.binary_search_by_key(&id, |body| body.id).ok();
        // What lies on one fixed body is no island by that, unless the body is what comes apart.
        let hands_on = |k: &usize| !bodies[*k].is_static() || bodies[*k].def.structure.is_some();
        let mut islands = UnionFind::new(bodies.len());
        for push in self.stage.pushes() {
            let [a, b] =
                [Some(push.bodies.0), push.bodies.1].map(|id| id.and_then(index_of).filter(hands_on));
            if let (Some(a), Some(b)) = (a, b) {
                islands.join(a as u32, b as u32);
            }
        }
        // Of each island: J that moves, and J that structures did not take.
        let mut energies = vec![(0.0, 0.0); bodies.len()];
        for (k, body) in bodies.iter().enumerate().filter(|(_, body)| !body.is_static()) {
            energies[islands.find(k as u32) as usize].0 += body.kinetic_energy();
        }
        for step in steps {
            let Some(k) = index_of(step.body) else { continue };
            let response = &step.response;
            energies[islands.find(k as u32) as usize].1 += response.blow * response.unspent.powi(2);
        }
        let worth = WORTH_RETAKING * MORE_EACH_TIME.powi(self.taken_back as i32);
        energies.iter().any(|(moving, unspent)| *unspent > worth * (moving + unspent))
    }

    /// Whether the last step was taken back, to be taken again with what a blow has left of a structure, or waits for the
    /// pieces of a blow.
    #[must_use]
    pub fn is_mid_step(&self) -> bool {
        self.taken_back > 0 || self.waits_for_pieces
    }

    /// Keeps an error for the next [`Sandbox::poll`]; of several the first.
    pub(super) fn keep_error(&mut self, result: Result<(), SandboxError>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }

    /// Gives a body its changed structure; takes it apart where that is no longer connected.
    fn settle(
        &mut self,
        id: BodyId,
        structure: Structure,
        blow: Option<(Blow, f64)>,
    ) -> Result<(), SandboxError> {
        let sets = structure.components();
        if sets.len() < 2 {
            self.stage.set_structure(id, Arc::new(structure));
            return Ok(());
        }
        let origin = self.stage.info_or_whole(id).origin;
        let of_meshes = structure.parts.iter().all(|part| part.shape.as_mesh().is_some());
        let ingredients = match !of_meshes && sets.iter().any(|set| set.len() > 1) {
            true => self.trees_of(origin.map_or(usize::MAX, |origin| origin.record)).map_err(|_| gone())?,
            false => crate::scene::jobs::Ingredients::Meshes(Vec::new()),
        };
        let opening = self.remaking.is_some();
        self.jobs.splitting.push(Split { body: id, structure, sets, ingredients, blow, opening });
        Ok(())
    }

    /// Replaces a body that has come apart, once the shapes are made; returns whether there was one.
    ///
    /// # Errors
    /// [`SandboxError`]; the body is then as before.
    pub(super) fn take_in_split(&mut self, arena: &mut Arena) -> Result<bool, SandboxError> {
        let Some((split, shapes)) = self.jobs.splitting.poll()? else { return Ok(false) };
        let shapes = shapes?;
        let Some(mut body) = self.stage.body(split.body).cloned() else { return Ok(false) };
        for octree in shapes.iter().filter_map(|shape| shape.as_octree()) {
            let forest = Arc::clone(&octree.forest);
            if let Err(error) = self.take_in(arena, &forest) {
                // The shapes are made again on the recovered device.
                if error.is_loss() {
                    self.jobs.splitting.push(split);
                }
                return Err(error.into());
            }
        }
        self.stage.hold_surfaces(&shapes, || self.history.shrink() || self.timeline.shrink());
        let Split { structure, sets, blow, opening, .. } = split;
        if body.is_static() {
            (body.state.linear_velocity, body.state.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        }
        let structure = Arc::new(structure);
        let part = |(set, shape): (&Vec<u32>, Arc<crate::shape::Shape>)| {
            let own = structure.of_parts(set);
            let mut state = part_state(&body.state, &body.def.shape, &shape);
            let fixed = own.is_anchored();
            if let Some((blow, reach)) = blow.filter(|_| !fixed) {
                state.linear_velocity += push(&blow, state.position, body.state.position, reach);
            }
            let numbers: Vec<usize> = own.parts.iter().map(|part| part.number as usize).collect();
            let (first, several) = (numbers[0], numbers.len() > 1);
            let mut def = BodyDef {
                shape,
                state,
                fixed,
                structure: several.then(|| Arc::new(own)),
                ..body.def.clone()
            };
            // The density may have changed while the shapes were made.
            if def.shape.density() != body.def.shape.density() {
                def.set_density(body.def.shape.density());
            }
            (def, first, several.then_some(numbers))
        };
        let parts: Vec<_> = sets.iter().zip(shapes).map(part).collect();
        let parts = parts.into_iter().map(|(def, part, joined)| {
            let joined = joined.map(|numbers| self.breaks.join(numbers));
            PartOfSplit { def, part, joined }
        });
        let parts = parts.collect();
        self.stage.split(body.id, parts);
        if !opening {
            self.record_change(blow.is_none());
        }
        Ok(true)
    }

    /// A blow on a body whose parts hold: bonds near the point lose as much strength as the `energy` (J) takes; where none is
    /// given, those of the struck part and of what is near it fail.
    pub(super) fn strike_structure(
        &mut self,
        id: BodyId,
        blow: Blow,
        params: &FractureParams,
        energy: Option<f64>,
    ) -> Result<(), SandboxError> {
        let Some(body) = self.stage.body(id) else { return Ok(()) };
        let Some(structure) = body.def.structure.clone() else { return Ok(()) };
        let (point, mut radius) = knock_at(body, &blow, params);
        // A blow without energy frees what it meets, not all that a break would reach.
        let struck = structure.part_at(point).filter(|_| energy.is_none());
        if let Some(part) = struck {
            let volume = structure.parts[part as usize].shape.mass().volume_m3;
            radius = radius.min(KNOCK_REACH * libm::cbrt(volume));
        }
        let changed = match energy {
            Some(energy) => structure.weakened(point, radius, energy),
            None => Some(structure.changed(|bonds| {
                let is_struck = |bond: &&mut Bond| {
                    struck.is_some_and(|part| bond.ends.contains(&part))
                        || bond.section.centre.distance(point) <= radius
                };
                bonds.iter_mut().filter(is_struck).for_each(|bond| bond.damage = 1.0);
            })),
        };
        if let Some(changed) = changed {
            self.stage.wake_all();
            self.settle(id, changed, Some((blow, radius)))?;
        }
        Ok(())
    }

    /// Gives all bonds the strength that the document says. Wakes the bodies where that changes any.
    pub(super) fn strengthen(&mut self) {
        let held = self.stage.bodies().iter().filter_map(|body| {
            let structure = body.def.structure.as_deref()?;
            let object = self.stage.info_or_whole(body.id).object;
            let (strength, paint) = (self.document.strength_of(object), self.document.paint_on(object));
            let new = strength.given_to(structure, &paint);
            let is_same = |(a, b): (&Bond, &Bond)| a.share == b.share;
            let differs =
                new.strength != structure.strength || !new.bonds.iter().zip(&structure.bonds).all(is_same);
            differs.then(|| (body.id, Arc::new(new)))
        });
        let held: Vec<_> = held.collect();
        if !held.is_empty() {
            held.into_iter().for_each(|(id, structure)| self.stage.set_structure(id, structure));
            self.stage.wake_all();
        }
    }

    /// Strength of the bonds of an object, whether bonds hold it or not.
    #[must_use]
    pub fn bond_strength(&self, object: usize) -> Strength {
        self.document.strength_of(object).strength()
    }

    /// Of every part of an object's structure the lump that it is in at each level, the coarsest first; of none where the
    /// object has no lumps.
    pub(in crate::scene) fn lumps_of(&self, object: usize, structure: &Structure) -> Vec<Vec<u32>> {
        let strength = self.document.strength_of(object);
        lumps::of_parts(structure, &strength.lumps, strength.rng)
    }

    /// The materials inside the bodies.
    #[must_use]
    pub fn insides(&self) -> BodyInsides {
        BodyInsides::new(self.document.insides(), &self.breaks)
    }
}

/// Why a body that has come apart stays whole all the same.
fn gone() -> SandboxError {
    let text = "bonds failed, but the break of the body that they held is no longer in memory; undo its crack, and crack it \
                again";
    SandboxError::Bonds(text.into())
}

/// Where a blow falls, shape space, m, and how far it reaches, m.
fn knock_at(body: &Body, blow: &Blow, params: &FractureParams) -> (DVec3, f64) {
    let shape = &body.def.shape;
    let local = shape.to_local(body.state.position, body.state.rotation, blow.point);
    (shape.shape_from_local(local), first_radius(params) * body.def.object_size_m)
}
