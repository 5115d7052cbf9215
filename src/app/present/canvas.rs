//! The window's pixels, drawn on the cores.
//!
//! In: egui's output, pictures as pixels. Out: pixels, and the areas that changed. Pixels persist between frames; a
//! frame redraws only the areas of changed shapes and new pictures.

use std::sync::Arc;

use egui::epaint::ClippedShape;
use rayon::prelude::*;

use super::{
    Panels, Place,
    area::{Area, joined},
    damage,
    stretch::Stretch,
    triangles::{Rows, Textures, packed, paint},
};
use crate::{render::Pixels, ui::theme::CLEAR};

/// Rows per task.
const BAND: usize = 32;

/// The window's pixels and what they were drawn from.
#[derive(Default)]
pub struct Canvas {
    size: [u32; 2],
    pixels: Vec<u32>,
    textures: Textures,
    /// The drawn shapes and the pixels per point; `None` forces a complete redraw.
    shown: Option<(Vec<ClippedShape>, f32)>,
    /// The drawn pictures and their areas.
    pictures: Vec<(Area, Arc<Pixels>)>,
}

impl Canvas {
    /// Resizes the canvas to the window.
    pub fn resize(&mut self, size: [u32; 2]) {
        if size != self.size {
            (self.size, self.shown) = (size, None);
            self.pixels.clear();
            self.pixels.resize(size[0] as usize * size[1] as usize, 0);
        }
    }

    /// Forces a complete redraw in the next frame.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    /// Width and height, pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Rows from the top, 0RGB.
    pub fn pixels(&self) -> &[u32] {
        &self.pixels
    }

    /// Redraws what has changed and returns the changed areas.
    pub fn draw(&mut self, panels: Panels<'_>, pictures: &[(&Arc<Pixels>, Place)]) -> Vec<Area> {
        let Panels { context, shapes, textures, scale } = panels;
        for (id, delta) in textures.set.iter().flat_map(|(id, deltas)| deltas.iter().map(move |d| (*id, d))) {
            self.textures.set(id, delta);
            if delta.pos.is_none() {
                // Shapes elsewhere may use the replaced texture.
                self.shown = None;
            }
        }
        let window = Area::of_size(self.size);
        let placed =
            |(pixels, place): &(&Arc<Pixels>, Place)| (Area::rounded(*place).and(window), Arc::clone(pixels));
        let pictures: Vec<_> = pictures.iter().map(placed).collect();
        let areas = self.changes(&shapes, scale, &pictures);
        if !areas.is_empty() {
            let touches = |shape: &&ClippedShape| {
                let own = damage::area_of(shape, scale);
                areas.iter().any(|area| area.meets(own))
            };
            let painted: Vec<ClippedShape> = shapes.iter().filter(touches).cloned().collect();
            let primitives = context.tessellate(painted, scale);
            let stretched = pictures.iter().filter_map(|(place, p)| Stretch::new(p.size, &p.rgba, *place));
            let stretched: Vec<_> = stretched.collect();
            in_bands(&mut self.pixels, self.size, &areas, |rows, area| {
                lay(rows, area, &stretched);
                paint(rows, area, &primitives, &self.textures, scale);
            });
        }
        for id in &textures.free {
            self.textures.free(*id);
        }
        (self.shown, self.pictures) = (Some((shapes, scale)), pictures);
        areas
    }

    /// The areas in which the canvas is out of date.
    fn changes(&self, shapes: &[ClippedShape], scale: f32, pictures: &[(Area, Arc<Pixels>)]) -> Vec<Area> {
        let window = Area::of_size(self.size);
        let Some((old, _)) = self.shown.as_ref().filter(|(_, old_scale)| *old_scale == scale) else {
            return joined([window], window);
        };
        let mut areas = damage::changed(old, shapes, scale);
        let is_same =
            |a: &(Area, Arc<Pixels>), b: &(Area, Arc<Pixels>)| a.0 == b.0 && Arc::ptr_eq(&a.1, &b.1);
        let missing = |all: &[(Area, Arc<Pixels>)], from: &[(Area, Arc<Pixels>)]| -> Vec<Area> {
            let lacks = |one: &&(Area, Arc<Pixels>)| !from.iter().any(|other| is_same(one, other));
            all.iter().filter(lacks).map(|(place, _)| *place).collect()
        };
        areas.extend(missing(&self.pictures, pictures));
        areas.extend(missing(pictures, &self.pictures));
        joined(areas, window)
    }
}

/// Calls `draw` for every area, in bands of rows that run in parallel.
fn in_bands(pixels: &mut [u32], size: [u32; 2], areas: &[Area], draw: impl Fn(&mut Rows<'_>, Area) + Sync) {
    let width = size[0] as usize;
    if width == 0 {
        return;
    }
    pixels.par_chunks_mut(width * BAND).enumerate().for_each(|(band, pixels)| {
        let first = (band * BAND) as i32;
        let rows = (pixels.len() / width) as i32;
        let here = Area { min: [0, first], max: [width as i32, first + rows] };
        let mut rows = Rows { width, first, pixels };
        for area in areas.iter().map(|area| area.and(here)).filter(|area| !area.is_empty()) {
            draw(&mut rows, area);
        }
    });
}

/// Draws what lies below the panels: the pictures, and elsewhere the clear colour.
fn lay(rows: &mut Rows<'_>, area: Area, pictures: &[Stretch<'_>]) {
    let [r, g, b] = CLEAR;
    let clear = packed(egui::Color32::from_rgb(r, g, b));
    let parts = pictures.iter().map(|stretch| (stretch, stretch.place().and(area)));
    let parts: Vec<_> = parts.filter(|(_, part)| !part.is_empty()).collect();
    let mut scratch = Vec::new();
    for y in area.rows() {
        let here = || parts.iter().filter(|(_, part)| part.rows().contains(&y));
        if !here().any(|(_, part)| (part.min[0], part.max[0]) == (area.min[0], area.max[0])) {
            rows.row(y, area.min[0], area.max[0]).fill(clear);
        }
        for (stretch, part) in here() {
            stretch.row(y, part.min[0], rows.row(y, part.min[0], part.max[0]), &mut scratch);
        }
    }
}
