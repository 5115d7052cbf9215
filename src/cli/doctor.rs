//! `kintsugi doctor`: all adapters, the backend, the adapter in use and its limits, and what will be slow and why.

use std::fmt::Write;

use crate::{
    compute::Compute,
    gpu::{AdapterEntry, Gpu, GpuError, adapters},
    svo::Node,
};

use super::CliError;

/// Prints the description, then tests the adapter, if there is one.
///
/// # Errors
/// [`GpuError`] of an adapter that opens and does not work, and of a chosen one that there is not.
pub fn run() -> Result<(), CliError> {
    super::print(&format!("kintsugi {}\n", env!("CARGO_PKG_VERSION")));
    let opened = Gpu::headless();
    super::print(&display());
    super::print(&list(&adapters()));
    super::print(&stages(opened.as_ref().ok()));
    let gpu = match opened {
        Ok(gpu) => gpu,
        Err(error @ GpuError::NoSuchAdapter { .. }) => return Err(error.into()),
        Err(error) => {
            super::print(&format!("adapter: none ({error})\n"));
            return Ok(());
        }
    };
    super::print(&adapter(&gpu));
    super::print(&advice(&gpu));
    works(&gpu)?;
    super::print("passes: a buffer was copied to the adapter and back\n");
    Ok(())
}

/// The adapters, a line each, with the numbers by which `--adapter` takes them.
fn list(all: &[AdapterEntry]) -> String {
    let lines = all.iter().enumerate().map(|(i, one)| format!("  {i}: {one}\n"));
    match all.len() {
        0 => String::new(),
        count => format!(
            "adapters: {count}; --adapter takes a number or a part of a name\n{}",
            lines.collect::<String>()
        ),
    }
}

/// The default backend, and why.
fn stages(gpu: Option<&Gpu>) -> String {
    let cpu = Compute::Cpu.describe();
    match gpu {
        Some(gpu) if !gpu.is_software() => {
            format!("compute: {}; --compute cpu takes {cpu}\n", gpu.describe())
        }
        Some(_) => format!(
            "compute: {cpu}, since the adapter is only a software one on the same cores; --compute gpu uses it\n"
        ),
        None => format!("compute: {cpu}, since there is no adapter; all commands work, a window needs one\n"),
    }
}

fn display() -> String {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let kind = match (set("WAYLAND_DISPLAY"), set("DISPLAY")) {
        (true, _) => "Wayland",
        (false, true) => "X11",
        _ => "none; `kintsugi` alone will write pictures instead of opening a window",
    };
    format!("display: {kind}\n")
}

fn adapter(gpu: &Gpu) -> String {
    let (info, limits) = (&gpu.info, &gpu.limits);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "adapter: {}", gpu.describe());
    let _ = writeln!(
        text,
        "kind: {:?}, vendor {:#06x}, device {:#06x}",
        info.device_type, info.vendor, info.device
    );
    let _ = writeln!(text, "timestamps: {}", if gpu.has_timestamps { "yes" } else { "no" });
    let _ = writeln!(text, "largest binding: {} MiB", gpu.max_binding() >> 20);
    let _ = writeln!(text, "largest buffer: {} MiB", limits.max_buffer_size >> 20);
    let _ = writeln!(text, "storage buffers a stage: {}", limits.max_storage_buffers_per_shader_stage);
    let _ = writeln!(
        text,
        "workgroup: {} invocations, {} KiB shared; groups a dimension: {}",
        limits.max_compute_invocations_per_workgroup,
        limits.max_compute_workgroup_storage_size >> 10,
        limits.max_compute_workgroups_per_dimension
    );
    let _ = writeln!(text, "subgroup size: {} to {}", info.subgroup_min_size, info.subgroup_max_size);
    let _ = writeln!(text, "largest texture: {} pixels a side", limits.max_texture_dimension_2d);
    text
}

fn advice(gpu: &Gpu) -> String {
    let mut text = String::new();
    if gpu.is_software() {
        text.push_str(
            "slow: this adapter is a program on the CPU; stages run on the cores without it, levels up to 9 are pleasant, \
             and the picture lowers its resolution while things move. A graphics card with a Vulkan driver helps.\n",
        );
    }
    if !gpu.has_timestamps {
        text.push_str("missing: the adapter has no timestamps, so stages on the GPU cannot be timed.\n");
    }
    let nodes = gpu.max_binding() / size_of::<Node>() as u64;
    let leaves = gpu.max_binding() / size_of::<u32>() as u64;
    let _ =
        writeln!(text, "room: {nodes} parent nodes and {leaves} boundary voxels in all octrees of a scene");
    if leaves < 40 << 20 {
        text.push_str("limit: large meshes at level 10 may not fit; use --level 9 where one is refused.\n");
    }
    text
}

/// Copies a small buffer to the device and back, since a driver that opens may still not work.
fn works(gpu: &Gpu) -> Result<(), GpuError> {
    let sent: Vec<u32> = (0..1000).map(|i| i * i).collect();
    let buffer = crate::gpu::Buffer::from_slice(gpu, "doctor", &sent)?;
    let back = buffer.read(gpu)?;
    gpu.check()?;
    if back == sent { Ok(()) } else { Err(GpuError::Driver("a buffer came back changed".into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_have_the_numbers_by_which_they_are_chosen() {
        let entry = |name: &str, kind| AdapterEntry {
            name: name.into(),
            backend: "vulkan".into(),
            kind,
            driver: "mesa 25".into(),
        };
        let all = [entry("Card", "discrete"), entry("Chip", "integrated"), entry("Card", "discrete")];
        assert_eq!(
            list(&all),
            "adapters: 3; --adapter takes a number or a part of a name\n  0: Card (vulkan, discrete, mesa 25)\n  \
             1: Chip (vulkan, integrated, mesa 25)\n  2: Card (vulkan, discrete, mesa 25)\n"
        );
        assert_eq!(list(&[]), "");
    }
}
