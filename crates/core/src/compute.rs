//! The backend of the stages: compute passes on an adapter, or the processor's cores.
//!
//! Both give the same bytes, so callers of a stage only pass a [`Compute`] on. The result of a stage for the next one
//! is an [`Array`], which lies where it was made. A software adapter emulates a GPU on the processor, many times slower
//! than the cores themselves: [`Choice::Auto`] then uses the cores.

use std::sync::Arc;

use crate::{
    gpu::{Buffer, Gpu, GpuError},
    svo::{MAX_LEVEL, MAX_PASSES_LEVEL},
};

/// The user's choice of a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The graphics adapter if it is a real one, else the processor's cores.
    #[default]
    Auto,
    /// The graphics adapter, even if it is only software.
    Gpu,
    /// The processor's cores; no graphics driver is used.
    Cpu,
}

/// The backend of the stages.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "there are few, and they are handed on by reference")]
pub enum Compute {
    /// In compute passes of this device.
    Gpu(Gpu),
    /// On the processor's cores.
    Cpu,
}

impl Compute {
    /// Opens the chosen backend, without a window.
    ///
    /// # Errors
    /// [`GpuError`] if [`Choice::Gpu`] finds no adapter; [`GpuError::NoSuchAdapter`] also with [`Choice::Auto`].
    pub fn open(choice: Choice) -> Result<Self, GpuError> {
        match choice {
            Choice::Cpu => Ok(Self::Cpu),
            Choice::Gpu => Ok(Self::Gpu(Gpu::headless()?.keeping_pipelines())),
            // A driver that is missing, broken or software does not count.
            Choice::Auto => Ok(match Gpu::headless() {
                Ok(gpu) if !gpu.is_software() => Self::Gpu(gpu.keeping_pipelines()),
                // The user named one.
                Err(error @ GpuError::NoSuchAdapter { .. }) => return Err(error),
                _ => Self::Cpu,
            }),
        }
    }

    /// The chosen backend, beside a device that shows the window.
    #[must_use]
    pub fn beside(choice: Choice, gpu: &Gpu) -> Self {
        match choice {
            Choice::Gpu => Self::Gpu(gpu.clone()),
            Choice::Auto if !gpu.is_software() => Self::Gpu(gpu.clone()),
            Choice::Auto | Choice::Cpu => Self::Cpu,
        }
    }

    /// The device of the compute passes, if they run on one.
    #[must_use]
    pub fn gpu(&self) -> Option<&Gpu> {
        match self {
            Self::Gpu(gpu) => Some(gpu),
            Self::Cpu => None,
        }
    }

    /// The device, for work that only compute passes can do.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] on the CPU.
    pub fn device(&self) -> Result<&Gpu, GpuError> {
        self.gpu().ok_or(GpuError::NoPasses)
    }

    /// Whether the stages run on the processor's cores, by themselves or behind a software driver.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.gpu().is_none_or(Gpu::is_software)
    }

    /// The finest leaf level of octrees on this backend.
    #[must_use]
    pub fn finest_level(&self) -> u32 {
        if self.gpu().is_some() { MAX_PASSES_LEVEL } else { MAX_LEVEL }
    }

    /// Checks whether the backend supports octrees of a leaf level, before one is made.
    ///
    /// # Errors
    /// [`GpuError::TooFine`].
    pub fn takes(&self, level: u32) -> Result<(), GpuError> {
        let most = self.finest_level();
        // Levels that no backend supports are rejected when the octree is made.
        if level > most && level <= MAX_LEVEL { Err(GpuError::TooFine { level, most }) } else { Ok(()) }
    }

    /// `gpu` or `cpu`, the name in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gpu(_) => "gpu",
            Self::Cpu => "cpu",
        }
    }

    /// Name and adapter, for reports.
    #[must_use]
    pub fn ran_on(&self) -> RanOn {
        RanOn { compute: self.name(), adapter: self.describe() }
    }

    /// The adapter, or the number of threads, for reports.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Gpu(gpu) => gpu.describe(),
            Self::Cpu => match rayon::current_num_threads() {
                1 => "CPU, 1 thread".to_owned(),
                threads => format!("CPU, {threads} threads"),
            },
        }
    }

    /// The first error that the driver reported since the last call, if any; on the CPU there is none.
    ///
    /// # Errors
    /// See [`Gpu::check`].
    pub fn check(&self) -> Result<(), GpuError> {
        self.gpu().map_or(Ok(()), Gpu::check)
    }

    /// Waits until all submitted work is done; on the CPU it is.
    ///
    /// # Errors
    /// [`GpuError::Driver`].
    pub fn wait(&self) -> Result<(), GpuError> {
        self.gpu().map_or(Ok(()), Gpu::wait)
    }
}

/// The backend, for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RanOn {
    /// `gpu` or `cpu`.
    pub compute: &'static str,
    /// The adapter, or the processor's threads.
    pub adapter: String,
}

impl From<&Self> for Compute {
    fn from(compute: &Self) -> Self {
        compute.clone()
    }
}

impl From<&Gpu> for Compute {
    fn from(gpu: &Gpu) -> Self {
        Self::Gpu(gpu.clone())
    }
}

/// Elements that a stage passes to another, where it ran. A clone has the same elements.
#[derive(Clone, Debug)]
pub enum Array<T> {
    /// On the device.
    Device(Buffer<T>),
    /// In memory.
    Host(Arc<Vec<T>>),
}

impl<T: bytemuck::Pod> Array<T> {
    /// An array of `data` on the backend; `label` is its name in errors.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn from_slice(compute: impl Into<Compute>, label: &str, data: &[T]) -> Result<Self, GpuError> {
        match compute.into() {
            Compute::Gpu(gpu) => Ok(Self::Device(Buffer::from_slice(&gpu, label, data)?)),
            Compute::Cpu => Ok(Self::Host(Arc::new(data.to_vec()))),
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Device(buffer) => buffer.len(),
            Self::Host(data) => data.len(),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffer, for a pass.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if the elements are in memory.
    pub fn device(&self) -> Result<&Buffer<T>, GpuError> {
        match self {
            Self::Device(buffer) => Ok(buffer),
            Self::Host(_) => Err(GpuError::NoPasses),
        }
    }

    /// The elements, for a native stage.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if they are on the device.
    pub fn host(&self) -> Result<&[T], GpuError> {
        match self {
            Self::Host(data) => Ok(data),
            Self::Device(_) => Err(GpuError::NoPasses),
        }
    }

    /// The elements in memory, read back if they are on the device.
    ///
    /// # Errors
    /// [`GpuError::Lost`], [`GpuError::Driver`], or [`GpuError::NoPasses`] for a device's array without its device.
    pub fn read(&self, compute: impl Into<Compute>) -> Result<Vec<T>, GpuError> {
        match self {
            Self::Device(buffer) => buffer.read(compute.into().device()?),
            Self::Host(data) => Ok(data.to_vec()),
        }
    }
}
