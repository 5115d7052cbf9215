//! Free memory of the machine: what would not fit is refused in one line, since an allocation that fails ends the program.
//!
//! In: an estimate, bytes. Out: nothing, or how much is missing. Only Linux tells what is free; elsewhere nothing is
//! refused.

use std::fmt;

/// Less than this is not asked about.
const LITTLE: u64 = 64 << 20;

/// Work needs more memory than is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// An estimate of what it needs, bytes.
    pub needed: u64,
    /// What is free, bytes.
    pub free: u64,
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let (needed, free) = (gigabytes(self.needed), gigabytes(self.free));
        write!(f, "about {needed:.2} GB of memory are needed and {free:.2} GB are free")
    }
}

/// Memory that is free or that the system can free, bytes. Tests set it by a variable.
#[must_use]
pub fn free() -> Option<u64> {
    #[cfg(any(test, feature = "testing"))]
    if let Some(free) = std::env::var("KINTSUGI_FREE_BYTES").ok().and_then(|text| text.parse().ok()) {
        return Some(free);
    }
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

/// Whether work that needs so many bytes fits.
///
/// # Errors
/// [`Short`].
pub fn check(needed: u64) -> Result<(), Short> {
    match free().filter(|_| needed >= LITTLE) {
        Some(free) if needed > free => Err(Short { needed, free }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_what_is_free() {
        assert_eq!(check(LITTLE - 1), Ok(()));
        let Some(free) = free() else { return };
        assert!(free > 1 << 20, "{free}");
        let short = check(u64::MAX).unwrap_err();
        assert_eq!(short.needed, u64::MAX);
        let told = Short { needed: 12_340_000_000, free: 4_000_000_000 }.to_string();
        assert_eq!(told, "about 12.34 GB of memory are needed and 4.00 GB are free");
    }
}
