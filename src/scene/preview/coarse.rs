//! Copies of the body's octree with leaves at the preview's level, made by a worker, since a level-9 object takes
//! longer than a frame.
//!
//! In: a forest, a level. Out: its coarse copy; until that is ready, the copy of another level.

use std::sync::{Arc, Weak};

use crate::{
    compute::Compute,
    gpu::GpuError,
    scene::jobs::Worker,
    svo::{Forest, KeyArray, KeySlice, coarsen},
};

/// A body's forest with its leaves at the preview's level.
pub(super) struct Coarse {
    // Weak, since it must not keep octrees alive that no body uses.
    of: Weak<Forest>,
    pub forest: Arc<Forest>,
    pub tree: u32,
    /// Boundary voxels of the tree.
    pub keys: KeyArray,
}

/// A coarse copy being made.
struct CoarseJob {
    of: Weak<Forest>,
    level: u32,
    worker: Worker<Forest>,
}

/// The present coarse copy, and the one being made.
#[derive(Default)]
pub(super) struct CoarseCopy {
    there: Option<Coarse>,
    job: Option<CoarseJob>,
    /// Whether a copy was dropped, whose octrees may still be on the GPU.
    dropped: bool,
}

impl CoarseJob {
    fn start(forest: &Arc<Forest>, level: u32) -> Self {
        let fine = Arc::clone(forest);
        let worker = Worker::start(move |_| coarsen(&fine, level));
        Self { of: Arc::downgrade(forest), level, worker }
    }

    fn is_for(&self, forest: &Arc<Forest>, level: u32) -> bool {
        self.level == level && self.of.ptr_eq(&Arc::downgrade(forest))
    }
}

impl Coarse {
    fn new(compute: &Compute, of: &Arc<Forest>, forest: Arc<Forest>, tree: u32) -> Result<Self, GpuError> {
        let keys = KeyArray::new(compute, "preview voxels", KeySlice::default(), forest.level)?;
        let mut coarse = Self { of: Arc::downgrade(of), forest, tree, keys };
        coarse.choose(compute, tree)?;
        Ok(coarse)
    }

    fn choose(&mut self, compute: &Compute, tree: u32) -> Result<(), GpuError> {
        self.tree = tree;
        self.keys = KeyArray::new(compute, "preview voxels", self.voxels(), self.forest.level)?;
        Ok(())
    }

    fn is_of(&self, forest: &Arc<Forest>) -> bool {
        self.of.ptr_eq(&Arc::downgrade(forest))
    }

    /// Whether dropping it loses nothing: it is the body's own octree, which must not be kept alive and costs nothing
    /// to find again, or the body is gone.
    fn is_idle(&mut self) -> bool {
        self.of.strong_count() == 0 || self.of.as_ptr() == Arc::as_ptr(&self.forest)
    }

    /// Boundary voxels of the tree, Morton codes.
    pub fn voxels(&self) -> KeySlice<'_> {
        let starts = &self.forest.tree_start[self.tree as usize..];
        self.forest.leaves.keys.slice(starts[0] as usize..starts[1] as usize)
    }

    /// Index of the tree's first voxel in the slot of the fine forest: of a node, or of a leaf at the leaf level.
    pub fn first_voxel(&self, fine: &Forest) -> u32 {
        let level = self.forest.level;
        let of_level = if level < fine.level { fine.level_start[level as usize] } else { 0 };
        of_level + self.forest.tree_start[self.tree as usize]
    }
}

impl CoarseCopy {
    /// The present copy.
    pub fn there(&self) -> Option<&Coarse> {
        self.there.as_ref()
    }

    /// Whether a copy is being made.
    pub fn is_on_its_way(&self) -> bool {
        self.job.is_some()
    }

    /// Whether a copy was dropped since the last call.
    pub fn take_dropped(&mut self) -> bool {
        std::mem::take(&mut self.dropped)
    }

    /// Cancels the copy being made.
    pub fn give_up(&mut self) {
        self.job = None;
    }

    /// Drops the present copy if that loses nothing.
    pub fn drop_idle(&mut self) {
        self.dropped |= self.there.take_if(Coarse::is_idle).is_some();
    }

    /// Requests a copy of `tree` at `level`. Returns the level of the present copy, which may be another one while a
    /// worker makes the requested copy; `None` if there is no copy yet.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn refresh(
        &mut self,
        compute: &Compute,
        forest: &Arc<Forest>,
        tree: u32,
        level: u32,
    ) -> Result<Option<u32>, GpuError> {
        self.job.take_if(|job| !job.is_for(forest, level));
        let is_wanted = |c: &Coarse| c.is_of(forest) && c.forest.level == level.min(forest.level);
        if !self.there.as_ref().is_some_and(is_wanted) {
            // The body's own level needs no copy.
            let mut made = (level >= forest.level).then(|| Arc::clone(forest));
            if made.is_none() {
                let job = self.job.get_or_insert_with(|| CoarseJob::start(forest, level));
                match job.worker.ended() {
                    Some(Some(coarse)) => made = Some(Arc::new(coarse)),
                    None => {}
                    // The worker panicked: the next frame tries again.
                    Some(None) => self.job = None,
                }
            }
            if let Some(made) = made {
                self.job = None;
                let new = Coarse::new(compute, forest, made, tree)?;
                self.dropped |= self.there.replace(new).is_some();
            }
        }
        match self.there.as_mut().filter(|c| c.is_of(forest)) {
            Some(coarse) => {
                if coarse.tree != tree {
                    coarse.choose(compute, tree)?;
                }
                Ok(Some(coarse.forest.level))
            }
            None => Ok(None),
        }
    }
}
