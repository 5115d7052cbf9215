//! A cache of compiled pipelines in the user's cache folder.
//!
//! Most desktop drivers have a cache of their own; with others, every start would compile dozens of kernels again. Only
//! Vulkan exports compiled pipelines. The cache is optional: after any error, pipelines are compiled again.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Size limit of a cache file, bytes; a larger one is replaced.
const LARGEST: u64 = 64 << 20;

/// A device's compiled pipelines; saved to their file on drop if there are new ones.
pub(super) struct PipelineStore {
    cache: wgpu::PipelineCache,
    file: PathBuf,
    /// Size of the loaded file, bytes.
    known: usize,
}

/// The bytes of a regular file of at most [`LARGEST`] bytes.
fn read(file: &Path) -> Option<Vec<u8>> {
    let about = fs::metadata(file).ok()?;
    if about.is_file() && about.len() <= LARGEST { fs::read(file).ok() } else { None }
}

impl PipelineStore {
    /// Opens the cache in `folder` of a device opened with [`wgpu::Features::PIPELINE_CACHE`]; `None` if its backend
    /// exports no pipelines.
    pub(super) fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo, folder: &Path) -> Option<Self> {
        // The name depends on the driver and on this program's version.
        let of_adapter = wgpu::util::pipeline_cache_key(info)?;
        let driver: String = info
            .driver_info
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(80)
            .collect();
        let file = folder.join(format!("{of_adapter}-{driver}-{}", env!("CARGO_PKG_VERSION")));
        let data = read(&file);
        // SAFETY: the file's name says that `save` wrote it for this adapter and driver. wgpu and the driver check
        // header, vendor, device and driver version again, and begin an empty cache (`fallback`) where they differ.
        let cache = unsafe {
            device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: Some("kintsugi"),
                data: data.as_deref(),
                fallback: true,
            })
        };
        Some(Self { cache, file, known: data.map_or(0, |data| data.len()) })
    }

    pub(super) fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Written to a temporary file and renamed, since two programs may exit at once.
    fn save(&self) -> std::io::Result<()> {
        let Some(data) = self.cache.get_data().filter(|data| data.len() != self.known) else { return Ok(()) };
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        let aside = self.file.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&aside, data).and_then(|()| fs::rename(&aside, &self.file)).inspect_err(|_| {
            // The file may not exist.
            let _ = fs::remove_file(&aside);
        })
    }
}

impl Drop for PipelineStore {
    fn drop(&mut self) {
        if let Err(error) = self.save() {
            tracing::debug!("compiled pipelines were not kept in {}: {error}", self.file.display());
        }
    }
}

/// The user's folder for caches.
pub(super) fn cache_folder() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || {
        if cfg!(target_os = "windows") {
            named("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            named("HOME").map(|home| home.join("Library/Caches"))
        } else {
            named("HOME").map(|home| home.join(".cache"))
        }
    };
    named("XDG_CACHE_HOME").or_else(home).map(|folder| folder.join("kintsugi").join("pipelines"))
}

#[cfg(test)]
mod tests {
    use crate::{Gpu, Kernel};

    #[test]
    fn pipelines_are_kept_and_a_spoilt_file_is_survived() {
        let folder = std::env::temp_dir().join(format!("kintsugi-pipelines-{}", std::process::id()));
        let compile = || {
            let gpu = Gpu::for_test()?.keeping_pipelines_in(&folder);
            drop(Kernel::new(&gpu, "fracture/voronoi/islands/inherit"));
            gpu.check().unwrap();
            Some(gpu.pipelines.is_some())
        };
        match compile() {
            None | Some(false) => return,
            Some(true) => {}
        }
        let files =
            || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
        let [file] = &files()[..] else { panic!("{:?}", files()) };
        let kept = std::fs::read(file).unwrap();
        assert!(!kept.is_empty());
        std::fs::write(file, [7; 100]).unwrap();
        compile();
        assert_eq!(files().len(), 1);
        assert_eq!(std::fs::read(file).unwrap().len(), kept.len());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
