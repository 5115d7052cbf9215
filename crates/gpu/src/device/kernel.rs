//! A compute kernel: one WGSL file, one entry point, one label.
//!
//! The bind group layout is the one the shader itself declares, and bindings have the names of the shader's variables.
//! A dispatch binds resources by name ([`bind!`](crate::bind)): in any order, exactly one per variable. Every binding a
//! file declares must be used by its entry point.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{
    Gpu, GpuError, Named,
    bindings::{Bindings, Variables},
    shaders,
};

/// Threads per workgroup in every one-dimensional kernel; the WGSL files contain the same number (checked by a test).
pub const WORKGROUP: u32 = 256;

/// Workgroup counts for `items` threads, spread over two dimensions because one may not exceed 65,535.
#[must_use]
pub fn groups_for(items: usize) -> [u32; 3] {
    spread(items.div_ceil(WORKGROUP as usize))
}

/// Workgroup counts for `groups` workgroups, spread over two dimensions.
#[must_use]
pub fn spread(groups: usize) -> [u32; 3] {
    let groups = groups.max(1);
    let x = groups.min(32_768);
    [x as u32, groups.div_ceil(x) as u32, 1]
}

/// A compiled compute pipeline. Kernels of one device with the same text and constants share it.
pub struct Kernel {
    compiled: Arc<Compiled>,
}

struct Compiled {
    pipeline: wgpu::ComputePipeline,
    bindings: Bindings,
}

/// Label, text, and values of `override` declarations by name, as bits.
type Key = (&'static str, String, Vec<(String, u64)>);

/// The pipelines of a device that kernels hold. A renderer per picture would otherwise compile all of its passes anew, and
/// Mesa 22.3's software driver does not return the 41 MiB that a renderer's pipelines take once they are dropped.
#[derive(Default)]
pub(super) struct Kernels {
    known: Mutex<BTreeMap<Key, Weak<Compiled>>>,
}

impl Kernels {
    /// The pipeline of this key, made by `compile` where no kernel holds it. Two threads may compile the same one at once; both
    /// get what the first of them made.
    fn get(&self, key: Key, compile: impl FnOnce(&Key) -> Compiled) -> Arc<Compiled> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = known().get(&key).and_then(Weak::upgrade) {
            return compiled;
        }
        let compiled = Arc::new(compile(&key));
        let mut known = known();
        known.retain(|_, held| held.strong_count() > 0);
        if let Some(earlier) = known.get(&key).and_then(Weak::upgrade) {
            return earlier;
        }
        known.insert(key, Arc::downgrade(&compiled));
        compiled
    }
}

impl Kernel {
    /// Compiles `shaders/<path>.wgsl`, entry point `main`.
    ///
    /// # Panics
    /// If the file is not among the embedded shaders, which a unit test rules out.
    #[must_use]
    pub fn new(gpu: &Gpu, path: &'static str) -> Self {
        Self::compile(gpu, path, shaders::source(path), &[])
    }

    /// Compiles `source`, entry point `main`, in which tests plant errors.
    #[cfg(any(test, feature = "testing"))]
    pub fn from_text(gpu: &Gpu, path: &'static str, source: String) -> Self {
        Self::compile(gpu, path, source, &[])
    }

    /// Like [`Kernel::new`], with values for the shader's `override` declarations by name.
    ///
    /// # Panics
    /// See [`Kernel::new`].
    #[must_use]
    pub fn with_constants(gpu: &Gpu, path: &'static str, constants: &[(&str, f64)]) -> Self {
        Self::compile(gpu, path, shaders::source(path), constants)
    }

    fn compile(gpu: &Gpu, path: &'static str, source: String, constants: &[(&str, f64)]) -> Self {
        let bits = constants.iter().map(|(name, value)| ((*name).to_owned(), value.to_bits())).collect();
        let compiled = gpu.kernels.get((path, source, bits), |(_, source, _)| {
            let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(path),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            });
            let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(path),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
                cache: gpu.pipeline_cache(),
            });
            let bindings = Bindings::new(path, pipeline.get_bind_group_layout(0), Variables::of(source));
            Compiled { pipeline, bindings }
        });
        Self { compiled }
    }

    /// Creates a bind group from the `given` resources.
    ///
    /// # Errors
    /// See [`Bindings::group`].
    pub(super) fn bind(&self, gpu: &Gpu, given: &[Named<'_>]) -> Result<wgpu::BindGroup, GpuError> {
        self.compiled.bindings.group(gpu, given)
    }

    /// Path of the shader, which also labels its timer and debug group.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.compiled.bindings.label()
    }

    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.compiled.pipeline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n\
        override more: u32 = 1u;\n\
        @compute @workgroup_size(1) fn main() { out[0] = more; }\n";

    #[test]
    fn kernels_of_one_text_share_a_pipeline_while_one_of_them_is_held() {
        let Some(gpu) = Gpu::for_test() else { return };
        let kernel = |more: f64, text: &str| Kernel::compile(&gpu, "one", text.to_owned(), &[("more", more)]);
        let (first, again) = (kernel(1.0, ONE), kernel(1.0, ONE));
        assert!(Arc::ptr_eq(&first.compiled, &again.compiled));
        // Another value, another text: tests plant errors under a shader's own path.
        let (other, planted) = (kernel(2.0, ONE), kernel(1.0, &ONE.replace("= more", "= more + 1u")));
        assert!(
            !Arc::ptr_eq(&first.compiled, &other.compiled)
                && !Arc::ptr_eq(&first.compiled, &planted.compiled)
        );
        let known = || gpu.kernels.known.lock().unwrap().len();
        assert_eq!(known(), 3);
        drop((first, again, other));
        drop(kernel(3.0, ONE));
        assert_eq!(known(), 2, "what no kernel holds is forgotten");
    }
}
