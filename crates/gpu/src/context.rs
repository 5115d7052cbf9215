//! The device and its queue, opened with or without a window.
//!
//! In: optionally a window surface to be compatible with. Out: [`Gpu`], cheap to clone, shared by every stage.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    GpuError, Mishaps, Traffic,
    faults::{Faults, guarded},
    pipeline_store::{self, PipelineStore},
    traffic::Ledger,
};

/// An open device: the handle every GPU stage takes.
#[derive(Clone)]
pub struct Gpu {
    /// Kept for creating surfaces.
    pub instance: wgpu::Instance,
    /// The physical device.
    pub adapter: wgpu::Adapter,
    /// The logical device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Name, driver and kind of the adapter.
    pub info: wgpu::AdapterInfo,
    /// Limits in force (the adapter's own).
    pub limits: wgpu::Limits,
    /// Whether passes can be timed.
    pub has_timestamps: bool,
    faults: Arc<Faults>,
    mishaps: Arc<Mishaps>,
    memory: Arc<Memory>,
    ledger: Arc<Ledger>,
    pub(super) pipelines: Option<Arc<PipelineStore>>,
}

/// Bytes of storage buffers.
#[derive(Debug, Default)]
struct Memory {
    now: AtomicU64,
    peak: AtomicU64,
}

/// A buffer's part of them, given back with its last handle.
#[derive(Debug)]
pub(super) struct Lease {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Lease {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.memory.now.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Gpu {
    /// Opens a device with no window.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] or [`GpuError::NoDevice`].
    pub fn headless() -> Result<Self, GpuError> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle().with_env());
        Self::open(instance, None)
    }

    /// Opens a device on an existing instance, compatible with `surface` where one is given.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] or [`GpuError::NoDevice`].
    pub fn open(instance: wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<Self, GpuError> {
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            force_fallback_adapter: false,
            compatible_surface: surface,
            apply_limit_buckets: false,
        }))
        .map_err(|_| GpuError::NoAdapter)?;
        let info = adapter.get_info();
        let wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::PIPELINE_CACHE;
        let features = adapter.features() & wanted;
        let limits = adapter.limits();
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("kintsugi"),
            required_features: features,
            required_limits: limits.clone(),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        }))
        .map_err(|error| GpuError::NoDevice { adapter: info.name.clone(), reason: error.to_string() })?;

        let faults = Arc::new(Faults::default());
        let on_lost = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, message| {
            // `Destroyed` is our own doing.
            if reason != wgpu::DeviceLostReason::Destroyed {
                on_lost.lose(message);
            }
        });
        let on_error = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tracing::error!("{error}");
            on_error.tell(match error {
                wgpu::Error::OutOfMemory { .. } => {
                    GpuError::OutOfMemory { what: "a small buffer".into(), needed: 0 }
                }
                other => GpuError::Driver(other.to_string()),
            });
        }));
        Ok(Self {
            has_timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            instance,
            adapter,
            device,
            queue,
            info,
            limits,
            faults,
            mishaps: Arc::new(Mishaps::from_environment()),
            memory: Arc::default(),
            ledger: Arc::default(),
            pipelines: None,
        })
    }

    /// Compiled pipelines of earlier starts are taken from the user's cache folder, and new ones put there when the
    /// last handle of the device goes.
    #[must_use]
    pub fn keeping_pipelines(self) -> Self {
        match pipeline_store::cache_folder() {
            Some(folder) => self.keeping_pipelines_in(&folder),
            None => self,
        }
    }

    pub(super) fn keeping_pipelines_in(mut self, folder: &Path) -> Self {
        if self.device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            self.pipelines = PipelineStore::open(&self.device, &self.info, folder).map(Arc::new);
        }
        self
    }

    /// For descriptors of pipelines.
    pub(super) fn pipeline_cache(&self) -> Option<&wgpu::PipelineCache> {
        self.pipelines.as_deref().map(PipelineStore::cache)
    }

    /// A device for a test; `None`, where that is allowed, without an adapter.
    #[cfg(any(test, feature = "testing"))]
    pub fn for_test() -> Option<Self> {
        Self::headless().map_err(|error| crate::skip::note(&error.to_string())).ok()
    }

    /// The first error that the driver reported of this thread's work since the last call, if any: errors belong to
    /// whoever caused them.
    ///
    /// # Errors
    /// The error, which is then forgotten; [`GpuError::Lost`] for ever once the device is lost.
    pub fn check(&self) -> Result<(), GpuError> {
        self.faults.take()
    }

    /// Stands still until all that was submitted is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`], or what the driver reported of this thread's work.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.ledger.add(Traffic { waits: 1, ..Traffic::default() });
        if let Some(lost) = self.faults.lost() {
            return Err(lost);
        }
        self.poll(wgpu::PollType::wait_indefinitely(), self.mishaps.is_the_wait_to_lose())?;
        self.check()
    }

    /// Lets the driver tell what is done, without standing still.
    ///
    /// # Errors
    /// As [`Gpu::wait`].
    pub fn look(&self) -> Result<(), GpuError> {
        match self.faults.lost() {
            Some(lost) => Err(lost),
            None => self.poll(wgpu::PollType::Poll, false),
        }
    }

    fn poll(&self, how: wgpu::PollType, loses: bool) -> Result<(), GpuError> {
        let polled = guarded(|| {
            if loses {
                self.device.destroy();
                // As wgpu does when the driver says that the device is gone.
                std::panic::panic_any("a loss that a test asked for");
            }
            self.device.poll(how)
        });
        match polled {
            Ok(done) => done.map(|_| ()).map_err(|error| GpuError::Driver(error.to_string())),
            Err(message) => {
                self.faults.lose(message);
                self.check()
            }
        }
    }

    /// Runs calls of others that know no lost device and panic.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn guarded<R>(&self, calls: impl FnOnce() -> R) -> Result<R, GpuError> {
        guarded(calls).map_err(|message| {
            self.faults.lose(message.clone());
            GpuError::Lost(message)
        })
    }

    /// Memory on the device for `what`, of so many bytes, as `make` asks for it.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`]; [`GpuError::Driver`] where the driver refuses for another reason.
    pub fn allocate<R>(
        &self,
        what: &str,
        needed: u64,
        make: impl FnOnce(&wgpu::Device) -> R,
    ) -> Result<R, GpuError> {
        let full = || GpuError::OutOfMemory { what: what.to_owned(), needed };
        if self.mishaps.is_the_allocation_to_refuse() {
            return Err(full());
        }
        let invalid = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let made = make(&self.device);
        let is_full = pollster::block_on(memory.pop()).is_some();
        match pollster::block_on(invalid.pop()) {
            _ if is_full => Err(full()),
            Some(error) => Err(GpuError::Driver(error.to_string())),
            None => Ok(made),
        }
    }

    /// A small buffer, of which nobody asks whether there is memory for it: where there is none, the next wait of this
    /// thread says so.
    pub fn small_buffer(&self, descriptor: &wgpu::BufferDescriptor<'_>) -> wgpu::Buffer {
        if self.mishaps.is_the_allocation_to_refuse() {
            self.faults
                .tell(GpuError::OutOfMemory { what: "a small buffer".into(), needed: descriptor.size });
        }
        self.device.create_buffer(descriptor)
    }

    /// Mishaps on order, for tests.
    #[must_use]
    pub fn mishaps(&self) -> &Mishaps {
        &self.mishaps
    }

    /// Where traffic is counted.
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What stages cost since the last call, in the order of first use.
    #[must_use]
    pub fn take_traffic(&self) -> Vec<(&'static str, Traffic)> {
        self.ledger.take()
    }

    /// Whether the device is gone for good.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.faults.lost().is_some()
    }

    /// Counts a storage buffer for as long as the lease lives.
    pub(super) fn lease(&self, bytes: u64) -> Lease {
        let now = self.memory.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.memory.peak.fetch_max(now, Ordering::Relaxed);
        Lease { memory: Arc::clone(&self.memory), bytes }
    }

    /// Bytes of all storage buffers that are held now, copies for reading back not counted.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        self.memory.now.load(Ordering::Relaxed)
    }

    /// The most that [`Gpu::buffer_bytes`] has been since the last call, which begins anew.
    #[must_use]
    pub fn take_peak_bytes(&self) -> u64 {
        self.memory.peak.swap(self.buffer_bytes(), Ordering::Relaxed)
    }

    /// Largest storage buffer that one binding can cover, bytes.
    #[must_use]
    pub fn max_binding(&self) -> u64 {
        self.limits.max_storage_buffer_binding_size.min(self.limits.max_buffer_size)
    }

    /// `name (driver, backend)` for reports.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("{} ({} {}, {})", self.info.name, self.info.driver, self.info.driver_info, self.info.backend)
    }

    /// Whether the adapter is a software rasteriser.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buffer;

    #[test]
    fn buffers_are_counted_until_their_last_handle_goes() {
        let Some(gpu) = Gpu::for_test() else { return };
        let first = Buffer::<u32>::zeroed(&gpu, "first", 1000).unwrap();
        let again = first.clone();
        drop(Buffer::<u32>::zeroed(&gpu, "second", 500).unwrap());
        assert_eq!((gpu.buffer_bytes(), gpu.take_peak_bytes()), (4000, 6000));
        drop(first);
        assert_eq!((gpu.buffer_bytes(), gpu.take_peak_bytes()), (4000, 4000));
        drop(again);
        assert_eq!(gpu.buffer_bytes(), 0);
    }

    #[test]
    fn what_is_too_large_says_what_helps() {
        let Some(gpu) = Gpu::for_test() else { return };
        let most = gpu.max_binding() as usize / 4;
        let refused = |label: &str| Buffer::<u32>::zeroed(&gpu, label, most + 1).unwrap_err().to_string();
        assert!(refused("candidates").ends_with("use fewer seeds"), "{}", refused("candidates"));
        assert!(refused(crate::PICTURE).ends_with("use a smaller picture"), "{}", refused(crate::PICTURE));
        assert!(refused("pairs").contains("a lower level"), "{}", refused("pairs"));
        assert!(refused("pairs").contains(&gpu.max_binding().to_string()), "{}", refused("pairs"));
    }
}
