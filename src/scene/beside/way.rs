//! The ways of breaking that can be seen side by side: a method, and how its crack surfaces look.

use crate::fracture::{FractureParams, MethodId, Surface, methods};

/// A method, with one of the crack surfaces that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The method.
    pub method: MethodId,
    /// Its crack surfaces; planar where it has no others.
    pub surface: Surface,
}

impl Way {
    /// Every way that there is, in the order of the table of methods.
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

    /// The way of these parameters.
    #[must_use]
    pub fn of(params: &FractureParams) -> Self {
        Self { method: params.method, surface: params.surface }
    }

    /// What to put beside these parameters where nobody chose: the first way of another method.
    #[must_use]
    pub fn other_than(params: &FractureParams) -> Option<Self> {
        Self::all().into_iter().find(|way| way.method != params.method)
    }

    /// For people: `Voronoi cells, rough`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.surface_name() {
            Some(surface) => format!("{}, {surface}", self.method.entry().label),
            None => self.method.entry().label.to_owned(),
        }
    }

    /// For tests that look from outside: `octree-rough`.
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
