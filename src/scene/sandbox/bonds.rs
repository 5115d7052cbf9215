//! What became of bonds: those that failed, the greatest load over time, and why a piece fell.
//!
//! In: what structures did in every step. Out: figures for the panels and for `bonds.csv`.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use super::Sandbox;
use crate::{
    bodies::{
        Body, BodyId,
        structure::{BondLoad, Failure, Response, Structure},
    },
    scene::{
        debris::{BondFailure, half_axes},
        step_trace::push_thinned,
    },
};

/// A bond that bears a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadedBond {
    /// Its body.
    pub body: BodyId,
    /// The object of the body.
    pub object: usize,
    /// Index of the break in the log.
    pub record: usize,
    /// The parts of that break that it joins.
    pub parts: [u32; 2],
    /// Its load.
    pub load: BondLoad,
}

/// Why a piece is no longer held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhyItFell {
    /// The first bond of the whole object that failed.
    pub began: BondFailure,
    /// The last of the bonds that held the piece: with it the piece came loose.
    pub freed: BondFailure,
    /// How many of its bonds had failed by then.
    pub bonds: usize,
}

/// What became of bonds since the scene was opened.
#[derive(Clone, Default)]
pub(super) struct BondRecord {
    failures: Vec<BondFailure>,
    /// Time, s, and the greatest load of any bond after that step, as a share of its strength.
    greatest: Vec<[f64; 2]>,
}

/// What became of bonds in takes that are not shown, by their ids.
pub(super) type BondTakes = BTreeMap<u64, BondRecord>;

impl BondRecord {
    /// Forgets what happened after a time (s), because the steps from there on are taken again.
    fn forget_after(&mut self, time: f64) {
        let later = |then: f64| then > time + 1e-9;
        self.failures.truncate(self.failures.partition_point(|failure| !later(failure.time)));
        self.greatest.truncate(self.greatest.partition_point(|[then, _]| !later(*then)));
    }

    fn note(&mut self, time: f64, greatest: f64) {
        push_thinned(&mut self.greatest, [time, greatest]);
    }
}

impl BondFailure {
    /// A failure of a bond of a body, before that comes apart.
    pub(super) fn of(
        failure: &Failure,
        (structure, body): (&Structure, &Body),
        response: &Response,
        (time, object, record): (f64, usize, usize),
    ) -> Self {
        let bond = &structure.bonds[failure.bond];
        let (section, shape) = (&bond.section, &body.def.shape);
        let local = shape.local_from_shape(section.centre);
        let (strength, state) = (bond.strength(failure.load.mode, &structure.strength), &body.state);
        let share = |share: f64| if failure.load.is_bounded() { share } else { f64::INFINITY };
        let centre = shape.to_world(state.position, state.rotation, local);
        let impedance = (structure.strength.stiffness * shape.density()).sqrt();
        Self {
            time,
            object,
            record,
            parts: section.parts,
            mode: failure.load.mode,
            load: share(failure.load.share),
            whole_load: share(failure.whole),
            stress: failure.stress,
            strength,
            by_blow: failure.by_blow,
            // An empty sum is -0.
            energy: response.blow + 0.0,
            area: section.area,
            centre,
            normal: state.rotation * section.normal,
            half_axes: half_axes(section.area, section.normal, &section.moments)
                .map(|axis| state.rotation * axis),
            velocity: state.linear_velocity + state.angular_velocity.cross(centre - state.position),
            release: failure.stress / impedance.max(1e-300),
        }
    }
}

impl Sandbox {
    /// Forgets failures and loads of steps that are taken again now. Where these steps stay as a take, that keeps them.
    pub(super) fn forget_later_bonds(&mut self) {
        let take = self.timeline.take_id();
        if self.timeline.has_future() {
            self.keep_bonds(take);
        } else if let Some(kept) = self.bond_takes.remove(&take) {
            // The step that was to begin another take was not taken.
            self.bonds = kept;
        }
        self.bonds.forget_after(self.stage.time());
    }

    /// Keeps what became of bonds for a take, unless it is kept already; takes that were dropped lose theirs.
    pub(super) fn keep_bonds(&mut self, take: u64) {
        self.bond_takes.retain(|take, _| self.timeline.has_take(*take));
        if self.timeline.has_take(take) {
            self.bond_takes.entry(take).or_insert_with(|| self.bonds.clone());
        }
    }

    /// Follows the timeline from the take with the id `from`, whose states have the serial numbers `states`, to the current one:
    /// what became of bonds is what that take keeps, or else what both takes share.
    pub(super) fn follow_bonds(&mut self, from: u64, states: &[u64]) {
        let now = self.timeline.take_id();
        if now == from {
            return;
        }
        self.keep_bonds(from);
        match (self.bond_takes.remove(&now), self.timeline.shared_with(states)) {
            (Some(kept), _) => self.bonds = kept,
            (None, Some(time)) => self.bonds.forget_after(time),
            (None, None) => self.bonds = BondRecord::default(),
        }
    }

    /// Notes failures of the last step, in order of time, and the greatest load of them: a step in which a blow takes a body
    /// apart is taken back, so its loads are noted nowhere else.
    pub(super) fn note_failures(&mut self, failures: Vec<BondFailure>) {
        if let Some(time) = failures.last().map(|failure| failure.time) {
            let loads = failures.iter().map(|failure| failure.whole_load).filter(|load| load.is_finite());
            self.bonds.note(time, loads.fold(0.0, f64::max));
        }
        self.bonds.failures.extend(failures);
    }

    /// Notes the greatest load after a step, if bonds hold anything.
    pub(super) fn note_loads(&mut self) {
        let steps = self.stage.world().structure_steps();
        let loads = steps.iter().flat_map(|step| &step.response.loads);
        // What has no strength has no share of it.
        let loads = loads.filter(|load| load.is_bounded()).map(|load| load.share);
        if let Some(greatest) = loads.reduce(f64::max) {
            self.bonds.note(self.stage.time(), greatest);
        }
    }

    /// Forgets everything, because another scene is opened.
    pub(super) fn forget_bonds(&mut self) {
        self.bonds = BondRecord::default();
        self.bond_takes.clear();
    }

    /// Bonds that failed under loads since the scene was opened, in order of time.
    #[must_use]
    pub fn bond_failures(&self) -> &[BondFailure] {
        &self.bonds.failures
    }

    /// The greatest load of any bond over time: times, s, and loads as shares of the strength.
    #[must_use]
    pub fn greatest_loads(&self) -> &[[f64; 2]] {
        &self.bonds.greatest
    }

    /// All bonds that hold, with their loads after the last step, body by body.
    pub fn loaded_bonds(&self) -> impl Iterator<Item = LoadedBond> {
        self.stage.bodies().iter().flat_map(|body| {
            let bonds = body.def.structure.as_ref().map_or(&[][..], |structure| &structure.bonds);
            let info = self.stage.info_or_whole(body.id);
            let loads = self.stage.world().bond_loads(body.id).unwrap_or_default();
            bonds.iter().zip(loads).filter(|(bond, _)| bond.damage < 1.0).map(move |(bond, load)| {
                LoadedBond {
                    body: body.id,
                    object: info.object,
                    record: info.origin.map_or(0, |origin| origin.record),
                    parts: bond.section.parts,
                    load: *load,
                }
            })
        })
    }

    /// The most loaded bonds, at most `most`, the greatest load first.
    #[must_use]
    pub fn most_loaded_bonds(&self, most: usize) -> Vec<LoadedBond> {
        let mut all: Vec<LoadedBond> = self.loaded_bonds().collect();
        let greater = |a: &LoadedBond, b: &LoadedBond| -> Ordering {
            b.load.share.total_cmp(&a.load.share).then(a.body.cmp(&b.body)).then(a.parts.cmp(&b.parts))
        };
        if all.len() > most && most > 0 {
            all.select_nth_unstable_by(most - 1, greater);
            all.truncate(most);
        }
        all.sort_by(greater);
        all
    }

    /// Why a body is no longer held to what it was cracked out of; `None` if no load did that.
    #[must_use]
    pub fn why_it_fell(&self, id: BodyId) -> Option<WhyItFell> {
        let info = self.stage.info(id)?;
        let record = info.origin?.record;
        let parts = self.breaks.parts_of(info);
        let is_own = |part: u32| parts.contains(&(part as usize));
        let of_break = || self.bonds.failures.iter().filter(move |failure| failure.record == record);
        let at_edge =
            |failure: &&BondFailure| failure.parts.iter().filter(|part| is_own(**part)).count() == 1;
        Some(WhyItFell {
            began: *of_break().next()?,
            freed: *of_break().rfind(at_edge)?,
            bonds: of_break().filter(at_edge).count(),
        })
    }

    /// The last recorded state before a time (s).
    #[must_use]
    pub fn frame_before(&self, time: f64) -> usize {
        self.timeline.frame_at(time - 0.5 * self.stage.settings().dt)
    }

    /// The structure of a body, if bonds hold its parts together.
    #[must_use]
    pub fn structure_of(&self, id: BodyId) -> Option<&Arc<Structure>> {
        self.stage.body(id)?.def.structure.as_ref()
    }

    /// Whether bonds hold the parts of a body together.
    #[must_use]
    pub fn is_held(&self, id: BodyId) -> bool {
        self.structure_of(id).is_some()
    }

    /// Whether the scene holds all objects together whose values the panels change. Neither the energy of a blow nor a change of
    /// speed then breaks a body that is whole; a part that came loose breaks by one of both, where that is set.
    #[must_use]
    pub fn panels_change_what_holds(&self) -> bool {
        let mut shown = match self.document.focus() {
            Some(object) => object..object + 1,
            None => 0..self.bodies_of_scene(),
        };
        !shown.is_empty() && shown.all(|object| self.document.values_of(object).is_some_and(|own| own.hold))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::scene::step_trace::MOST_MOMENTS;

    /// A failure of some bond at a time, s.
    pub(in crate::scene::sandbox) fn failure(time: f64) -> BondFailure {
        BondFailure { time, ..BondFailure::example() }
    }

    #[test]
    fn what_is_played_again_is_forgotten_and_long_records_get_coarser_where_they_are_old() {
        let mut record = BondRecord::default();
        for step in 1..=2 * MOST_MOMENTS {
            record.note(step as f64 * 0.01, 0.5);
        }
        assert!(record.greatest.len() <= MOST_MOMENTS && record.greatest.len() > MOST_MOMENTS / 2);
        assert!(record.greatest.windows(2).all(|two| two[0][0] < two[1][0]));
        let last = record.greatest.len() - 1;
        let steps = |at: usize| ((record.greatest[at + 1][0] - record.greatest[at][0]) * 100.0).round();
        assert!(steps(0) > 1.0 && steps(last - 1) == 1.0, "{} {}", steps(0), steps(last - 1));
        record.failures = [0.1, 0.2, 0.2, 0.3].map(failure).to_vec();
        record.forget_after(0.2);
        assert_eq!(record.failures.len(), 3, "a step that ended then has happened");
        assert!(record.greatest.last().unwrap()[0] <= 0.2 + 1e-9);
        record.forget_after(0.0);
        assert!(record.failures.is_empty() && record.greatest.is_empty());
    }
}
