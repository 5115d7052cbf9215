//! Surfaces of mesh bodies, like octrees.rs for octrees: limits the memory of those with owners.

use std::sync::{Arc, Weak};

use super::Stage;
use crate::shape::{PieceMesh, Shape};

/// Size of surfaces above which undo steps and recorded states are dropped, bytes. The hierarchies for drawing come on
/// top.
const BUDGET: usize = 256 << 20;

/// Surfaces with owners (bodies, undo steps, recorded states), without duplicates.
#[derive(Default)]
pub(super) struct HeldSurfaces {
    known: Vec<(Weak<PieceMesh>, usize)>,
}

impl HeldSurfaces {
    fn add(&mut self, surface: &Arc<PieceMesh>) {
        if !self.known.iter().any(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(surface))) {
            self.known.push((Arc::downgrade(surface), surface.bytes()));
        }
    }

    /// Memory of the surfaces that still have owners, bytes.
    fn bytes(&mut self) -> usize {
        self.known.retain(|(surface, _)| surface.strong_count() > 0);
        self.known.iter().map(|(_, bytes)| bytes).sum()
    }
}

impl Stage {
    /// Counts the surfaces of these shapes. If all surfaces take too much memory, calls `forget`, which drops something
    /// old, until it returns false.
    pub fn hold_surfaces<'a>(
        &mut self,
        shapes: impl IntoIterator<Item = &'a Arc<Shape>>,
        forget: impl FnMut() -> bool,
    ) {
        self.hold_surfaces_within(BUDGET, shapes, forget);
    }

    fn hold_surfaces_within<'a>(
        &mut self,
        budget: usize,
        shapes: impl IntoIterator<Item = &'a Arc<Shape>>,
        mut forget: impl FnMut() -> bool,
    ) {
        let surfaces = shapes.into_iter().filter_map(|shape| shape.as_mesh()).map(|mesh| mesh.surface());
        surfaces.for_each(|surface| self.surfaces.add(surface));
        while self.surfaces.bytes() > budget && forget() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compute::Compute, mesh::builtin, shape::Look};

    #[test]
    fn old_steps_go_where_their_surfaces_take_too_much() {
        let mut stage = Stage::new(Compute::Cpu).expect("needs no device");
        let mesh = Arc::new(builtin("sphere").expect("a built-in shape"));
        let shape = || Arc::new(Shape::mesh(&mesh, 1.0, 1000.0, Look::default()));
        let bytes = shape().as_mesh().expect("a mesh").surface().bytes();
        assert!(bytes > mesh.triangles.len() * (12 + 3 * 12), "triangles and corners at least: {bytes}");
        let mut kept: Vec<Arc<Shape>> = Vec::new();
        for _ in 0..10 {
            let next = shape();
            stage.hold_surfaces_within(4 * bytes, [&next, &next], || {
                let forgot = !kept.is_empty();
                kept.drain(..kept.len().div_ceil(2));
                forgot
            });
            kept.push(next);
            assert!(stage.surfaces.bytes() <= 4 * bytes);
        }
        assert!(kept.len() > 1, "what fits is kept");
        drop(kept);
        assert_eq!(stage.surfaces.bytes(), 0);
        // Surfaces of live bodies are not dropped, and the loop ends when nothing can be dropped.
        let live: Vec<_> = (0..6).map(|_| shape()).collect();
        let mut asked = 0;
        stage.hold_surfaces_within(4 * bytes, &live, || {
            asked += 1;
            false
        });
        assert_eq!((asked, stage.surfaces.bytes()), (1, 6 * bytes));
    }
}
