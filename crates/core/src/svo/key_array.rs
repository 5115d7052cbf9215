//! Morton codes on a backend: in a buffer of the device, or in memory.

use std::sync::Arc;

use super::{KeySlice, Keys, MAX_PASSES_LEVEL};
use crate::{
    compute::Compute,
    gpu::{Buffer, GpuError},
};

/// Morton codes of the boundary voxels of an octree, ascending, on the backend of the stages.
#[derive(Clone, Debug)]
pub enum KeyArray {
    /// On the device, in 32 bits.
    Device(Buffer<u32>),
    /// In memory.
    Host(Arc<Keys>),
}

impl KeyArray {
    /// Uploads the codes of an octree of `level`; `label` names the array in errors.
    ///
    /// # Errors
    /// [`GpuError::TooFine`] for a level too fine for passes, [`GpuError::TooLarge`].
    pub fn new(
        compute: impl Into<Compute>,
        label: &str,
        keys: KeySlice<'_>,
        level: u32,
    ) -> Result<Self, GpuError> {
        match compute.into() {
            Compute::Gpu(gpu) => {
                let words = keys.words().filter(|_| level <= MAX_PASSES_LEVEL);
                let words = words.ok_or(GpuError::TooFine { level, most: MAX_PASSES_LEVEL })?;
                Ok(Self::Device(Buffer::from_slice(&gpu, label, words)?))
            }
            Compute::Cpu => {
                let mut own = Keys::default();
                own.extend_from_slice(keys);
                Ok(Self::Host(Arc::new(own)))
            }
        }
    }

    /// The buffer, for a pass.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if the codes are in memory.
    pub fn device(&self) -> Result<&Buffer<u32>, GpuError> {
        match self {
            Self::Device(buffer) => Ok(buffer),
            Self::Host(_) => Err(GpuError::NoPasses),
        }
    }

    /// The codes, for a native stage.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if they are on the device.
    pub fn host(&self) -> Result<KeySlice<'_>, GpuError> {
        match self {
            Self::Host(keys) => Ok(keys.as_slice()),
            Self::Device(_) => Err(GpuError::NoPasses),
        }
    }
}
