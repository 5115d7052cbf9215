//! Where stages run: as compute passes on an adapter, or as their native twins on the processor's cores.
//!
//! Both give the same bytes, so whoever asks for a stage hands a [`Compute`] on and knows no more of it. What a
//! stage leaves for the next one is an [`Array`], which lies where it was made. A software adapter is a processor that
//! plays a GPU, many times slower than the processor itself: [`Choice::Auto`] takes the cores then.

use std::sync::Arc;

use crate::{
    gpu::{Buffer, Gpu, GpuError},
    svo::{MAX_LEVEL, MAX_PASSES_LEVEL},
};

/// Who computes, as people ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The graphics adapter where there is a real one, else the processor's cores.
    #[default]
    Auto,
    /// The graphics adapter, even if it is only software.
    Gpu,
    /// The processor's cores; no graphics driver is touched.
    Cpu,
}

/// Where stages run.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "there are few, and they are handed on by reference")]
pub enum Compute {
    /// In compute passes of this device.
    Gpu(Gpu),
    /// On the processor's cores.
    Cpu,
}

impl Compute {
    /// Opens what was asked for, without a window.
    ///
    /// # Errors
    /// [`GpuError`] where [`Choice::Gpu`] finds no adapter.
    pub fn open(choice: Choice) -> Result<Self, GpuError> {
        match choice {
            Choice::Cpu => Ok(Self::Cpu),
            Choice::Gpu => Ok(Self::Gpu(Gpu::headless()?.keeping_pipelines())),
            // A driver that is missing, broken or software is none.
            Choice::Auto => Ok(match Gpu::headless() {
                Ok(gpu) if !gpu.is_software() => Self::Gpu(gpu.keeping_pipelines()),
                _ => Self::Cpu,
            }),
        }
    }

    /// What was asked for, beside a device that shows the window.
    #[must_use]
    pub fn beside(choice: Choice, gpu: &Gpu) -> Self {
        match choice {
            Choice::Gpu => Self::Gpu(gpu.clone()),
            Choice::Auto if !gpu.is_software() => Self::Gpu(gpu.clone()),
            Choice::Auto | Choice::Cpu => Self::Cpu,
        }
    }

    /// The device of the compute passes, where they run.
    #[must_use]
    pub fn gpu(&self) -> Option<&Gpu> {
        match self {
            Self::Gpu(gpu) => Some(gpu),
            Self::Cpu => None,
        }
    }

    /// The device, for what only compute passes do.
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

    /// The finest leaf level of octrees there.
    #[must_use]
    pub fn finest_level(&self) -> u32 {
        if self.gpu().is_some() { MAX_PASSES_LEVEL } else { MAX_LEVEL }
    }

    /// Whether octrees of a leaf level can be there, to be asked before one is made.
    ///
    /// # Errors
    /// [`GpuError::TooFine`].
    pub fn takes(&self, level: u32) -> Result<(), GpuError> {
        let most = self.finest_level();
        // Beyond what any backend takes, whoever makes the octree says so.
        if level > most && level <= MAX_LEVEL { Err(GpuError::TooFine { level, most }) } else { Ok(()) }
    }

    /// `gpu` or `cpu`, as reports name it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gpu(_) => "gpu",
            Self::Cpu => "cpu",
        }
    }

    /// Both, for reports.
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
    /// The error, as [`Gpu::check`] has it.
    pub fn check(&self) -> Result<(), GpuError> {
        self.gpu().map_or(Ok(()), Gpu::check)
    }

    /// Waits until all that was submitted is done; on the CPU it is.
    ///
    /// # Errors
    /// [`GpuError::Driver`].
    pub fn wait(&self) -> Result<(), GpuError> {
        self.gpu().map_or(Ok(()), Gpu::wait)
    }
}

/// Where stages ran, as reports say it.
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

/// Elements that a stage left for another, where it ran. A clone has the same elements.
#[derive(Clone, Debug)]
pub enum Array<T> {
    /// On the device.
    Device(Buffer<T>),
    /// In memory.
    Host(Arc<Vec<T>>),
}

impl<T: bytemuck::Pod> Array<T> {
    /// An array that holds `data` where stages run; `label` names it in errors.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn from_slice(compute: impl Into<Compute>, label: &str, data: &[T]) -> Result<Self, GpuError> {
        match compute.into() {
            Compute::Gpu(gpu) => Ok(Self::Device(Buffer::from_slice(&gpu, label, data)?)),
            Compute::Cpu => Ok(Self::Host(Arc::new(data.to_vec()))),
        }
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Device(buffer) => buffer.len(),
            Self::Host(data) => data.len(),
        }
    }

    /// No elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffer, for a pass.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] where the elements are in memory.
    pub fn device(&self) -> Result<&Buffer<T>, GpuError> {
        match self {
            Self::Device(buffer) => Ok(buffer),
            Self::Host(_) => Err(GpuError::NoPasses),
        }
    }

    /// The elements, for a native stage.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] where they are on the device.
    pub fn host(&self) -> Result<&[T], GpuError> {
        match self {
            Self::Host(data) => Ok(data),
            Self::Device(_) => Err(GpuError::NoPasses),
        }
    }

    /// The elements in memory, read back where they are on the device.
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
