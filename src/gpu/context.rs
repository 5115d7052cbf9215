//! The device and its queue, opened with or without a window.
//!
//! In: optionally a window surface to be compatible with. Out: [`Gpu`], cheap to clone, shared by every stage.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::{
    Traffic,
    pipeline_store::{self, PipelineStore},
    traffic::Ledger,
};

/// What makes a buffer smaller: lists of candidates grow with the seeds, everything else with the voxels.
fn smaller(what: &str) -> &'static str {
    if what == "candidates" { "fewer seeds" } else { "a lower level, fewer seeds, or a smaller object" }
}

/// What can go wrong between the program and the graphics driver.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GpuError {
    /// The system offers no adapter that can run compute shaders.
    #[error(
        "no usable graphics adapter was found; install a Vulkan driver (on Debian or Ubuntu `apt-get install \
         mesa-vulkan-drivers libvulkan1` gives a software one), then run `kintsugi doctor`"
    )]
    NoAdapter,
    /// The adapter refused to open a device.
    #[error(
        "the graphics adapter {adapter} refused to open a device: {reason}; run `kintsugi doctor` for its limits"
    )]
    NoDevice {
        /// Adapter name as the driver reports it.
        adapter: String,
        /// The driver's reason.
        reason: String,
    },
    /// Something only compute passes do was asked for where there are none: a mistake in the program.
    #[error(
        "this needs compute passes and the stages run on the CPU; start with --compute gpu, and please report this"
    )]
    NoPasses,
    /// The device was lost (driver reset, unplugged, crashed).
    #[error(
        "the graphics device was lost ({0}); start again; what the window showed is kept: Ctrl+P, \"Reopen the last session\""
    )]
    Lost(String),
    /// A buffer would exceed what the adapter can bind or allocate.
    #[error(
        "{what} would take {needed} bytes of graphics memory and one buffer of this adapter holds {allowed}; use {}",
        smaller(.what)
    )]
    TooLarge {
        /// What was to be stored.
        what: String,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that the adapter allows.
        allowed: u64,
    },
    /// An octree is finer than the Morton codes of the passes tell cells apart.
    #[error(
        "octrees of level {level} are for the processor's cores: compute passes go to level {most}; run on the cores \
         (--compute cpu, or Run on: cores in the window), or take level {most} or lower"
    )]
    TooFine {
        /// Its leaf level.
        level: u32,
        /// The finest that passes go to.
        most: u32,
    },
    /// A kernel was given other buffers than its shader declares: a mistake in the program.
    #[error("the kernel {kernel} cannot run: {what}; please report this")]
    Binding {
        /// Path of the shader.
        kernel: &'static str,
        /// What does not fit.
        what: String,
    },
    /// The driver reported an error in work that was submitted.
    #[error("the graphics driver reported an error: {0}")]
    Driver(String),
}

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
    fault: Arc<Fault>,
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

#[derive(Default)]
struct Fault {
    lost: AtomicBool,
    message: Mutex<Option<GpuError>>,
}

impl Fault {
    fn set(&self, error: GpuError) {
        if let Ok(mut slot) = self.message.lock() {
            // The first error is the cause; later ones follow from it.
            slot.get_or_insert(error);
        }
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

        let fault = Arc::new(Fault::default());
        let on_lost = Arc::clone(&fault);
        device.set_device_lost_callback(move |reason, message| {
            // `Destroyed` is our own doing at exit.
            if reason != wgpu::DeviceLostReason::Destroyed {
                on_lost.lost.store(true, Ordering::SeqCst);
                on_lost.set(GpuError::Lost(message));
            }
        });
        let on_error = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tracing::error!("{error}");
            on_error.set(GpuError::Driver(error.to_string()));
        }));
        Ok(Self {
            has_timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            instance,
            adapter,
            device,
            queue,
            info,
            limits,
            fault,
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
    #[cfg(test)]
    pub(crate) fn for_test() -> Option<Self> {
        Self::headless().map_err(|error| crate::skip::note(&error.to_string())).ok()
    }

    /// The first error the driver reported since the last call, if any.
    ///
    /// # Errors
    /// The error, which is then forgotten unless the device is lost.
    pub fn check(&self) -> Result<(), GpuError> {
        let Ok(mut slot) = self.fault.message.lock() else {
            return Ok(());
        };
        if self.fault.lost.load(Ordering::SeqCst) {
            return Err(slot.clone().unwrap_or(GpuError::Lost("no reason given".into())));
        }
        slot.take().map_or(Ok(()), Err)
    }

    /// Stands still until all that was submitted is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn wait(&self) -> Result<(), GpuError> {
        self.ledger.add(Traffic { waits: 1, ..Traffic::default() });
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .map(|_| ())
            .map_err(|error| GpuError::Driver(error.to_string()))
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
        self.fault.lost.load(Ordering::SeqCst)
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
    use crate::gpu::Buffer;

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
        assert!(refused("pairs").contains("a lower level"), "{}", refused("pairs"));
        assert!(refused("pairs").contains(&gpu.max_binding().to_string()), "{}", refused("pairs"));
    }
}
