//! What methods prepare before they break: compute passes, which take a while to compile.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::gpu::GpuError;

/// What methods have prepared, each under a type of its own.
#[derive(Default)]
pub struct Passes(Mutex<HashMap<TypeId, Arc<Slot>>>);

#[derive(Default)]
struct Slot {
    ready: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Held by the thread that prepares.
    preparing: Mutex<()>,
    tried: AtomicBool,
}

impl Passes {
    fn slot<T: Any>(&self) -> Arc<Slot> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(TypeId::of::<T>()).or_default())
    }

    /// The `T` of this device, which the first call makes. A call on another thread waits for it.
    ///
    /// # Errors
    /// That of `make`; the next call tries again.
    pub fn prepared<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce() -> Result<T, GpuError>,
    ) -> Result<Arc<T>, GpuError> {
        let slot = self.slot::<T>();
        let _alone = slot.preparing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = self.ready() {
            return Ok(ready);
        }
        let made = make();
        slot.tried.store(true, Ordering::Release);
        let made = Arc::new(made?);
        let _ = slot.ready.set(Arc::clone(&made) as _);
        Ok(made)
    }

    /// The `T`, where it is there already. Does not wait.
    #[must_use]
    pub fn ready<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.slot::<T>().ready.get()?).downcast().ok()
    }

    /// Whether making the `T` has ended once, well or not.
    #[must_use]
    pub fn is_settled<T: Any>(&self) -> bool {
        self.slot::<T>().tried.load(Ordering::Acquire)
    }
}
