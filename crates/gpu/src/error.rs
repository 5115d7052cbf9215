//! What can go wrong between the program and the graphics driver, in words that say what helps.

/// What makes a buffer smaller: lists of candidates grow with the seeds, everything else with the voxels.
fn smaller(what: &str) -> &'static str {
    match what {
        "candidates" => "fewer seeds",
        "near pairs" => "fewer bodies, or put them farther apart",
        PICTURE => "a smaller picture",
        _ => "a lower level, fewer seeds, or a smaller object",
    }
}

/// What buffers of a picture are called in errors.
pub const PICTURE: &str = "a picture of this size";

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
        "the graphics device was lost ({0}); start again, on another adapter or on the cores (--compute cpu); what a window showed \
         is kept: Ctrl+P, \"Reopen the last session\""
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
    /// The adapter's memory is full.
    #[error(
        "{what} needs {needed} bytes of graphics memory and the adapter has no more; close other programs that draw, use \
         {}, or run on the cores (--compute cpu, or Run on: cores in the window)",
        smaller(.what)
    )]
    OutOfMemory {
        /// What was to be stored.
        what: String,
        /// Bytes that it needs.
        needed: u64,
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
    /// Too many bodies lie in one place, whoever looks for their contacts.
    #[error(
        "more than {most} pairs of bodies are near each other; move them apart, or take fewer: pieces of one object in \
         its place are fine, thousands of whole ones are not"
    )]
    Crowded {
        /// Most pairs that are looked at.
        most: usize,
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

impl GpuError {
    /// Whether memory is what is missing.
    #[must_use]
    pub fn is_about_memory(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::OutOfMemory { .. })
    }

    /// A loss without advice, for a program that goes on.
    #[must_use]
    pub fn what_was_lost(&self) -> String {
        match self {
            Self::Lost(reason) => format!("The graphics device was lost ({reason})"),
            other => other.to_string(),
        }
    }

    /// Whether the device is gone for good.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Lost(_))
    }
}
