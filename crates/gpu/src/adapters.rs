//! Which graphics adapter devices are opened on.
//!
//! In: the choice of the program, which holds for the whole process: this crate does not read options or the environment.
//! Out: the list of adapters, and the chosen one.

use std::{
    fmt,
    sync::{PoisonError, RwLock},
};

#[cfg(feature = "device")]
use crate::GpuError;

static CHOICE: RwLock<AdapterChoice> = RwLock::new(AdapterChoice { name: None, power: Power::High });

/// What an adapter is preferred for, where none is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Power {
    /// The fastest.
    #[default]
    High,
    /// The one that takes the least power, as the one in the processor of a laptop.
    Low,
    /// Whichever the system offers first.
    Any,
}

/// The choice of an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdapterChoice {
    /// Its number in [`adapters`], or a part of its name, upper or lower case; `None`: by `power`.
    pub name: Option<String>,
    /// Which one is taken where none is named.
    pub power: Power,
}

/// Chooses the adapter of devices that are opened from now on in this process.
pub fn choose_adapter(choice: AdapterChoice) {
    *CHOICE.write().unwrap_or_else(PoisonError::into_inner) = choice;
}

#[cfg(feature = "device")]
fn choice() -> AdapterChoice {
    CHOICE.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// An adapter of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterEntry {
    /// Its name, as the driver reports it.
    pub name: String,
    /// The interface to its driver, as Vulkan.
    pub backend: String,
    /// Discrete, integrated, virtual or software.
    pub kind: &'static str,
    /// The driver and its version.
    pub driver: String,
}

impl fmt::Display for AdapterEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, backend, kind, driver } = self;
        write!(f, "{name} ({backend}, {kind}, {driver})")
    }
}

/// The position of the adapter that `wanted` names: its number in the list, or the first whose name has it as a part.
/// `None` where none does.
#[cfg(any(feature = "device", test))]
fn named(names: &[String], wanted: &str) -> Option<usize> {
    let wanted = wanted.trim().to_lowercase();
    // A number that is in no list is a part of a name, as in 4090.
    let number = wanted.parse::<usize>().ok().filter(|number| *number < names.len());
    number.or_else(|| names.iter().position(|name| name.to_lowercase().contains(&wanted)))
}

/// All adapters of this machine, numbered from 0 as [`AdapterChoice::name`] takes them.
#[must_use]
#[cfg(feature = "device")]
pub fn adapters() -> Vec<AdapterEntry> {
    all(&instance()).iter().map(|adapter| entry(&adapter.get_info())).collect()
}

/// No adapters: this build has no graphics library.
#[must_use]
#[cfg(not(feature = "device"))]
pub fn adapters() -> Vec<AdapterEntry> {
    Vec::new()
}

/// The drivers of this machine, without a window.
#[cfg(feature = "device")]
pub(crate) fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle().with_env())
}

#[cfg(feature = "device")]
fn all(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
}

#[cfg(feature = "device")]
fn entry(info: &wgpu::AdapterInfo) -> AdapterEntry {
    AdapterEntry {
        name: info.name.clone(),
        backend: info.backend.to_string(),
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "of another kind",
        },
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
    }
}

/// The adapter that was chosen; it can draw on `surface` if one is given.
#[cfg(feature = "device")]
pub(crate) fn chosen(
    instance: &wgpu::Instance,
    surface: Option<&wgpu::Surface<'_>>,
) -> Result<wgpu::Adapter, GpuError> {
    let AdapterChoice { name, power } = choice();
    let Some(wanted) = name else {
        return pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
            power_preference: match power {
                Power::High => wgpu::PowerPreference::HighPerformance,
                Power::Low => wgpu::PowerPreference::LowPower,
                Power::Any => wgpu::PowerPreference::None,
            },
            force_fallback_adapter: false,
            compatible_surface: surface,
            apply_limit_buckets: false,
        }))
        .map_err(|_| GpuError::NoAdapter);
    };
    let mut all = all(instance);
    if all.is_empty() {
        return Err(GpuError::NoAdapter);
    }
    let entries: Vec<AdapterEntry> = all.iter().map(|adapter| entry(&adapter.get_info())).collect();
    let shows = |adapter: &wgpu::Adapter| surface.is_none_or(|surface| adapter.is_surface_supported(surface));
    let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    let Some(first) = named(&names, &wanted) else {
        let there = entries.iter().enumerate().map(|(i, entry)| format!("{i}: {entry}"));
        let there = there.collect::<Vec<_>>().join("; ");
        return Err(GpuError::NoSuchAdapter { wanted, there });
    };
    // One card is often listed twice, by two drivers of which one can draw on this window.
    let same = (first..all.len()).find(|&i| names[i] == names[first] && shows(&all[i]));
    match same {
        Some(at) => Ok(all.swap_remove(at)),
        None => Err(GpuError::NoDevice {
            adapter: entries[first].to_string(),
            reason: "it cannot draw on this window; leave --adapter and WGPU_ADAPTER_NAME out".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_named_by_its_number_or_a_part_of_its_name() {
        let names = ["Intel(R) UHD Graphics", "NVIDIA GeForce RTX 4090", "llvmpipe (LLVM 19)"];
        let names = names.map(str::to_owned);
        let found = |wanted| named(&names, wanted);
        assert_eq!([found("0"), found(" 2 "), found("3")], [Some(0), Some(2), None]);
        assert_eq!([found("rtx"), found("4090"), found("LLVMPIPE")], [Some(1), Some(1), Some(2)]);
        assert_eq!([found("radeon"), named(&[], "0")], [None; 2]);
    }
}
