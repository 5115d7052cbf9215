//! Debris: crumbs and dust that bonds leave where they fail, as points.
//!
//! In: where and how fast each grain was born. Out: where it is at any time, in closed form: nothing is simulated, and
//! nothing depends on which times were asked for before. Grains push nothing and pass through bodies.

use glam::DVec3;

/// Most grains that are there at a time; the newest stay.
pub const MOST_GRAINS: usize = 20_000;
/// Time in which the air takes all but 1/e of the speed of dust, s.
const DUST_SLOWS_S: f64 = 0.3;
/// Speed at which dust settles, m/s: grains of some 30 um in still air.
const DUST_SETTLES: f64 = 0.1;
/// Speed at which the radius of a cloud grows, as a share of its radius at birth, 1/s.
const DUST_GROWS: f64 = 1.0;
/// Time after which dust is no longer seen, s.
pub const DUST_LASTS_S: f64 = 2.5;
/// Times are sums of steps, so the same one may differ by rounding, s.
const SAME_TIME_S: f64 = 1e-9;

/// What a grain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrainKind {
    /// A crumb, which flies and falls.
    Crumb,
    /// A cloud of dust, which the air slows.
    Dust,
}

kintsugi_core::names! { GrainKind: Crumb = "crumb", Dust = "dust" }

/// A grain as it was born.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// When, simulated time, s.
    pub born: f64,
    /// Where, world, m.
    pub position: DVec3,
    /// Its velocity then, m/s.
    pub velocity: DVec3,
    /// Its radius, m; of dust that of the cloud.
    pub radius: f64,
    /// What it is.
    pub kind: GrainKind,
}

/// What grains fall by and onto.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Gravity, m/s^2.
    pub gravity: DVec3,
    /// Height of the floor, m, where there is one.
    pub floor: Option<f64>,
}

/// A grain at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenGrain {
    /// World, m.
    pub position: DVec3,
    /// m/s.
    pub velocity: DVec3,
    /// m.
    pub radius: f64,
    /// 1 for crumbs; of dust the share that has not faded, above 0.
    pub opacity: f64,
    /// What it is.
    pub kind: GrainKind,
}

impl Grain {
    /// The grain at `time`, s; `None` before its birth, and once it has faded.
    #[must_use]
    pub fn at(&self, time: f64, around: &Surroundings) -> Option<SeenGrain> {
        if time < self.born - SAME_TIME_S {
            return None;
        }
        let age = (time - self.born).max(0.0);
        let (position, velocity, (radius, opacity)) = match self.kind {
            GrainKind::Crumb => {
                let flown = age.min(self.landing(around));
                let end = self.velocity + around.gravity * flown;
                let place = self.position + (self.velocity + end) * (0.5 * flown);
                (place, if flown < age { DVec3::ZERO } else { end }, (self.radius, 1.0))
            }
            GrainKind::Dust => {
                let left = libm::exp(-age / DUST_SLOWS_S);
                let settling = around.gravity.normalize_or_zero() * DUST_SETTLES;
                let own = self.velocity - settling;
                let mut place = self.position + settling * age + own * (DUST_SLOWS_S * (1.0 - left));
                let floor = around.floor.unwrap_or(f64::NEG_INFINITY);
                place.y = place.y.max(floor.min(self.position.y));
                let radius = self.radius * (1.0 + DUST_GROWS * age);
                (place, settling + own * left, (radius, 1.0 - age / DUST_LASTS_S))
            }
        };
        (opacity > 0.0).then_some(SeenGrain { position, velocity, radius, opacity, kind: self.kind })
    }

    /// Age at which a crumb touches the floor, s; infinite where it never does.
    fn landing(&self, around: &Surroundings) -> f64 {
        let Some(floor) = around.floor else { return f64::INFINITY };
        let (height, up, g) = (self.position.y - floor - self.radius, self.velocity.y, around.gravity.y);
        if height <= 0.0 {
            return 0.0;
        }
        let square = up * up - 2.0 * g * height;
        if square < 0.0 || (up >= 0.0 && g >= 0.0) {
            return f64::INFINITY;
        }
        // Of two forms of the root the one that subtracts no two numbers of about the same size.
        if up > 0.0 { (up + square.sqrt()) / -g } else { 2.0 * height / (square.sqrt() - up) }
    }
}

/// The grains of a run, in order of their births.
#[derive(Clone, Debug, PartialEq)]
pub struct Debris {
    /// The grains.
    pub grains: Vec<Grain>,
    /// What they fall by and onto.
    pub around: Surroundings,
}

impl Debris {
    /// The grains that are there at `time`, s, with their numbers: of those born so far the newest [`MOST_GRAINS`].
    pub fn at(&self, time: f64) -> impl Iterator<Item = (usize, SeenGrain)> {
        let born = self.grains.partition_point(|grain| grain.born <= time + SAME_TIME_S);
        let first = born.saturating_sub(MOST_GRAINS);
        let newest = self.grains[first..born].iter().enumerate();
        newest.filter_map(move |(at, grain)| Some((first + at, grain.at(time, &self.around)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARTH: Surroundings = Surroundings { gravity: DVec3::new(0.0, -9.81, 0.0), floor: Some(0.5) };

    fn grain(kind: GrainKind) -> Grain {
        let (position, velocity) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.5, 3.0, -0.25));
        Grain { born: 0.7, position, velocity, radius: 0.01, kind }
    }

    /// Fails where the root of the way down is that of the way up, or where the radius does not count.
    #[test]
    fn a_crumb_that_is_thrown_up_lands_and_stays() {
        let crumb = grain(GrainKind::Crumb);
        assert_eq!(crumb.at(0.69, &EARTH), None, "it is not born yet");
        assert_eq!(crumb.at(0.7, &EARTH).unwrap().position, crumb.position);
        let up = crumb.at(1.0, &EARTH).unwrap();
        assert!((up.position.y - (2.0 + 0.9 - 0.5 * 9.81 * 0.09)).abs() < 1e-12, "{up:?}");
        assert!((up.velocity.y - (3.0 - 9.81 * 0.3)).abs() < 1e-12);
        let landing = crumb.landing(&EARTH);
        let before = crumb.at(0.7 + landing - 1e-6, &EARTH).unwrap();
        assert!(before.position.y > 0.51 && before.position.y < 0.5101 && before.velocity.y < -6.0);
        let (lies, later) = (crumb.at(3.0, &EARTH).unwrap(), crumb.at(90.0, &EARTH).unwrap());
        assert_eq!(lies, later);
        assert!((lies.position.y - 0.51).abs() < 1e-12 && lies.velocity == DVec3::ZERO, "{lies:?}");
        assert!((lies.position.x - (1.0 + 0.5 * landing)).abs() < 1e-12);
        // Steps of a thousandth find the same place.
        let (mut place, mut speed, dt) = (crumb.position, crumb.velocity, 1e-5);
        while place.y > 0.51 {
            speed += EARTH.gravity * dt;
            place += speed * dt;
        }
        assert!(place.distance(lies.position) < 1e-3, "{place} {}", lies.position);
        let down = Grain { velocity: DVec3::NEG_Y, ..crumb };
        assert!((down.at(60.0, &EARTH).unwrap().position.y - 0.51).abs() < 1e-12);
        let nowhere = Surroundings { floor: None, ..EARTH };
        assert!(crumb.at(60.0, &nowhere).unwrap().position.y < -1e4, "without a floor it falls on");
        let floats = Surroundings { gravity: DVec3::ZERO, ..EARTH };
        assert_eq!(crumb.landing(&floats), f64::INFINITY);
        assert!((down.landing(&floats) - 1.49).abs() < 1e-12);
    }

    /// Fails where dust flies on as a crumb does, never fades, or sinks through the floor.
    #[test]
    fn dust_is_slowed_settles_and_fades() {
        let dust = grain(GrainKind::Dust);
        assert_eq!(dust.at(0.5, &EARTH), None);
        let (soon, later) = (dust.at(0.7, &EARTH).unwrap(), dust.at(2.7, &EARTH).unwrap());
        assert!(soon.opacity == 1.0 && later.opacity < 0.25 && later.opacity > 0.0);
        assert!(soon.radius == dust.radius && (later.radius / dust.radius - 3.0).abs() < 1e-9);
        assert!((later.velocity - DVec3::NEG_Y * DUST_SETTLES).length() < 0.01, "{later:?}");
        let reach = dust.velocity.length() * DUST_SLOWS_S + 2.0 * DUST_SETTLES;
        assert!(later.position.distance(dust.position) < reach);
        assert_eq!(dust.at(3.3, &EARTH), None, "it has faded");
        let low = Grain { position: DVec3::new(0.0, 0.51, 0.0), velocity: DVec3::ZERO, ..dust };
        assert_eq!(low.at(2.5, &EARTH).unwrap().position.y, 0.5);
    }

    /// Fails where the oldest grains win, or where a grain has another number at another time.
    #[test]
    fn the_newest_grains_stay_and_keep_their_numbers() {
        let at = |k: usize| Grain { born: k as f64, ..grain(GrainKind::Crumb) };
        let debris = Debris { grains: (0..MOST_GRAINS + 3).map(at).collect(), around: EARTH };
        let numbers = |time: f64| debris.at(time).map(|(number, _)| number).collect::<Vec<_>>();
        assert_eq!(numbers(-1.0), [0; 0]);
        assert_eq!(numbers(1.5), [0, 1], "going back in time there are fewer");
        let all = numbers(1e9);
        assert_eq!((all.len(), all[0], all[MOST_GRAINS - 1]), (MOST_GRAINS, 3, MOST_GRAINS + 2));
    }
}
