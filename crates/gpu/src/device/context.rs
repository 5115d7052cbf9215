//! The device and its queue, opened with or without a window.
//!
//! In: optionally a window surface to be compatible with. Out: [`Gpu`], cheap to clone, shared by every stage.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

#[cfg(any(test, feature = "testing"))]
use super::Mishaps;
use super::{
    GpuError, Traffic,
    buffer::Ledger,
    driver_errors::{DriverErrors, guarded},
    kernel::Kernels,
    pipeline_store::{self, PipelineStore},
};
use crate::adapters;

/// How long a wait for a graphics card may take. Drivers reset a card that does not answer after 2 to 10 s, so one that
/// has not answered by then never will.
const HARDWARE_WAIT: Duration = Duration::from_secs(20);
/// The same for an adapter that is a program: it is slow and does not hang, whatever else the machine does.
const SOFTWARE_WAIT: Duration = Duration::from_secs(600);

/// An open device, which all GPU stages share.
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
    driver_errors: Arc<DriverErrors>,
    #[cfg(any(test, feature = "testing"))]
    mishaps: Arc<Mishaps>,
    /// How long a wait may take, ms.
    wait_limit: Arc<AtomicU64>,
    memory: Arc<Memory>,
    ledger: Arc<Ledger>,
    pub(super) pipelines: Option<Arc<PipelineStore>>,
    pub(super) kernels: Arc<Kernels>,
}

/// Memory of storage buffers, bytes.
#[derive(Debug, Default)]
struct Memory {
    now: AtomicU64,
    peak: AtomicU64,
}

/// A buffer's share of the memory counter, returned when its last handle is dropped.
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
    /// Opens a device with no window, on the adapter that [`choose_adapter`](crate::choose_adapter) chose.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`], [`GpuError::NoSuchAdapter`] or [`GpuError::NoDevice`].
    pub fn headless() -> Result<Self, GpuError> {
        Self::open(adapters::instance(), None)
    }

    /// Opens a device on an existing instance, compatible with `surface` if one is given, on the adapter that
    /// [`choose_adapter`](crate::choose_adapter) chose.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`], [`GpuError::NoSuchAdapter`] or [`GpuError::NoDevice`].
    pub fn open(instance: wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<Self, GpuError> {
        let adapter = adapters::chosen(&instance, surface)?;
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

        let driver_errors = Arc::new(DriverErrors::default());
        let on_lost = Arc::clone(&driver_errors);
        device.set_device_lost_callback(move |reason, message| {
            // `Destroyed` means that this program dropped the device.
            if reason != wgpu::DeviceLostReason::Destroyed {
                on_lost.lose(message);
            }
        });
        let on_error = Arc::clone(&driver_errors);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tracing::error!("{error}");
            on_error.tell(match error {
                wgpu::Error::OutOfMemory { .. } => {
                    GpuError::OutOfMemory { what: "a small buffer".into(), needed: 0 }
                }
                other => GpuError::Driver(other.to_string()),
            });
        }));
        let wait_limit =
            if info.device_type == wgpu::DeviceType::Cpu { SOFTWARE_WAIT } else { HARDWARE_WAIT };
        Ok(Self {
            has_timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            instance,
            adapter,
            device,
            queue,
            info,
            limits,
            driver_errors,
            #[cfg(any(test, feature = "testing"))]
            mishaps: Arc::new(Mishaps::from_environment()),
            wait_limit: Arc::new(AtomicU64::new(wait_limit.as_millis() as u64)),
            memory: Arc::default(),
            ledger: Arc::default(),
            pipelines: None,
            kernels: Arc::default(),
        })
    }

    /// Loads compiled pipelines of earlier starts from the user's cache folder, and saves new ones when the last handle
    /// of the device is dropped.
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

    /// The pipeline cache, for descriptors of pipelines.
    pub(super) fn pipeline_cache(&self) -> Option<&wgpu::PipelineCache> {
        self.pipelines.as_deref().map(PipelineStore::cache)
    }

    /// A device for a test; `None` without an adapter, if tests may skip.
    #[cfg(any(test, feature = "testing"))]
    pub fn for_test() -> Option<Self> {
        Self::headless().map_err(|error| crate::skip::note(&error.to_string())).ok()
    }

    /// A handle of the same device that [`Gpu::is_software`] takes for a graphics card, whatever its driver says. With it a
    /// test plays by default settings what a machine with a graphics card plays.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn counted_as_real(mut self) -> Self {
        self.info.device_type = wgpu::DeviceType::DiscreteGpu;
        self
    }

    /// Whether both are handles of one device.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        // Not the handles: wgpu numbers devices by instance, so that the first device of every instance is equal.
        Arc::ptr_eq(&self.memory, &other.memory)
    }

    /// Returns the first error that the driver reported about this thread's work since the last call. Errors are
    /// reported to the thread that caused them.
    ///
    /// # Errors
    /// The error, which is then cleared; [`GpuError::Lost`] always once the device is lost.
    pub fn check(&self) -> Result<(), GpuError> {
        self.driver_errors.take()
    }

    /// Hands commands to the device's queue, all in one submission, and counts it.
    pub fn submit(&self, commands: impl IntoIterator<Item = wgpu::CommandBuffer>) {
        self.ledger.add(Traffic { submissions: 1, ..Traffic::default() });
        self.queue.submit(commands);
    }

    /// Sets how long a wait may take until the device counts as lost; at first it is 20 s, and 600 s where the adapter is
    /// software.
    pub fn set_wait_limit(&self, limit: Duration) {
        self.wait_limit.store(limit.as_millis().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Waits until all submitted work is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`], also if it takes longer than [`Gpu::set_wait_limit`] allows, or what the driver reported of
    /// this thread's work.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.ledger.add(Traffic { waits: 1, ..Traffic::default() });
        if let Some(lost) = self.driver_errors.lost() {
            return Err(lost);
        }
        let timeout = Some(Duration::from_millis(self.wait_limit.load(Ordering::Relaxed)));
        self.poll(wgpu::PollType::Wait { submission_index: None, timeout }, self.loses_this_wait())?;
        self.check()
    }

    /// Polls the driver for finished work, without waiting.
    ///
    /// # Errors
    /// See [`Gpu::wait`].
    pub fn look(&self) -> Result<(), GpuError> {
        match self.driver_errors.lost() {
            Some(lost) => Err(lost),
            None => self.poll(wgpu::PollType::Poll, false),
        }
    }

    fn poll(&self, how: wgpu::PollType, loses: bool) -> Result<(), GpuError> {
        let polled = guarded(|| {
            if loses {
                self.device.destroy();
                // Like wgpu when the driver reports a lost device.
                std::panic::panic_any("a loss that a test asked for");
            }
            self.device.poll(how)
        });
        match polled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(wgpu::PollError::Timeout)) => {
                let limit = self.wait_limit.load(Ordering::Relaxed) as f64 / 1e3;
                self.driver_errors.lose(format!("it has not answered for {limit} s"));
                self.check()
            }
            Ok(Err(error)) => Err(GpuError::Driver(error.to_string())),
            Err(message) => {
                self.driver_errors.lose(message);
                self.check()
            }
        }
    }

    /// Runs calls into libraries that panic when the device is lost.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn guarded<R>(&self, calls: impl FnOnce() -> R) -> Result<R, GpuError> {
        guarded(calls).map_err(|message| {
            self.driver_errors.lose(message.clone());
            GpuError::Lost(message)
        })
    }

    /// Allocates memory on the device for `what` with `make`, in `bytes`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`]; [`GpuError::Driver`] if the driver reports another error.
    pub fn allocate<R>(
        &self,
        what: &str,
        needed: u64,
        make: impl FnOnce(&wgpu::Device) -> R,
    ) -> Result<R, GpuError> {
        let full = || GpuError::OutOfMemory { what: what.to_owned(), needed };
        if self.refuses_this_allocation() {
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

    /// Creates a small buffer without checking for memory: if there is none, the next wait of this thread reports it.
    pub fn small_buffer(&self, descriptor: &wgpu::BufferDescriptor<'_>) -> wgpu::Buffer {
        if self.refuses_this_allocation() {
            self.driver_errors
                .tell(GpuError::OutOfMemory { what: "a small buffer".into(), needed: descriptor.size });
        }
        self.device.create_buffer(descriptor)
    }

    /// Runs calls that may fail for good reasons (a window is resized, memory is short), and says whether the driver
    /// found nothing to object to. The error goes to nobody else, and a panic counts as the loss of the device.
    pub fn is_accepted<R>(&self, calls: impl FnOnce() -> R) -> Option<R> {
        if self.fails_this_configuration() {
            return None;
        }
        let filters =
            [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let done = self.guarded(calls);
        // The last scope that was opened is closed first.
        let errors = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop()));
        let is_accepted = errors.inspect(|error| tracing::warn!("{error}")).count() == 0;
        done.ok().filter(|_| is_accepted)
    }

    /// Faults to inject, for tests.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn mishaps(&self) -> &Mishaps {
        &self.mishaps
    }

    #[cfg(any(test, feature = "testing"))]
    fn loses_this_wait(&self) -> bool {
        self.mishaps.is_the_wait_to_lose()
    }

    #[cfg(any(test, feature = "testing"))]
    fn refuses_this_allocation(&self) -> bool {
        self.mishaps.is_the_allocation_to_refuse()
    }

    #[cfg(any(test, feature = "testing"))]
    fn fails_this_configuration(&self) -> bool {
        self.mishaps.is_the_configuration_to_fail()
    }

    // What ships has no faults to inject.
    #[cfg(not(any(test, feature = "testing")))]
    const fn loses_this_wait(&self) -> bool {
        false
    }

    #[cfg(not(any(test, feature = "testing")))]
    const fn refuses_this_allocation(&self) -> bool {
        false
    }

    #[cfg(not(any(test, feature = "testing")))]
    const fn fails_this_configuration(&self) -> bool {
        false
    }

    /// The ledger of traffic.
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Traffic of all stages since the last call, in the order of first use.
    #[must_use]
    pub fn take_traffic(&self) -> Vec<(&'static str, Traffic)> {
        self.ledger.take()
    }

    /// The sum of [`Gpu::take_traffic`], for tests.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn take_all_traffic(&self) -> Traffic {
        self.take_traffic().into_iter().fold(Traffic::default(), |sum, (_, stage)| sum.plus(stage))
    }

    /// Whether the device is lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.driver_errors.lost().is_some()
    }

    /// Counts a storage buffer until the lease is dropped.
    pub(super) fn lease(&self, bytes: u64) -> Lease {
        let now = self.memory.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.memory.peak.fetch_max(now, Ordering::Relaxed);
        Lease { memory: Arc::clone(&self.memory), bytes }
    }

    /// Memory of all present storage buffers, without copies for readback, bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        self.memory.now.load(Ordering::Relaxed)
    }

    /// Maximum of [`Gpu::buffer_bytes`] since the last call.
    #[must_use]
    pub fn take_peak_bytes(&self) -> u64 {
        self.memory.peak.swap(self.buffer_bytes(), Ordering::Relaxed)
    }

    /// Largest storage buffer that one binding can cover, bytes.
    #[must_use]
    pub fn max_binding(&self) -> u64 {
        self.limits.max_storage_buffer_binding_size.min(self.limits.max_buffer_size)
    }

    /// `name (driver, backend)`, for reports.
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
    use crate::{Buffer, Recorder};

    #[test]
    fn the_list_of_adapters_has_the_one_that_opens() {
        let Some(gpu) = Gpu::for_test() else { return };
        let all = crate::adapters();
        assert!(all.iter().any(|entry| entry.name == gpu.info.name), "{all:?}");
    }

    /// A shader that works for longer than the wait may take stands for a driver that hangs.
    #[test]
    fn a_wait_that_takes_too_long_is_a_lost_device() {
        let Some(gpu) = Gpu::for_test() else { return };
        gpu.wait().unwrap();
        gpu.set_wait_limit(Duration::ZERO);
        let buffer = Buffer::<u32>::zeroed(&gpu, "long", 1 << 20).unwrap();
        let mut lost = None;
        for _ in 0..200 {
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.clear_buffer(buffer.raw(), 0, None);
            gpu.queue.submit([encoder.finish()]);
            lost = gpu.wait().err();
            if lost.is_some() {
                break;
            }
        }
        let told = lost.map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains("not answered") && gpu.is_lost(), "{told}");
    }

    #[test]
    fn what_the_driver_objects_to_is_no_error_of_anybody() {
        let Some(gpu) = Gpu::for_test() else { return };
        assert_eq!(gpu.is_accepted(|| 7), Some(7));
        let too_large = || {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: u64::MAX / 2,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        };
        assert!(gpu.is_accepted(too_large).is_none());
        gpu.check().unwrap();
        gpu.mishaps().fail_configuration(1);
        assert_eq!((gpu.is_accepted(|| 7), gpu.is_accepted(|| 8)), (None, Some(8)));
    }

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
    fn waits_submissions_and_bytes_are_counted_once_each() {
        let Some(gpu) = Gpu::for_test() else { return };
        let from = Buffer::from_slice(&gpu, "copied from", &[1_u32, 2, 3]).unwrap();
        assert_eq!(gpu.take_all_traffic(), Traffic { bytes_up: 12, ..Traffic::default() });
        let to = Buffer::<u32>::zeroed(&gpu, "copied to", 3).unwrap();
        let mut rec = Recorder::with_room(&gpu, "test", 0);
        rec.copy(&from, &to);
        rec.submit();
        assert_eq!(gpu.take_all_traffic(), Traffic { submissions: 1, ..Traffic::default() });
        assert_eq!(to.read(&gpu).unwrap(), [1, 2, 3]);
        let read = Traffic { waits: 1, submissions: 1, bytes_down: 12, ..Traffic::default() };
        assert_eq!(gpu.take_all_traffic(), read);
        assert_eq!(gpu.take_all_traffic(), Traffic::default());
    }

    #[test]
    fn a_software_adapter_counts_as_real_where_a_test_says_so() {
        let Some(gpu) = Gpu::for_test() else { return };
        let real = gpu.clone().counted_as_real();
        assert!(!real.is_software() && !real.clone().is_software() && real.is_same(&gpu));
        assert_eq!(gpu.is_software(), gpu.adapter.get_info().device_type == wgpu::DeviceType::Cpu);
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
