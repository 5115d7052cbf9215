//! Queue of bodies to be thrown: each waits for its shape, which is imported once.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::scene::{
    ImportJob, Imported, Missile, ReadMeshes, SandboxError, SceneBody, Tuning, import::Known,
};

/// Leaf level of thrown bodies: 30 voxels across.
const MISSILE_LEVEL: u32 = 5;

/// The queue, and the shapes imported so far.
#[derive(Default)]
pub(in crate::scene) struct Throwing {
    waiting: Vec<Flying>,
    import: Option<(Missile, ImportJob)>,
    known: BTreeMap<&'static str, Imported>,
}

/// A body being thrown.
#[derive(Clone, Debug)]
pub(in crate::scene) struct Flying {
    /// Its description; its position is not yet the starting point.
    pub body: SceneBody,
    /// Starting point of its centre, m.
    pub origin: DVec3,
    missile: Missile,
}

impl Throwing {
    /// Whether bodies wait to be thrown.
    pub fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Throws the body chosen in the tuned values from `origin` (m) along `direction`.
    pub fn push(&mut self, tuning: &Tuning, origin: DVec3, direction: DVec3) {
        let throw = tuning.throw;
        let body = SceneBody {
            file: throw.missile.file().into(),
            level: MISSILE_LEVEL,
            physics_level: Some(MISSILE_LEVEL),
            size: Some(throw.size.clamp(0.01, 100.0)),
            density: throw.density.clamp(1e-3, 1e6),
            friction: tuning.friction,
            restitution: tuning.restitution,
            rolling_resistance: tuning.rolling_resistance,
            linear_velocity: direction.normalize_or(DVec3::NEG_Z) * throw.speed.clamp(0.0, 200.0),
            ..SceneBody::default()
        };
        self.waiting.push(Flying { body, origin, missile: throw.missile });
    }

    /// The first body in the queue whose shape is ready; calls `take_in` with a new shape.
    ///
    /// # Errors
    /// [`SandboxError`]; nothing is thrown then.
    pub fn next<E: Into<SandboxError>>(
        &mut self,
        take_in: impl FnOnce(&Imported) -> Result<(), E>,
    ) -> Result<Option<(Flying, Imported)>, SandboxError> {
        let Some(first) = self.waiting.first() else { return Ok(None) };
        if let Some(one) = self.known.get(first.missile.file()) {
            let one = one.clone();
            return Ok(Some((self.waiting.remove(0), one)));
        }
        let Some((missile, job)) = &self.import else {
            self.import = Some((
                first.missile,
                ImportJob::start(std::slice::from_ref(&first.body), ReadMeshes::new(), Known::default()),
            ));
            return Ok(None);
        };
        let (missile, Some(result)) = (*missile, job.poll()) else { return Ok(None) };
        self.import = None;
        let taken = result.map_err(SandboxError::from).and_then(|imported| {
            let Some(one) = imported.into_iter().next() else { return Ok(()) };
            take_in(&one).map_err(Into::into)?;
            self.known.insert(missile.file(), one);
            Ok(())
        });
        match taken {
            Ok(()) => Ok(None),
            Err(error) => {
                self.waiting.clear();
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::GpuError;

    #[test]
    fn a_shape_is_imported_once_and_a_failure_throws_nothing() {
        let mut throwing = Throwing::default();
        let tuning = Tuning::default();
        let mut told = 0;
        for round in 0..2 {
            throwing.push(&tuning, DVec3::Y, DVec3::Z * 9.0);
            assert!(throwing.is_busy());
            let (flying, one) = loop {
                let next = throwing.next(|_| {
                    told += 1;
                    Ok::<_, GpuError>(())
                });
                if let Some(next) = next.unwrap() {
                    break next;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            };
            assert_eq!((one.file.as_str(), told), ("builtin:sphere", 1), "round {round}");
            assert_eq!(flying.body.linear_velocity, DVec3::Z * tuning.throw.speed);
            assert!(!throwing.is_busy());
        }
        let mut tuning = tuning;
        tuning.throw.missile = Missile::Box;
        throwing.push(&tuning, DVec3::Y, DVec3::Z);
        let failed = loop {
            match throwing.next(|_| Err(GpuError::Driver("no room".into()))) {
                Ok(next) => assert!(next.is_none()),
                Err(error) => break error,
            }
        };
        assert_eq!(failed.to_string(), GpuError::Driver("no room".into()).to_string());
        assert!(!throwing.is_busy());
    }
}
