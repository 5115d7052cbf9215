//! Bodies that break on impact: detects bodies struck too hard in a step, and how much of the collision must be undone.
//!
//! In: velocities before a step, the stage after it. Out: for each body above its threshold the point of impact, and
//! its [`Recoil`].

use std::collections::BTreeMap;

use glam::DVec3;

use crate::{
    bodies::{Body, BodyId, Push, Struck as Blow},
    scene::{breaking::local_from_world, stage::Stage},
};

/// Velocity (m/s) and angular velocity (1/s) of moving bodies before a step.
pub(in crate::scene) struct Velocities(BTreeMap<BodyId, [DVec3; 2]>);

/// A body that was stopped or struck above its threshold.
pub(super) struct Struck {
    pub body: BodyId,
    /// Point of the push, m.
    pub point: DVec3,
    /// Direction of the push, unit.
    pub way: DVec3,
    pub recoil: Recoil,
}

/// The part of a collision that must be undone because the body broke first. A body transmits no more than the impulse
/// that breaks it; its pieces then continue and meet the obstacle themselves. Linear momentum is conserved.
#[derive(Debug, Default)]
pub(super) struct Recoil {
    /// Change of velocity to undo the push of floor, walls and fixed bodies, m/s.
    fixed: DVec3,
    /// Change of angular velocity, 1/s.
    spin: DVec3,
    /// Impulses to apply to the other bodies, N s, and the changes of their angular velocities, 1/s.
    partners: Vec<(BodyId, DVec3, DVec3)>,
}

impl Velocities {
    /// The present velocities.
    pub fn of(stage: &Stage) -> Self {
        let moving = stage.bodies().iter().filter(|b| !b.is_static());
        Self(moving.map(|b| (b.id, [b.state.linear_velocity, b.state.angular_velocity])).collect())
    }

    /// The body that was pushed hardest in the step, and its change of velocity, m/s, without that by gravity.
    pub fn hardest_push(&self, stage: &Stage) -> Option<(BodyId, f64)> {
        let fallen = stage.settings().gravity * stage.settings().dt;
        let pushed = stage.bodies().iter().filter_map(|body| {
            let [velocity, _] = self.0.get(&body.id).filter(|_| !body.asleep)?;
            Some((body.id, (body.state.linear_velocity - *velocity - fallen).length()))
        });
        pushed.filter(|(_, kick)| kick.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Bodies that were stopped or struck above their `threshold` (m/s).
    pub(super) fn struck(&self, stage: &Stage, threshold: impl Fn(&Body) -> Option<f64>) -> Vec<Struck> {
        let fallen = stage.settings().gravity * stage.settings().dt;
        let mut all = Vec::new();
        for (&id, &[velocity, _]) in &self.0 {
            let Some(body) = stage.body(id) else { continue };
            let Some(threshold) = threshold(body) else { continue };
            // A body asleep before and after the step has not fallen.
            if body.asleep && velocity == DVec3::ZERO {
                continue;
            }
            let kick = body.state.linear_velocity - velocity - fallen;
            if kick.length() <= threshold {
                continue;
            }
            let way = kick.normalize_or(DVec3::Y);
            let point = entry(body, way, pushed_at(stage, body, way).unwrap_or(body.state.position));
            all.push(Struck { body: id, point, way, recoil: self.recoil(stage, body, kick, threshold) });
        }
        all
    }

    /// A body that a blow breaks; of the impulses on it, this share is taken back.
    pub(super) fn overcome(&self, stage: &Stage, blow: &Blow, share: f64) -> Option<Struck> {
        let body = stage.body(blow.body)?;
        let was = self.0.get(&blow.body)?;
        let mut recoil = Recoil { spin: (was[1] - body.state.angular_velocity) * share, ..Recoil::default() };
        for push in stage.pushes() {
            let (impulse, other) = match push.bodies {
                (a, other) if a == body.id => (push.impulse * share, other),
                (a, Some(b)) if b == body.id => (-push.impulse * share, Some(a)),
                _ => continue,
            };
            let moving = other.filter(|other| self.0.contains_key(other)).and_then(|other| stage.body(other));
            match moving {
                Some(partner) => {
                    let arm = push.position - partner.state.position;
                    let turn = partner.inertia_in_world().inverse() * arm.cross(impulse);
                    let turn = if turn.is_finite() { turn } else { DVec3::ZERO };
                    recoil.partners.push((partner.id, impulse, turn));
                }
                None => recoil.fixed -= impulse / body.def.mass_kg(),
            }
        }
        Some(Struck { body: body.id, point: entry(body, blow.way, blow.point), way: blow.way, recoil })
    }

    /// The correction if a body, accelerated by `kick` m/s, breaks at `threshold` m/s.
    fn recoil(&self, stage: &Stage, body: &Body, kick: DVec3, threshold: f64) -> Recoil {
        let (share, way) = (1.0 - threshold / kick.length(), kick.normalize_or_zero());
        let fallen = stage.settings().gravity * stage.settings().dt;
        let Some(was) = self.0.get(&body.id) else { return Recoil::default() };
        let pushed = body.def.mass_kg() * kick.length();
        if !(pushed > 0.0 && pushed.is_finite()) {
            return Recoil::default();
        }
        // Bodies pushed the opposite way: momentum received (kg m/s), sum and number of contact points.
        let mut partners: BTreeMap<BodyId, (f64, DVec3, f64)> = BTreeMap::new();
        let mut fixed = false;
        for contact in stage.contacts() {
            let other = match contact.bodies {
                (a, Some(b)) if a == body.id => Some(b),
                (a, Some(b)) if b == body.id => Some(a),
                (a, None) if a == body.id => None,
                _ => continue,
            };
            let moving = other.and_then(|other| Some((other, stage.body(other)?, self.0.get(&other)?)));
            let Some((other, partner, was)) = moving else {
                fixed |= contact.impulse > 0.0;
                continue;
            };
            let got = -(partner.state.linear_velocity - was[0] - fallen).dot(way) * partner.def.mass_kg();
            if got > 0.0 {
                let (_, sum, count) = partners.get(&other).copied().unwrap_or_default();
                partners.insert(other, (got, sum + contact.position, count + 1.0));
            }
        }
        let total: f64 = partners.values().map(|p| p.0).sum();
        // The momentum that other bodies did not receive went into floor, walls and fixed bodies, or into the others if
        // there are none.
        let theirs = if fixed || total == 0.0 { (total / pushed).min(1.0) } else { 1.0 };
        let back = |(other, (got, sum, count)): (BodyId, (f64, DVec3, f64))| {
            let partner = stage.body(other)?;
            let impulse = way * (share * theirs * pushed * got / total);
            let arm = sum / count - partner.state.position;
            let turn = partner.inertia_in_world().inverse() * arm.cross(impulse);
            Some((other, impulse, if turn.is_finite() { turn } else { DVec3::ZERO }))
        };
        Recoil {
            fixed: if fixed { -(share * (1.0 - theirs)) * kick } else { DVec3::ZERO },
            spin: (was[1] - body.state.angular_velocity) * share,
            partners: partners.into_iter().filter_map(back).collect(),
        }
    }
}

/// Point of the strongest push on a body along `way` (unit), world, m.
fn pushed_at(stage: &Stage, body: &Body, way: DVec3) -> Option<DVec3> {
    let along = |push: &Push| match push.bodies {
        (a, _) if a == body.id => push.impulse.dot(way),
        (_, Some(b)) if b == body.id => -push.impulse.dot(way),
        _ => 0.0,
    };
    let pushes = stage.pushes().iter().map(|push| (along(push), push.position)).filter(|push| push.0 > 0.0);
    pushes.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, position)| position)
}

/// Where a line along `way` (unit) through `at` (world, m) enters the body; `at` itself if it misses.
fn entry(body: &Body, way: DVec3, at: DVec3) -> DVec3 {
    let (octree, shape) = (body.def.octree(), &body.def.shape);
    let h = octree.grid.h;
    let start = at - way * (h * f64::from(octree.grid.side()) * 2.0);
    let from = local_from_world(&body.state, shape, start);
    let along = body.state.rotation.inverse() * way / h;
    shape.pick(from, along).filter(|hit| hit.t > 0.0).map_or(at, |hit| start + way * hit.t)
}

impl Recoil {
    /// Applies the correction to the broken body and to what it struck. A body that has broken meanwhile has had its
    /// own correction.
    pub fn take_back(self, body: &mut Body, stage: &mut Stage) {
        body.state.linear_velocity += self.fixed;
        let mut taken = self.fixed != DVec3::ZERO;
        for (id, impulse, turn) in self.partners {
            let Some(partner) = stage.body_mut(id) else { continue };
            partner.state.linear_velocity += impulse / partner.def.mass_kg();
            partner.state.angular_velocity += turn;
            partner.wake();
            body.state.linear_velocity -= impulse / body.def.mass_kg();
            taken = true;
        }
        if taken {
            body.state.angular_velocity += self.spin;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gpu::Gpu, scene::stage::tests::cube};

    #[test]
    fn who_was_stopped_harder_than_it_bears_is_struck_where_the_push_came_in() {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut stage = Stage::new(&gpu).unwrap();
        let falling = |x: f64| {
            let mut def = cube(DVec3::new(x, 5.0, 0.0));
            def.state.linear_velocity = DVec3::NEG_Y * 4.0;
            def
        };
        let ids = [0.0, 3.0, 6.0].map(|x| stage.add(falling(x), 0, 0));
        let before = Velocities::of(&stage);
        let fallen = stage.settings().gravity * stage.settings().dt;
        // The first body is stopped, the second is in free fall, the third has no threshold.
        for (id, velocity) in ids.into_iter().zip([DVec3::ZERO, DVec3::NEG_Y * 4.0 + fallen, DVec3::ZERO]) {
            stage.body_mut(id).unwrap().state.linear_velocity = velocity;
        }
        let struck = before.struck(&stage, |body| (body.id != ids[2]).then_some(1.0));
        let [one] = struck.as_slice() else { panic!("{} were struck", struck.len()) };
        assert_eq!((one.body, one.way), (ids[0], DVec3::Y));
        assert!(one.point.distance(DVec3::new(0.0, 4.5, 0.0)) < 0.1, "from below: {}", one.point);
    }

    #[test]
    fn a_recoil_keeps_the_momentum() {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut stage = Stage::new(&gpu).unwrap();
        let (mut heavy, light) = (cube(DVec3::ZERO), cube(DVec3::X));
        heavy.set_density(light.shape.density() * 3.0);
        let ids = [stage.add(heavy, 0, 0), stage.add(light, 0, 0)];
        let mut body = stage.body(ids[0]).unwrap().clone();
        let impulse = DVec3::new(5.0, 2.0, 0.0);
        let recoil = Recoil { partners: vec![(ids[1], impulse, DVec3::Z)], ..Recoil::default() };
        recoil.take_back(&mut body, &mut stage);
        let partner = stage.body(ids[1]).unwrap();
        let theirs = partner.state.linear_velocity * partner.def.mass_kg();
        let own = body.state.linear_velocity * body.def.mass_kg();
        assert!(theirs.distance(impulse) < 1e-9 && (own + theirs).length() < 1e-9);
        assert_eq!(partner.state.angular_velocity, DVec3::Z);
        let gone =
            Recoil { partners: vec![(BodyId(99), impulse, DVec3::Z)], spin: DVec3::X, ..Recoil::default() };
        let before = body.clone();
        gone.take_back(&mut body, &mut stage);
        assert_eq!(body.state, before.state, "what is gone has settled it already");
    }
}
