//! Comparison pictures beside the document's: the same blow by other methods, from the same camera.
//!
//! In: the sandbox's comparison views. Out: one picture per view, each from its own renderer, so that each is refined
//! like the document's. Pictures of closed views are dropped.

use super::Session;
use crate::{
    gpu::{Gpu, GpuError},
    render::{FrameInput, Pixels, RenderOptions, Renderer, View},
    scene::Way,
};

/// Number of columns and rows of views in the window.
pub type Division = [u32; 2];

/// Pictures of the comparison views.
#[derive(Default)]
pub(super) struct Columns {
    pictures: Vec<Column>,
    /// Whether the number of views has changed, so that each may have less room.
    are_others: bool,
}

struct Column {
    renderer: Renderer,
    view: Option<View>,
}

impl Columns {
    /// Replaces the pictures with finer ones that a worker drew.
    pub fn show(&mut self, views: impl Iterator<Item = View>) {
        for (column, view) in self.pictures.iter_mut().zip(views) {
            column.view = Some(view);
        }
    }

    /// Drops all pictures, for instance because the device was lost.
    pub fn forget(&mut self) {
        self.pictures.clear();
    }
}

impl Session {
    /// The latest pictures of the comparison views.
    pub fn views_beside(&self) -> impl Iterator<Item = &View> {
        self.columns.pictures.iter().filter_map(|column| column.view.as_ref())
    }

    /// Shows these methods beside the document; an empty list shows none.
    pub(super) fn show_beside(&mut self, ways: &[Way]) {
        let shown = self.sandbox.as_mut().map(|sandbox| sandbox.show_beside(ways));
        if let Some(Err(error)) = shown {
            self.tell_of(error);
        }
        if ways.is_empty() {
            self.columns.forget();
        }
        self.columns.are_others = true;
    }

    /// Moves the camera back when views become narrower, so that the objects fit; `views` is the number drawn.
    pub(super) fn step_back(&mut self, views: u32) {
        let Some(sandbox) = self.sandbox.as_ref().filter(|s| s.ways_beside().len() + 1 == views as usize)
        else {
            return;
        };
        if !std::mem::take(&mut self.columns.are_others) || views == 1 {
            return;
        }
        let mut framed = self.camera;
        framed.frame_points(&sandbox.surface_points(None), self.aspect);
        if framed.distance > self.camera.distance {
            self.camera = framed;
        }
    }

    /// Shows a second method beside the document, or stops showing it.
    pub(super) fn toggle_beside(&mut self) {
        let Some(sandbox) = &self.sandbox else { return };
        let other = Way::other_than(&sandbox.tuning().fracture);
        let ways: Vec<Way> = other.into_iter().filter(|_| sandbox.ways_beside().is_empty()).collect();
        self.show_beside(&ways);
    }

    /// Draws every comparison view, into a texture of the window's device if it has one.
    pub(super) fn draw_beside(
        &mut self,
        gpu: Option<&Gpu>,
        size: [u32; 2],
        options: &RenderOptions,
    ) -> Result<(), GpuError> {
        let Some(sandbox) = &self.sandbox else { return Ok(()) };
        let count = sandbox.ways_beside().len();
        self.columns.pictures.truncate(count);
        while self.columns.pictures.len() < count {
            self.columns.pictures.push(Column { renderer: Renderer::new(sandbox.compute())?, view: None });
        }
        for (number, column) in self.columns.pictures.iter_mut().enumerate() {
            let Some((bodies, arena)) = sandbox.beside_bodies(number) else { continue };
            let arena = arena.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (camera, options) = (self.camera, options.clone());
            let (seams, overlay) = (None, None);
            column.renderer.draw(&FrameInput {
                arena: &arena,
                bodies: &bodies,
                camera,
                options,
                size,
                seams,
                overlay,
            })?;
            drop(arena);
            column.view = column.renderer.view(gpu)?;
        }
        Ok(())
    }
}

/// Joins pictures of equal height into one, from left to right; pictures of another height are left out.
pub(super) fn next_to_each_other(all: &[Pixels]) -> Pixels {
    let height = all.first().map_or(0, |first| first.size[1]);
    let all: Vec<_> = all.iter().filter(|pixels| pixels.size[1] == height).collect();
    let width = all.iter().map(|pixels| pixels.size[0]).sum();
    let row = |pixels: &Pixels, y: usize| {
        let bytes = 4 * pixels.size[0] as usize;
        pixels.rgba[y * bytes..(y + 1) * bytes].to_vec()
    };
    let rgba = (0..height as usize).flat_map(|y| all.iter().flat_map(move |pixels| row(pixels, y))).collect();
    Pixels { size: [width, height], rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_lie_next_to_each_other() {
        let picture = |width: u32, height: u32, byte: u8| Pixels {
            size: [width, height],
            rgba: vec![byte; 4 * (width * height) as usize],
        };
        let joined = next_to_each_other(&[picture(1, 2, 7), picture(2, 2, 9), picture(1, 3, 5)]);
        let row = [[7; 4].as_slice(), &[9; 8]].concat();
        assert_eq!((joined.size, joined.rgba), ([3, 2], [row.clone(), row].concat()));
        assert_eq!(next_to_each_other(&[]).size, [0, 0]);
    }
}
