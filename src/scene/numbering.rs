//! Numbers of objects: the bodies of a scene from 0 in their order, then what its events bring.
//!
//! In: a scene, or its events. Out: the number of the object that each projectile brings. Files, imports, the stage and
//! the document all take numbers from here, so what names an object by its number means the same object before and
//! after saving.
//!
//! The user may add an object while projectiles of the scene are still to come. Its event stands before theirs, and its
//! number comes after theirs, since paint, pairs, tuned values and events name theirs already. So an event can claim
//! its number (`object`). Events that claim none get the free numbers in their order: of a scene without claims, and so
//! of every file from before there were claims, the numbers are the order of the events.

use super::{Event, Scene, SceneBody};
use crate::fracture::FractureParams;

/// The numbers of what these events bring, in the order of the events, after `bodies` bodies of the scene: all numbers
/// from `bodies` on without a gap. A claim of a number beyond these, or of one that an earlier event claims, counts as
/// none.
pub(super) fn numbers_of_thrown<'a>(
    events: impl IntoIterator<Item = &'a Event>,
    bodies: usize,
) -> Vec<usize> {
    let claims = events.into_iter().filter_map(|event| match event {
        Event::Projectile { object, .. } => Some(*object),
        Event::Impact { .. } | Event::Hand { .. } | Event::Move { .. } => None,
    });
    let claims: Vec<Option<u32>> = claims.collect();
    let mut taken = vec![false; claims.len()];
    let take = |claim: Option<u32>| {
        let number = claim? as usize;
        let taken = taken.get_mut(number.checked_sub(bodies)?)?;
        (!std::mem::replace(taken, true)).then_some(number)
    };
    let claimed: Vec<Option<usize>> = claims.into_iter().map(take).collect();
    let mut free = (bodies..).zip(taken).filter(|(_, taken)| !taken).map(|(number, _)| number);
    // There are as many free numbers as events without a claim.
    claimed.into_iter().filter_map(|claim| claim.or_else(|| free.next())).collect()
}

impl Event {
    /// The number by which it names an object, if it does; of a projectile the number that it claims.
    pub(super) fn object(&self) -> Option<u32> {
        match self {
            Self::Impact { body, .. } => *body,
            Self::Hand { body, .. } | Self::Move { body, .. } => Some(*body),
            Self::Projectile { object, .. } => *object,
        }
    }

    /// The same number, to be changed.
    pub(super) fn object_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Impact { body, .. } => body.as_mut(),
            Self::Hand { body, .. } | Self::Move { body, .. } => Some(body),
            Self::Projectile { object, .. } => object.as_mut(),
        }
    }
}

impl Scene {
    /// The numbers of what events bring, in the order of the events.
    pub(super) fn numbers_of_thrown(&self) -> Vec<usize> {
        numbers_of_thrown(&self.events, self.bodies.len())
    }

    /// Everything that is imported, in the order of its numbers: the bodies, then what events bring.
    pub fn objects(&self) -> impl Iterator<Item = &SceneBody> {
        let thrown = self.events.iter().filter_map(|event| match event {
            Event::Projectile { body, .. } => Some(&**body),
            Event::Impact { .. } | Event::Hand { .. } | Event::Move { .. } => None,
        });
        let mut thrown: Vec<(usize, &SceneBody)> = self.numbers_of_thrown().into_iter().zip(thrown).collect();
        thrown.sort_by_key(|(number, _)| *number);
        self.bodies.iter().chain(thrown.into_iter().map(|(_, body)| body))
    }

    /// The same, to be changed.
    pub(super) fn objects_mut(&mut self) -> impl Iterator<Item = &mut SceneBody> {
        let numbers = self.numbers_of_thrown();
        let thrown = self.events.iter_mut().filter_map(|event| match event {
            Event::Projectile { body, .. } => Some(&mut **body),
            Event::Impact { .. } | Event::Hand { .. } | Event::Move { .. } => None,
        });
        let mut thrown: Vec<(usize, &mut SceneBody)> = numbers.into_iter().zip(thrown).collect();
        thrown.sort_by_key(|(number, _)| *number);
        self.bodies.iter_mut().chain(thrown.into_iter().map(|(_, body)| body))
    }

    /// Parameters of all fractures: of the objects, of blows that have their own, and of breaks.
    pub fn fractures(&self) -> impl Iterator<Item = &FractureParams> {
        let of_events = self.events.iter().filter_map(|event| match event {
            Event::Impact { fracture, .. } => fracture.as_ref(),
            Event::Projectile { .. } | Event::Hand { .. } | Event::Move { .. } => None,
        });
        let of_breaks = self.breaks.iter().map(|one| &one.fracture);
        self.objects().map(|body| &body.fracture).chain(of_events).chain(of_breaks)
    }

    /// The same in another order, to be changed.
    pub(super) fn fractures_mut(&mut self) -> impl Iterator<Item = &mut FractureParams> {
        let of_events = self.events.iter_mut().filter_map(|event| match event {
            Event::Impact { fracture, .. } => fracture.as_mut(),
            Event::Projectile { body, .. } => Some(&mut body.fracture),
            Event::Hand { .. } | Event::Move { .. } => None,
        });
        let of_breaks = self.breaks.iter_mut().map(|one| &mut one.fracture);
        self.bodies.iter_mut().map(|body| &mut body.fracture).chain(of_events).chain(of_breaks)
    }

    /// Writes the numbers of what events bring into these events, so that bodies and events can come and go.
    pub(super) fn claim_numbers(&mut self) {
        let numbers = self.numbers_of_thrown();
        self.set_claims(numbers.into_iter().map(|number| u32::try_from(number).ok()));
    }

    /// Leaves the claims away where the order of the events says the same, as it does until an object is added before
    /// something that is still to come; else every event has its claim.
    pub(super) fn tidy_numbers(&mut self) {
        let numbers = self.numbers_of_thrown();
        if numbers.is_sorted() {
            self.set_claims(numbers.into_iter().map(|_| None));
        } else {
            self.claim_numbers();
        }
    }

    fn set_claims(&mut self, claims: impl Iterator<Item = Option<u32>>) {
        let thrown = self.events.iter_mut().filter_map(|event| match event {
            Event::Projectile { object, .. } => Some(object),
            Event::Impact { .. } | Event::Hand { .. } | Event::Move { .. } => None,
        });
        thrown.zip(claims).for_each(|(object, claim)| *object = claim);
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    fn throw(object: Option<u32>) -> Event {
        Event::Projectile { time: 0.0, object, body: Box::default() }
    }

    fn scene(bodies: usize, claims: &[Option<u32>]) -> Scene {
        let moved = Event::Move {
            time: 0.0,
            body: 0,
            parts: Vec::new(),
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
        };
        let events = claims.iter().flat_map(|claim| [moved.clone(), throw(*claim)]).collect();
        Scene { bodies: vec![SceneBody::default(); bodies], events, ..Scene::default() }
    }

    fn claims(scene: &Scene) -> Vec<Option<u32>> {
        let of = |event: &Event| match event {
            Event::Projectile { object, .. } => Some(*object),
            _ => None,
        };
        scene.events.iter().filter_map(of).collect()
    }

    #[test]
    fn events_without_claims_are_numbered_in_their_order_and_claims_come_first() {
        for (bodies, claimed, numbers) in [
            (2, vec![], vec![]),
            (0, vec![None, None], vec![0, 1]),
            (3, vec![None, None, None], vec![3, 4, 5]),
            // An object that was added before two that were still to come.
            (2, vec![Some(4), None, None], vec![4, 2, 3]),
            (2, vec![None, Some(2), None], vec![3, 2, 4]),
            // Claims of the scene's bodies, of numbers beyond all, and of a number for the second time.
            (2, vec![Some(0), Some(5), Some(4), Some(4), Some(u32::MAX)], vec![2, 5, 4, 3, 6]),
        ] {
            // Planted error to see this fail: do not mark a claimed number as taken.
            assert_eq!(scene(bodies, &claimed).numbers_of_thrown(), numbers, "{bodies} {claimed:?}");
        }
    }

    #[test]
    fn whatever_is_claimed_every_number_is_given_once() {
        let all = [None, Some(0), Some(1), Some(2), Some(3), Some(4)];
        for code in 0..all.len().pow(4) {
            let claimed: Vec<Option<u32>> =
                (0..4).map(|k| all[code / all.len().pow(k) % all.len()]).collect();
            let scene = scene(1, &claimed);
            let mut numbers = scene.numbers_of_thrown();
            let kept =
                claimed.iter().zip(&numbers).filter(|(claim, n)| claim.is_some_and(|c| c as usize == **n));
            let sound: std::collections::BTreeSet<_> =
                claimed.iter().flatten().filter(|claim| (1..5).contains(*claim)).collect();
            assert_eq!(kept.count(), sound.len(), "{claimed:?}: each sound claim holds once");
            numbers.sort_unstable();
            assert_eq!(numbers, [1, 2, 3, 4], "{claimed:?}");
        }
    }

    #[test]
    fn objects_come_by_their_numbers_and_claims_are_written_only_where_they_say_something() {
        let named = |scene: &mut Scene| {
            let bodies = scene.events.iter_mut().filter_map(|event| match event {
                Event::Projectile { body, .. } => Some(body),
                _ => None,
            });
            bodies.zip(["a", "b", "c"]).for_each(|(body, name)| body.file = name.into());
        };
        let files = |scene: &Scene| scene.objects().skip(1).map(|body| body.file.clone()).collect::<Vec<_>>();
        let mut added = scene(1, &[None, Some(3), None]);
        named(&mut added);
        assert_eq!(files(&added), ["a", "c", "b"]);
        added.tidy_numbers();
        assert_eq!(claims(&added), [Some(1), Some(3), Some(2)]);
        assert_eq!(files(&added), ["a", "c", "b"]);
        let mut plain = scene(1, &[Some(1), None, Some(3)]);
        named(&mut plain);
        plain.tidy_numbers();
        assert_eq!(claims(&plain), [None; 3]);
        assert_eq!(files(&plain), ["a", "b", "c"]);
        plain.claim_numbers();
        assert_eq!(claims(&plain), [Some(1), Some(2), Some(3)]);
    }
}
