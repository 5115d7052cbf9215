//! What tests of the sandbox and of its parts share: opening a scene, waiting, aiming.

use std::time::{Duration, Instant};

use glam::Vec3;

use super::{PieceEdit, Sandbox, SandboxError};
use crate::{
    bodies::BodyId,
    fracture::Fracturer,
    gpu::Gpu,
    scene::{Aim, Arrived, Scene, preview::Preview},
    svo::Arena,
};

/// Longest that a test waits for a worker.
const PATIENCE: Duration = Duration::from_secs(240);

/// A sandbox with the vase at a leaf level, and compiled passes as the window's worker makes them.
pub fn opened(gpu: &Gpu, level: u32) -> Sandbox {
    let sandbox = shown(gpu, Scene::of_mesh("builtin:vase", level));
    Fracturer::shared(&sandbox.passes, gpu).unwrap();
    sandbox
}

/// A sandbox with a scene.
pub fn shown(gpu: &Gpu, scene: Scene) -> Sandbox {
    let mut sandbox = Sandbox::new(gpu).unwrap();
    sandbox.open_scene(scene);
    until(&mut sandbox, Arrived::Opened);
    sandbox
}

/// Waits until something arrives.
pub fn until(sandbox: &mut Sandbox, wanted: Arrived) {
    let start = Instant::now();
    while sandbox.poll().unwrap() != Some(wanted) {
        assert!(start.elapsed() < PATIENCE, "{wanted:?} never comes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Aims at the middle of the picture from the front.
pub fn aim(sandbox: &Sandbox) -> Aim {
    let (low, high) = sandbox.bounds(None).unwrap();
    let from = low.midpoint(high) + Vec3::Z * 5.0;
    let pick = sandbox.pick(from, Vec3::NEG_Z).expect("the object is hit");
    sandbox.aim_at(&pick, Vec3::NEG_Z).unwrap()
}

impl Sandbox {
    /// Whether these can be one, and why not.
    pub(in crate::scene) fn can_unite(&self, ids: &[BodyId]) -> Result<(), SandboxError> {
        self.union_of(ids)?.shape(crate::fracture::Cancel::never()).map(|_| ())
    }

    /// Merges what is selected, and waits for it.
    pub(in crate::scene) fn merge_selected(&mut self) -> Result<usize, SandboxError> {
        let count = self.edit(PieceEdit::Merge)?;
        while self.poll()? != Some(Arrived::Merged) {
            assert!(self.is_merging(), "it never comes");
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(count)
    }

    /// The preview itself, for its own tests.
    pub(in crate::scene) fn preview_mut(&mut self) -> &mut Preview {
        &mut self.preview
    }

    /// The octrees on the GPU.
    pub fn read_arena<T>(&self, read: impl FnOnce(&Arena) -> T) -> T {
        read(&self.stage.arena().read().unwrap())
    }
}
