//! All bodies of a scene.

use super::{
    Body, BodyDef, BodyId, BodyState, Drag, LevelOfDetail, OnGpu, PairLevels, Plane, StepReport,
    WorldSettings,
    body::index_of,
    broad_phase::BroadPhase,
    clearance::Clearances,
    collide::{GeneratorMemory, Generators, Manifold},
    impacts::{Impact, Struck},
    integrate,
    measure::Measure,
    solver::ActiveSolver,
    step::{self, Contact, Push},
    structure::{BondLoad, Memory, Strength},
    structure_step::{Memories, StructureStep, is_unloaded},
};
use crate::gpu::{Gpu, GpuError};
use glam::DVec3;
use std::{collections::BTreeMap, time::Instant};

/// All bodies.
pub struct World {
    /// Settings; may be changed between steps.
    pub settings: WorldSettings,
    /// In order of creation.
    pub bodies: Vec<Body>,
    /// Levels given to pairs.
    pub pair_levels: PairLevels,
    /// Where [`WorldSettings::adaptive`] looks from, m.
    pub eye: Option<DVec3>,
    /// A hand on a body.
    pub drag: Option<Drag>,
    /// Whether steps keep the impulses of each substep for [`World::substep_contacts`]. Bodies move the same either way.
    pub contact_substeps: bool,
    /// Strengths of bodies that no bonds hold and that may break; steps judge the blows on them ([`World::struck`]).
    pub strengths: BTreeMap<BodyId, Strength>,
    /// Whether steps note [`World::impacts`]. Bodies move the same either way.
    pub keeps_impacts: bool,
    pub(super) time: f64,
    /// Contacts of the last step, for warm starting.
    pub(super) manifolds: Vec<Manifold>,
    /// Of the last step, a row for each substep.
    pub(super) substep_contacts: Vec<Contact>,
    /// Floor and walls of the last step.
    pub(super) planes: Vec<Plane>,
    /// Of the last step.
    pub(super) pushes: Vec<Push>,
    /// Of the last step.
    pub(super) struck: Vec<Struck>,
    /// Of the last step.
    pub(super) impacts: Vec<Impact>,
    /// Of the last step.
    pub(super) structure_steps: Vec<StructureStep>,
    pub(super) structure_memories: Memories,
    pub(super) broad_phase: BroadPhase,
    pub(super) clearances: Clearances,
    pub(super) generators: Generators,
    pub(super) responder: ActiveSolver,
    pub(super) measure: Measure,
    /// How long generators took to follow breaks since the last step, ms.
    pub(super) follow_ms: f64,
    next_id: u32,
}

impl World {
    /// An empty world.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: Option<&Gpu>, settings: WorldSettings) -> Result<Self, GpuError> {
        let generators = Generators::new(settings.contacts, gpu)?;
        Ok(Self { generators, ..Self::on_cpu(settings) })
    }

    /// An empty world that looks for contacts on the CPU; see [`World::step_on_cpu`].
    #[must_use]
    pub fn on_cpu(settings: WorldSettings) -> Self {
        Self {
            settings,
            bodies: Vec::new(),
            pair_levels: PairLevels::default(),
            eye: None,
            drag: None,
            time: 0.0,
            contact_substeps: false,
            strengths: BTreeMap::new(),
            keeps_impacts: false,
            manifolds: Vec::new(),
            substep_contacts: Vec::new(),
            planes: Vec::new(),
            pushes: Vec::new(),
            struck: Vec::new(),
            impacts: Vec::new(),
            structure_steps: Vec::new(),
            structure_memories: Memories::new(),
            broad_phase: BroadPhase::default(),
            clearances: Clearances::default(),
            generators: Generators::default(),
            responder: ActiveSolver::default(),
            measure: Measure::default(),
            follow_ms: 0.0,
            next_id: 0,
        }
    }

    /// Adds a body.
    pub fn add(&mut self, def: BodyDef) -> BodyId {
        let id = BodyId(self.next_id);
        self.next_id += 1;
        let mut state = def.state;
        state.rotation = state.rotation.normalize();
        let frozen = !state.is_finite();
        if frozen {
            state = BodyState::at(DVec3::ZERO);
        }
        let rest_pose = (state.position, state.rotation);
        let body = Body {
            id,
            def,
            state,
            asleep: false,
            frozen,
            locked: false,
            still_secs: 0.0,
            slow_secs: 0.0,
            rest_pose,
        };
        self.bodies.push(body);
        id
    }

    /// Adds a body under the name of one that was removed, to take the removal back; under a new one where
    /// the name is in use.
    pub fn add_as(&mut self, id: BodyId, def: BodyDef) -> BodyId {
        let taken = self.body(id).is_some();
        let new = self.add(def);
        let Some(mut body) = self.bodies.pop_if(|_| !taken) else {
            return new;
        };
        body.id = id;
        self.measure.forget_names();
        self.next_id = self.next_id.max(id.0.saturating_add(1));
        // Bodies are looked up by bisection: they stay in ascending order of their names.
        let at = self.bodies.partition_point(|b| b.id < id);
        self.bodies.insert(at, body);
        id
    }

    /// Removes a body. What may have rested on it wakes.
    pub fn remove(&mut self, id: BodyId) -> Option<Body> {
        let at = self.index(id)?;
        let body = self.bodies.remove(at);
        let bodies = &mut self.bodies;
        for m in &self.manifolds {
            if m.touches(id) && !m.points.is_empty() {
                let others = bodies.iter_mut().filter(|b| m.touches(b.id));
                others.for_each(Body::wake);
            }
        }
        self.manifolds.retain(|m| !m.touches(id));
        self.substep_contacts.retain(|contact| contact.bodies.0 != id && contact.bodies.1 != Some(id));
        self.generators.removed(id, &self.bodies);
        self.clearances.keep(&self.bodies);
        self.responder.removed(id, &self.bodies);
        self.measure.removed(&self.bodies);
        Some(body)
    }

    /// Puts `parts` in the place of a body that breaks: generators and responses hear of it, and it is removed.
    /// Gives the names of the parts, in their order.
    pub fn break_up(&mut self, id: BodyId, parts: impl IntoIterator<Item = BodyDef>) -> Vec<BodyId> {
        let ids: Vec<BodyId> = parts.into_iter().map(|def| self.add(def)).collect();
        if let Some(at) = self.index(id) {
            // New bodies have the greatest names, so they are the last ones.
            let (before, parts) = self.bodies.split_at(self.bodies.len() - ids.len());
            if let Some(parent) = before.get(at) {
                self.generators.set_options(&self.settings.options);
                let started = Instant::now();
                if self.generators.broke(parent, parts) {
                    self.follow_ms += started.elapsed().as_secs_f64() * 1e3;
                }
                self.responder.broke(parent, parts);
            }
            self.remove(id);
        }
        ids
    }

    /// What the generator of this name knows now; none where it finds no contacts here.
    #[must_use]
    pub fn memory_of(&self, generator: &str) -> GeneratorMemory {
        self.generators.memory_of(generator)
    }

    /// What held bodies apart in the last step, in order of pair.
    #[must_use]
    pub fn manifolds(&self) -> &[Manifold] {
        &self.manifolds
    }

    /// Who pushed whom in the last step, all its searches for contacts together, in order of pair. A response
    /// without impulses at points tells of none.
    #[must_use]
    pub fn pushes(&self) -> &[Push] {
        &self.pushes
    }

    /// Blows of the last step on bodies that have [`World::strengths`], in order of body; without those that would not pay
    /// for a crack.
    #[must_use]
    pub fn struck(&self) -> &[Struck] {
        &self.struck
    }

    /// The collisions of the last step, one for each pair, in order of pair. Empty unless [`World::keeps_impacts`] was set
    /// before the step.
    #[must_use]
    pub fn impacts(&self) -> &[Impact] {
        &self.impacts
    }

    /// What the structures of bodies bore in the last step, and which of their bonds failed, in order of body. Bodies at
    /// rest are not among them.
    #[must_use]
    pub fn structure_steps(&self) -> &[StructureStep] {
        &self.structure_steps
    }

    /// What the bonds of a body bear, in their order, as far as a step has looked at them.
    #[must_use]
    pub fn bond_loads(&self, id: BodyId) -> Option<&[BondLoad]> {
        let loads = self.structure_memories.get(&id)?.loads();
        (!loads.is_empty()).then_some(loads)
    }

    /// Forgets what loaded structures in the last step, because bodies are put elsewhere.
    pub fn forget_loads(&mut self) {
        self.structure_steps.clear();
        self.structure_memories.clear();
    }

    /// All contacts of the last step, those between sleepers too, in order of pair. Points that are near and
    /// do not press are among them.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        let mut out = Vec::new();
        for manifold in &self.manifolds {
            if self.body(manifold.first).is_none() {
                continue;
            }
            out.extend(step::contacts_of(manifold, &self.generators, &self.bodies));
        }
        out
    }

    /// The contacts of the last step by substeps: a row for each contact of each search and each substep in which it was
    /// solved, in the order of searches, pairs, points and substeps; where bodies rest, and where the response has no
    /// impulses of substeps, one row a contact without a substep. Empty unless [`World::contact_substeps`] was set
    /// before the step.
    #[must_use]
    pub fn substep_contacts(&self) -> &[Contact] {
        &self.substep_contacts
    }

    /// Removes all bodies.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.manifolds.clear();
        self.substep_contacts.clear();
        self.strengths.clear();
        self.struck.clear();
        self.impacts.clear();
        self.structure_steps.clear();
        self.structure_memories.clear();
        self.generators.cleared();
        self.clearances = Clearances::default();
        self.responder.cleared();
        self.measure.removed(&[]);
        self.measure.forget_names();
    }

    /// A body by name.
    #[must_use]
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.index(id).map(|k| &self.bodies[k])
    }

    /// Bodies are kept in ascending order of their names.
    fn index(&self, id: BodyId) -> Option<usize> {
        index_of(&self.bodies, id)
    }

    /// A body by name; call [`Body::wake`] after changing it.
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        self.index(id).map(|k| &mut self.bodies[k])
    }

    /// Simulated time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Pushes a body: `impulse` in N s at `point_in_world`. Wakes it. Ignored where a number is not finite.
    pub fn apply_impulse(&mut self, id: BodyId, point_in_world: DVec3, impulse: DVec3) {
        if !point_in_world.is_finite() || !impulse.is_finite() {
            return;
        }
        if let Some(body) = self.body_mut(id)
            && !body.is_static()
        {
            body.wake();
            let turn = (point_in_world - body.state.position).cross(impulse);
            body.state.linear_velocity += impulse / body.def.mass_kg();
            body.state.angular_velocity += integrate::inverse(body.inertia_in_world()) * turn;
        }
    }

    /// Looks for contacts with the passes of another device from now on, or with none.
    ///
    /// # Errors
    /// [`GpuError`] where passes cannot be made; nothing has changed then.
    pub fn run_on(&mut self, gpu: Option<&Gpu>) -> Result<(), GpuError> {
        self.generators.run_on(gpu)?;
        self.broad_phase = BroadPhase::default();
        Ok(())
    }

    /// One step of `settings.dt`; compute passes take part where there is a device.
    ///
    /// # Errors
    /// [`GpuError`]; the bodies are then as before the step. Where the contacts would not fit into the free memory, or a generator
    /// or a response that was registered fails without a device, in the middle of the step, the bodies are awake and their
    /// contacts forgotten.
    pub fn step(&mut self, gpu: OnGpu<'_>) -> Result<StepReport, GpuError> {
        step::step(self, gpu)
    }

    /// Makes whoever finds and answers contacts, as the settings name them; a step does so itself, but what breaks
    /// before the first step is to be followed, too.
    ///
    /// # Errors
    /// [`GpuError`] where passes cannot be made; nothing has changed then.
    pub fn get_ready(&mut self, gpu: Option<&Gpu>) -> Result<(), GpuError> {
        step::choose(self, gpu)
    }

    /// What a step would report in which nothing moves: energies, momenta and penetration of what is there now,
    /// sleepers too, and the volume that bodies share where the settings ask for it. No contact is solved.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn figures(&mut self, gpu: OnGpu<'_>) -> Result<StepReport, GpuError> {
        step::figures(self, gpu)
    }

    /// As [`World::step`], with no GPU. Where too many bodies are near each other nothing moves, and the report is empty.
    pub fn step_on_cpu(&mut self) -> StepReport {
        self.step(None).unwrap_or_default()
    }

    /// How finely bodies meet now.
    #[must_use]
    pub fn detail(&self) -> LevelOfDetail<'_> {
        LevelOfDetail { pairs: &self.pair_levels, far: self.far() }
    }

    pub(super) fn far(&self) -> Option<(DVec3, super::Adaptive)> {
        self.eye.filter(|eye| eye.is_finite()).zip(self.settings.adaptive)
    }

    /// Whether a structure that cannot move bears loads that no step has looked at.
    #[must_use]
    pub fn has_unloaded_structures(&self) -> bool {
        is_unloaded(&self.bodies, &self.structure_memories)
    }

    /// Wakes everything (after an edit).
    pub fn wake_all(&mut self) {
        self.structure_memories.values_mut().for_each(Memory::doubt);
        self.bodies.iter_mut().for_each(Body::wake);
    }
}
