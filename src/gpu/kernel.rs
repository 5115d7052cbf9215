//! A compute kernel: one WGSL file, one entry point, one label.
//!
//! The bind group layout is the one the shader itself declares, and a kernel knows its bindings by the names of the
//! shader's variables. A dispatch therefore says by name what it gives ([`bind!`](crate::gpu::bind)): in any order,
//! all that there are and nothing else. Every binding a file declares must be used by its entry point.

use super::{Gpu, GpuError, Named, shaders};

/// Threads a workgroup in every one-dimensional kernel; the WGSL files write the same number (checked by a test).
pub const WORKGROUP: u32 = 256;

/// Workgroup counts for `items` threads, spread over two dimensions because one may not exceed 65,535.
#[must_use]
pub fn groups_for(items: usize) -> [u32; 3] {
    spread(items.div_ceil(WORKGROUP as usize))
}

/// So many workgroups, spread over two dimensions.
#[must_use]
pub fn spread(groups: usize) -> [u32; 3] {
    let groups = groups.max(1);
    let x = groups.min(32_768);
    [x as u32, groups.div_ceil(x) as u32, 1]
}

/// A compiled compute pipeline.
pub struct Kernel {
    label: &'static str,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    variables: Vec<Variable>,
    #[cfg(test)]
    strides: std::collections::HashMap<u32, usize>,
}

/// A bound variable of a shader.
struct Variable {
    binding: u32,
    name: String,
    ty: String,
}

/// The bound variables of a shader's text: one a line, as `@group(0) @binding(1) var<storage, read> nodes:
/// array<Node>;`.
fn variables(source: &str) -> Vec<Variable> {
    let variable = |line: &str| {
        let (binding, rest) = line.strip_prefix("@group(0) @binding(")?.split_once(") var")?;
        let (head, ty) = rest.split_once(": ")?;
        let name = head.rsplit(' ').next()?;
        let ty = ty.trim_end().trim_end_matches(';');
        Some(Variable { binding: binding.parse().ok()?, name: name.to_owned(), ty: ty.to_owned() })
    };
    source.lines().filter_map(variable).collect()
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

    /// Compiles `source`, entry point `main`; tests plant errors in it.
    #[cfg(test)]
    pub(crate) fn from_text(gpu: &Gpu, path: &'static str, source: String) -> Self {
        Self::compile(gpu, path, source, &[])
    }

    /// As [`Kernel::new`], with values for the shader's `override` declarations by name.
    ///
    /// # Panics
    /// As [`Kernel::new`].
    #[must_use]
    pub fn with_constants(gpu: &Gpu, path: &'static str, constants: &[(&str, f64)]) -> Self {
        Self::compile(gpu, path, shaders::source(path), constants)
    }

    fn compile(gpu: &Gpu, path: &'static str, source: String, constants: &[(&str, f64)]) -> Self {
        let variables = variables(&source);
        #[cfg(test)]
        let strides = super::layout_tests::strides(&source);
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
            cache: None,
        });
        Self {
            label: path,
            layout: pipeline.get_bind_group_layout(0),
            pipeline,
            variables,
            #[cfg(test)]
            strides,
        }
    }

    /// Binds what is `given` to the variables of the same names.
    ///
    /// # Errors
    /// [`GpuError::Binding`] where a variable gets nothing, where there is no variable of a name, and where
    /// parameters are of another struct than the shader's.
    pub(super) fn bind(&self, gpu: &Gpu, given: &[Named<'_>]) -> Result<wgpu::BindGroup, GpuError> {
        let refused = |what: String| GpuError::Binding { kernel: self.label, what };
        let mut entries = Vec::with_capacity(self.variables.len());
        for variable in &self.variables {
            let mut named = given.iter().filter(|named| named.name == variable.name);
            let Some(found) = named.next() else {
                return Err(refused(format!("nothing is bound to `{}`", variable.name)));
            };
            if let Some(ty) = found.ty.filter(|ty| *ty != variable.ty) {
                return Err(refused(format!("`{}` is a {}, not a {ty}", variable.name, variable.ty)));
            }
            if named.next().is_some() {
                return Err(refused(format!("`{}` is bound twice", variable.name)));
            }
            #[cfg(test)]
            if let Some(stride) = self.strides.get(&variable.binding).filter(|s| !found.fits(**s)) {
                let elements = format!("elements of {stride} bytes, not {}", found.stride);
                return Err(refused(format!("`{}` has {elements}", variable.name)));
            }
            entries
                .push(wgpu::BindGroupEntry { binding: variable.binding, resource: found.resource.clone() });
        }
        let known = |named: &&Named<'_>| !self.variables.iter().any(|v| v.name == named.name);
        if let Some(stranger) = given.iter().find(known) {
            return Err(refused(format!("the shader has no variable `{}`", stranger.name)));
        }
        #[cfg(test)]
        super::layout_tests::note_bound(self.label);
        Ok(gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: &self.layout,
            entries: &entries,
        }))
    }

    /// Path of the shader, which is also the label of timer and debug group.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.label
    }

    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.pipeline
    }
}

/// Declares a struct of kernels, each with the path of its shader, and how they are compiled.
macro_rules! kernels {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident: $path:literal),* $(,)? }) => {
        $(#[$meta])*
        $vis struct $name {
            $($field: $crate::gpu::Kernel),*
        }

        impl $name {
            /// Compiles the passes.
            #[must_use]
            #[allow(dead_code, reason = "kernels with constants are made otherwise")]
            pub fn new(gpu: &$crate::gpu::Gpu) -> Self {
                Self::with_kernels(&|path| $crate::gpu::Kernel::new(gpu, path))
            }

            /// With another way of compiling kernels: for tests that plant errors, and for constants.
            fn with_kernels(kernel: &dyn Fn(&'static str) -> $crate::gpu::Kernel) -> Self {
                Self { $($field: kernel($path)),* }
            }
        }
    };
}
pub(crate) use kernels;
