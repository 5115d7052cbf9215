//! `bonds.csv` of `kintsugi simulate`: every bond that failed, with its load, in scenes whose bodies hold by bonds.
//!
//! In: the sandbox after every step. Out: a line a bond.

use std::path::Path;

use crate::{
    export::{ExportError, Sheet},
    scene::{Event, Sandbox, Scene},
};

/// Name of the file.
pub const BONDS: &str = "bonds.csv";

const COLUMNS: &str = "time,object,break,a,b,mode,load,by_blow,area,x,y,z";

/// The file being written.
pub struct BondLog {
    sheet: Sheet,
    written: usize,
}

impl BondLog {
    /// Whether bodies of a scene hold by bonds, now or later.
    #[must_use]
    pub fn is_for(scene: &Scene) -> bool {
        let cracks = |event: &Event| match event {
            Event::Impact { hold, .. } => *hold,
            Event::Projectile { .. } => false,
        };
        scene.bodies.iter().any(|body| body.hold)
            || scene.breaks.iter().any(|one| one.hold)
            || scene.events.iter().any(cracks)
    }

    /// Creates the file in `folder`.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(folder: &Path) -> Result<Self, ExportError> {
        Ok(Self { sheet: Sheet::create(&folder.join(BONDS), COLUMNS)?, written: 0 })
    }

    /// The file lies in `folder` now.
    pub fn moved_to(&mut self, folder: &Path) {
        self.sheet.moved_to(folder);
    }

    /// Writes what failed since the last call.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn record(&mut self, sandbox: &Sandbox) -> Result<(), ExportError> {
        let all = sandbox.bond_failures();
        if all.len() == self.written {
            return Ok(());
        }
        for one in &all[self.written..] {
            let ([a, b], mode) = (one.parts, format!("{:?}", one.mode).to_lowercase());
            let (time, centre) = (crate::export::to_picoseconds(one.time), one.centre);
            self.sheet.line(&format!(
                "{time},{},{},{a},{b},{mode},{},{},{},{},{},{}",
                one.object,
                one.record,
                one.load,
                u8::from(one.by_blow),
                one.area,
                centre.x,
                centre.y,
                centre.z
            ));
        }
        self.written = all.len();
        self.sheet.flush()
    }
}
