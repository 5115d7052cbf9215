//! `bonds.csv` of `kintsugi simulate`: every bond that failed, with its load, in scenes whose bodies hold by bonds; and
//! `bond_loads.csv`: the loads of all bonds over time.
//!
//! In: the sandbox after every step. Out: a line a bond.

use std::path::Path;

use crate::{
    export::{ExportError, Sheet},
    scene::{Event, Sandbox, Scene},
};

/// Name of the file.
pub const BONDS: &str = "bonds.csv";

const COLUMNS: &str = "time,object,break,a,b,mode,load,by_blow,area,x,y,z,strength,energy,nx,ny,nz,vx,vy,vz,stress,\
                       whole_load";

/// Name of the file of loads.
pub const BOND_LOADS: &str = "bond_loads.csv";

const LOAD_COLUMNS: &str = "time,object,break,a,b,mode,load";

/// The files being written.
pub struct BondLog {
    sheet: Sheet,
    written: usize,
    /// The file of loads, and after how many steps it gets lines.
    loads: Option<(Sheet, u64)>,
}

impl BondLog {
    /// Whether bodies of a scene hold by bonds, now or later.
    #[must_use]
    pub fn is_for(scene: &Scene) -> bool {
        let cracks = |event: &Event| match event {
            Event::Impact { hold, .. } => *hold,
            Event::Projectile { body, .. } => body.hold,
            Event::Hand { .. } | Event::Move { .. } => false,
        };
        scene.bodies.iter().any(|body| body.hold)
            || scene.breaks.iter().any(|one| one.hold)
            || scene.events.iter().any(cracks)
    }

    /// Creates the files in `folder`; loads are written after every `loads_every`th step.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(folder: &Path, loads_every: Option<u64>) -> Result<Self, ExportError> {
        let sheet = Sheet::create(&folder.join(BONDS), COLUMNS)?;
        let loads = loads_every
            .map(|every| Sheet::create(&folder.join(BOND_LOADS), LOAD_COLUMNS).map(|sheet| (sheet, every)))
            .transpose()?;
        Ok(Self { sheet, written: 0, loads })
    }

    /// The files lie in `folder` now.
    pub fn moved_to(&mut self, folder: &Path) {
        self.sheet.moved_to(folder);
        self.loads.iter_mut().for_each(|(loads, _)| loads.moved_to(folder));
    }

    /// Writes what failed since the last call, and the loads after step `step`.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn record(&mut self, step: u64, sandbox: &Sandbox) -> Result<(), ExportError> {
        if let Some((loads, every)) = &mut self.loads
            && step.is_multiple_of(*every)
        {
            let time = crate::export::to_picoseconds(sandbox.time());
            for bond in sandbox.loaded_bonds() {
                let ([a, b], mode) = (bond.parts, bond.load.mode.name());
                let load = if bond.load.is_bounded() { bond.load.share } else { f64::INFINITY };
                loads.line(&format!("{time},{},{},{a},{b},{mode},{}", bond.object, bond.record, share(load)));
            }
            loads.flush()?;
        }
        let all = sandbox.bond_failures();
        if all.len() == self.written {
            return Ok(());
        }
        for one in all.get(self.written..).unwrap_or_default() {
            let ([a, b], mode) = (one.parts, one.mode.name());
            let (time, centre) = (crate::export::to_picoseconds(one.time), one.centre);
            // Adding 0 makes -0 a 0.
            let (normal, velocity) = (one.normal + 0.0, one.velocity + 0.0);
            self.sheet.line(&format!(
                "{time},{},{},{a},{b},{mode},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                one.object,
                one.record,
                share(one.load),
                u8::from(one.by_blow),
                one.area,
                centre.x,
                centre.y,
                centre.z,
                one.strength,
                one.energy,
                normal.x,
                normal.y,
                normal.z,
                velocity.x,
                velocity.y,
                velocity.z,
                one.stress,
                share(one.whole_load)
            ));
        }
        self.written = all.len();
        self.sheet.flush()
    }
}

/// A load as a cell; an empty one where the bond had no strength that it could be a share of.
fn share(load: f64) -> String {
    if load.is_finite() { load.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneBody;

    #[test]
    fn loads_are_numbers_or_empty_and_what_is_thrown_may_hold() {
        assert_eq!([share(1.25), share(f64::INFINITY)], ["1.25".to_owned(), String::new()]);
        let thrown = |hold: bool| {
            let body = Box::new(SceneBody { hold, ..SceneBody::standing("builtin:box", 4) });
            let events = vec![Event::Projectile { time: 0.1, object: None, body }];
            BondLog::is_for(&Scene { events, ..Scene::default() })
        };
        assert!(thrown(true) && !thrown(false));
    }
}
