//! What a comparison view shows: a method with one of its crack surfaces.

use crate::fracture::{FractureParams, MethodId, Surface, methods};

/// A method with one of the crack surfaces that it supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The method.
    pub method: MethodId,
    /// The crack surface; planar if the method has no others.
    pub surface: Surface,
}

impl Way {
    /// All combinations, in the order of the method registry.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for method in methods() {
            let surfaces: &[Surface] = match method.of_voxels {
                true => &[Surface::Planar, Surface::Rough, Surface::Dusty],
                false => &[Surface::Planar],
            };
            all.extend(surfaces.iter().map(|&surface| Self { method: method.id(), surface }));
        }
        all
    }

    /// The combination in these parameters.
    #[must_use]
    pub fn of(params: &FractureParams) -> Self {
        Self { method: params.method, surface: params.surface }
    }

    /// The default for a second view beside these parameters: the first combination of another method.
    #[must_use]
    pub fn other_than(params: &FractureParams) -> Option<Self> {
        Self::all().into_iter().find(|way| way.method != params.method)
    }

    /// Display name, such as `Voronoi cells, rough`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.surface_name() {
            Some(surface) => format!("{}, {surface}", self.method.entry().label),
            None => self.method.entry().label.to_owned(),
        }
    }

    /// Name for tests, such as `octree-rough`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.surface_name() {
            Some(surface) => format!("{}-{surface}", self.method),
            None => self.method.to_string(),
        }
    }

    fn surface_name(&self) -> Option<&'static str> {
        let name = match self.surface {
            Surface::Planar => "planar",
            Surface::Rough => "rough",
            Surface::Dusty => "dusty",
        };
        self.method.entry().of_voxels.then_some(name)
    }
}
