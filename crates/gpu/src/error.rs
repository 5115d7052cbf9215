//! Errors of the graphics driver and device, with messages that say what helps.

/// How to make a buffer smaller: lists of candidates grow with the seeds, all other buffers with the voxels.
fn smaller(what: &str) -> &'static str {
    match what {
        "candidates" => "fewer seeds",
        "near pairs" => "fewer bodies, or put them farther apart",
        PICTURE => "a smaller picture",
        _ => "a lower level, fewer seeds, or a smaller object",
    }
}

/// Name of the picture's buffers in errors.
pub const PICTURE: &str = "a picture of this size";

/// Errors of the graphics driver and device.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GpuError {
    /// The system offers no adapter that can run compute shaders.
    #[error(
        "no usable graphics adapter was found; install a Vulkan driver (on Debian or Ubuntu `apt-get install \
         mesa-vulkan-drivers libvulkan1` gives a software one), then run `kintsugi doctor`"
    )]
    NoAdapter,
    /// No adapter has the name that was chosen.
    #[error(
        "no graphics adapter is called {wanted:?}; there are: {there}; give a part of a name, or its number"
    )]
    NoSuchAdapter {
        /// The name.
        wanted: String,
        /// The adapters that there are, each with its number.
        there: String,
    },
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
    /// A function that needs compute passes was called on the CPU backend: a bug in the program.
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
        /// Name of the buffer.
        what: String,
        /// Required size, bytes.
        needed: u64,
        /// Size that the adapter allows, bytes.
        allowed: u64,
    },
    /// The adapter's memory is full.
    #[error(
        "{what} needs {needed} bytes of graphics memory and the adapter has no more; close other programs that draw, use \
         {}, or run on the cores (--compute cpu, or Run on: cores in the window)",
        smaller(.what)
    )]
    OutOfMemory {
        /// Name of the buffer.
        what: String,
        /// Required size, bytes.
        needed: u64,
    },
    /// The octree is finer than the Morton codes of the passes can represent.
    #[error(
        "octrees of level {level} are for the processor's cores: compute passes go to level {most}; run on the cores \
         (--compute cpu, or Run on: cores in the window), or take level {most} or lower"
    )]
    TooFine {
        /// Its leaf level.
        level: u32,
        /// The finest level of the passes.
        most: u32,
    },
    /// Too many bodies are near each other, on any backend.
    #[error(
        "more than {most} pairs of bodies are near each other; move them apart, or take fewer: pieces of one object in \
         its place are fine, thousands of whole ones are not"
    )]
    Crowded {
        /// Most pairs that are supported.
        most: usize,
    },
    /// The contacts of bodies near each other would not fit into the free memory, on any backend.
    #[error(
        "bodies are near each other or touch in {count} places: for their contacts {short}; move bodies apart, take fewer, \
         or close other programs"
    )]
    NoRoom {
        /// Pairs of bodies, or contacts.
        count: usize,
        /// What is needed, and what is free.
        short: String,
    },
    /// A kernel was given other resources than its shader declares: a bug in the program.
    #[error("the kernel {kernel} cannot run: {what}; please report this")]
    Binding {
        /// Path of the shader.
        kernel: &'static str,
        /// What does not match.
        what: String,
    },
    /// The driver reported an error in work that was submitted.
    #[error("the graphics driver reported an error: {0}")]
    Driver(String),
}

impl GpuError {
    /// Whether memory is the problem.
    #[must_use]
    pub fn is_about_memory(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::OutOfMemory { .. })
    }

    /// Description of a loss without advice, for a program that recovers.
    #[must_use]
    pub fn what_was_lost(&self) -> String {
        match self {
            Self::Lost(reason) => format!("The graphics device was lost ({reason})"),
            other => other.to_string(),
        }
    }

    /// Whether the device is lost.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Lost(_))
    }
}
