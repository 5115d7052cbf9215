//! Binds resources to a shader's variables by name, in any order; every variable must be given, and no others. Kernels
//! and drawings bind alike.

use super::{Gpu, GpuError, Named};

/// A bound variable of a shader.
struct Variable {
    binding: u32,
    name: String,
    ty: String,
}

/// Parses the bound variables of a shader's text: one per line, as in `@group(0) @binding(1) var<storage, read> nodes:
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

/// The bound variables of a shader.
pub(super) struct Variables {
    all: Vec<Variable>,
    #[cfg(any(test, feature = "testing"))]
    strides: std::collections::HashMap<u32, usize>,
}

impl Variables {
    /// Parses a shader's text.
    pub fn of(source: &str) -> Self {
        Self {
            all: variables(source),
            #[cfg(any(test, feature = "testing"))]
            strides: super::layout_tests::strides(source),
        }
    }
}

/// The bindings of a pipeline.
pub(super) struct Bindings {
    label: &'static str,
    layout: wgpu::BindGroupLayout,
    variables: Variables,
}

impl Bindings {
    /// Bindings of the pipeline `label`; its `layout` contains all variables of its shader.
    pub fn new(label: &'static str, layout: wgpu::BindGroupLayout, variables: Variables) -> Self {
        Self { label, layout, variables }
    }

    /// Path of the shader.
    pub fn label(&self) -> &'static str {
        self.label
    }

    /// Creates a bind group from the `given` resources.
    ///
    /// # Errors
    /// [`GpuError::Binding`] if a variable gets no resource, a name matches no variable, or the parameters are another
    /// struct than the shader's.
    pub fn group(&self, gpu: &Gpu, given: &[Named<'_>]) -> Result<wgpu::BindGroup, GpuError> {
        let refused = |what: String| GpuError::Binding { kernel: self.label, what };
        let mut entries = Vec::with_capacity(self.variables.all.len());
        for variable in &self.variables.all {
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
            #[cfg(any(test, feature = "testing"))]
            if let Some(stride) = self.variables.strides.get(&variable.binding).filter(|s| !found.fits(**s)) {
                let elements = format!("elements of {stride} bytes, not {}", found.stride);
                return Err(refused(format!("`{}` has {elements}", variable.name)));
            }
            entries
                .push(wgpu::BindGroupEntry { binding: variable.binding, resource: found.resource.clone() });
        }
        let known = |named: &&Named<'_>| !self.variables.all.iter().any(|v| v.name == named.name);
        if let Some(stranger) = given.iter().find(known) {
            return Err(refused(format!("the shader has no variable `{}`", stranger.name)));
        }
        #[cfg(any(test, feature = "testing"))]
        super::layout_tests::note_bound(self.label);
        Ok(gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: &self.layout,
            entries: &entries,
        }))
    }
}
