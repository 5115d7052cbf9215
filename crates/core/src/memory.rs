//! Free memory of the machine: what would not fit is refused in one line, since an allocation that fails ends the program.
//!
//! In: an estimate, bytes. Out: nothing, or how much is missing. Only Linux tells what is free; elsewhere nothing is
//! refused. There the least counts of: what the machine has, what the control groups of the process (those of a container
//! or a batch system) still allow, and what its limit of address space (`ulimit -v`) still allows.

use std::{fmt, fs, path::Path};

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
    free_by(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
}

fn free_by(processes: &Path, groups: &Path) -> Option<u64> {
    let machine = kibibytes(&processes.join("meminfo"), "MemAvailable:");
    [machine, left_to_groups(processes, groups), left_of_address_space(processes)].into_iter().flatten().min()
}

/// The number behind a word at the beginning of a line, in a file that says KiB; bytes.
fn kibibytes(file: &Path, word: &str) -> Option<u64> {
    let told = fs::read_to_string(file).ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix(word))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

/// What the process's control group and the groups above it (version 2) still allow. Pages of files that nothing has used
/// lately make way.
fn left_to_groups(processes: &Path, groups: &Path) -> Option<u64> {
    let told = fs::read_to_string(processes.join("self/cgroup")).ok()?;
    let own = told.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/');
    let number = |file: &Path| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let left = |group: &Path| {
        let folder = groups.join(group);
        let (most, used) = (number(&folder.join("memory.max"))?, number(&folder.join("memory.current"))?);
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let of_files = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse().ok());
        Some(most.saturating_sub(used).saturating_add(of_files.unwrap_or(0)).min(most))
    };
    Path::new(own).ancestors().filter_map(left).min()
}

fn left_of_address_space(processes: &Path) -> Option<u64> {
    let limits = fs::read_to_string(processes.join("self/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    // It says "unlimited" where there is no limit.
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(kibibytes(&processes.join("self/status"), "VmSize:")?))
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

    #[test]
    fn the_tightest_limit_counts() {
        let home = std::env::temp_dir().join(format!("kintsugi-memory-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        let (processes, groups) = (home.join("proc"), home.join("groups"));
        let write = |file: &str, text: &str| {
            let path = home.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let free = || free_by(&processes, &groups);
        assert_eq!(free(), None, "nothing is told");
        write("proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n");
        assert_eq!(free(), Some(8_000_000 << 10));
        write("proc/self/cgroup", "0::/batch/job\n");
        write("groups/batch/job/memory.max", "max\n");
        write("groups/batch/job/memory.current", "1000\n");
        assert_eq!(free(), Some(8_000_000 << 10), "a group without a limit");
        write("groups/batch/memory.max", "4000000000\n");
        write("groups/batch/memory.current", "3000000000\n");
        assert_eq!(free(), Some(1_000_000_000), "the group above has one");
        write("groups/batch/memory.stat", "anon 5\nactive_file 7\ninactive_file 500000000\n");
        assert_eq!(free(), Some(1_500_000_000));
        let limits = |most: &str| {
            format!("Limit   Soft Limit  Hard Limit  Units\nMax address space   {most}  bytes\n")
        };
        write("proc/self/status", "Name:\tkintsugi\nVmSize:\t  1000000 kB\n");
        write("proc/self/limits", &limits("unlimited  unlimited"));
        assert_eq!(free(), Some(1_500_000_000));
        write("proc/self/limits", &limits("2048000000  unlimited"));
        assert_eq!(free(), Some(1_024_000_000));
        fs::remove_dir_all(home).unwrap();
    }
}
