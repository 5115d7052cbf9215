//! Debris of the bonds that have failed so far.
//!
//! In: failures, the present time, the amount that each object leaves. Out: grains. They are part of no state: going
//! back in time and forth again shows the same ones.

use std::sync::Arc;

use super::Sandbox;
use crate::{
    export::debris::{DUST_LASTS_S, Debris, Grain, MOST_GRAINS, SeenGrain, Surroundings},
    render::Overlay,
    scene::{
        debris::{BondFailure, grains, most_grains},
        debris_view::{DebrisReel, DebrisView, Left},
    },
};

impl Sandbox {
    /// What grains of debris fall by and onto.
    #[must_use]
    pub fn surroundings(&self) -> Surroundings {
        let settings = self.stage.settings();
        Surroundings { gravity: settings.gravity, floor: settings.floor }
    }

    /// Bonds that had failed by the present time.
    fn failed_by_now(&self) -> &[BondFailure] {
        let all = self.bond_failures();
        let now = self.stage.time() + 1e-9;
        &all[..all.partition_point(|failure| failure.time <= now)]
    }

    /// The grains that each bond left which failed since the scene was opened, whatever time is shown.
    pub fn all_debris(&self) -> impl Iterator<Item = (&BondFailure, Vec<Grain>)> {
        let left = move |failure: &BondFailure| grains(failure, self.document.debris_of(failure.object));
        self.bond_failures().iter().map(move |failure| (failure, left(failure)))
    }

    /// The colour of what the crack of a bond broke off: that of the material inside which its break opened.
    fn debris_color(&self, failure: &BondFailure) -> [u8; 3] {
        let chosen = || {
            let insides = self.document.insides();
            insides.get(failure.object).or(insides.last()).copied().unwrap_or_default()
        };
        self.breaks.get(failure.record).map_or_else(chosen, |record| record.inside).base()
    }

    /// The newest cracks by now, which leave all the grains that are there at a time.
    fn newest_cracks(&self) -> Vec<Left> {
        let failed = self.failed_by_now();
        if failed.is_empty() {
            return Vec::new();
        }
        let (mut newest, mut count) = (Vec::new(), 0);
        for failure in failed.iter().rev() {
            let amount = self.document.debris_of(failure.object);
            if amount > 0.0 {
                count += most_grains(amount);
                newest.push((*failure, amount, self.debris_color(failure)));
            }
            if count >= MOST_GRAINS {
                break;
            }
        }
        newest.reverse();
        newest
    }

    /// The grains of debris that are there at the present time.
    #[must_use]
    pub fn debris(&self) -> Vec<SeenGrain> {
        let cracks = self.newest_cracks();
        let grains = cracks.iter().flat_map(|(crack, amount, _)| grains(crack, *amount)).collect();
        let debris = Debris { grains, around: self.surroundings() };
        debris.at(self.stage.time()).map(|(_, grain)| grain).collect()
    }

    /// Whether dust that is shown has not faded yet.
    pub(super) fn has_flying_debris(&self) -> bool {
        let is_shown = self.document.tuning().view.debris;
        self.failed_by_now().last().filter(|_| is_shown).is_some_and(|failure| {
            self.stage.time() < failure.time + DUST_LASTS_S && self.document.debris_of(failure.object) > 0.0
        })
    }

    /// The drawing of debris alone at the present time, for a picture of its own; `None` if there is none.
    #[must_use]
    pub fn debris_overlay(&self) -> Option<Arc<Overlay>> {
        let is_shown = self.document.tuning().view.debris;
        let cracks = if is_shown { self.newest_cracks() } else { Vec::new() };
        let mut view = DebrisView::default();
        view.update(cracks, (self.stage.time(), self.surroundings()), (None, 0));
        view.layer.overlay().cloned()
    }

    /// What draws the debris of all bonds that failed until `end` (s); nothing where debris is not shown.
    #[must_use]
    pub fn debris_reel(&self, end: f64) -> DebrisReel {
        let is_shown = self.document.tuning().view.debris;
        let failed = self.bond_failures().iter().filter(|failure| is_shown && failure.time <= end + 1e-9);
        let left = |failure: &BondFailure| {
            let amount = self.document.debris_of(failure.object);
            (amount > 0.0).then(|| (*failure, amount, self.debris_color(failure)))
        };
        DebrisReel::of(failed.filter_map(left).collect(), self.surroundings())
    }

    /// Updates the drawing of debris, on top of what is drawn of contacts and internals.
    pub(super) fn update_debris(&mut self) {
        let view = &self.document.tuning().view;
        // Bodies that are hidden for what is drawn of their inside would be missed.
        let is_shown = view.debris && view.explode == 0.0 && !view.inside.only;
        let cracks = if is_shown { self.newest_cracks() } else { Vec::new() };
        let now = (self.stage.time(), self.surroundings());
        let below = (self.looking.overlay().map(|overlay| &**overlay), self.looking.revision());
        let below = self.touched.layer.over(below);
        self.debris_view.update(cracks, now, below);
    }
}
