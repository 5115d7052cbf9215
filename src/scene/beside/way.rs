//! What a comparison view shows: a method with one of its crack surfaces.

use crate::fracture::{FractureParams, Method, Surface, methods};

/// A method with one of the crack surfaces that it supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The method.
    pub method: Method,
    /// The crack surface; planar if the method has no others.
    pub surface: Surface,
}

impl Way {
    /// All combinations, in the order of the method registry.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let surfaces = |method: &Method| -> &[Surface] {
            if method.of_voxels {
                &[Surface::Planar, Surface::Rough, Surface::Dusty]
            } else {
                &[Surface::Planar]
            }
        };
        let ways = |method: Method| surfaces(&method).iter().map(move |&surface| Self { method, surface });
        methods().into_iter().flat_map(ways).collect()
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
            Some(surface) => format!("{}, {surface}", self.method.label),
            None => self.method.label.to_owned(),
        }
    }

    /// Name for tests, such as `octree-rough`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.surface_name() {
            Some(surface) => format!("{}-{surface}", self.method.name),
            None => self.method.name.to_owned(),
        }
    }

    fn surface_name(&self) -> Option<&'static str> {
        let name = match self.surface {
            Surface::Planar => "planar",
            Surface::Rough => "rough",
            Surface::Dusty => "dusty",
        };
        self.method.of_voxels.then_some(name)
    }
}
