//! The pixels of the window, drawn on the cores.
//!
//! In: what egui laid out, pictures as pixels. Out: pixels, and where they have changed. What is drawn stays; a frame
//! draws anew what has changed: of the panels the places of shapes that differ, and pictures where they are new.

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

/// Rows that one core draws at a time.
const BAND: usize = 32;

/// What the window shows.
#[derive(Default)]
pub struct Canvas {
    size: [u32; 2],
    pixels: Vec<u32>,
    textures: Textures,
    /// Shapes that it shows, and pixels a point; `None` where nothing can be kept.
    shown: Option<(Vec<ClippedShape>, f32)>,
    /// Where the pictures lie that it shows, and which ones they are.
    pictures: Vec<(Area, Arc<Pixels>)>,
}

impl Canvas {
    /// Follows the window.
    pub fn resize(&mut self, size: [u32; 2]) {
        if size != self.size {
            (self.size, self.shown) = (size, None);
            self.pixels.clear();
            self.pixels.resize(size[0] as usize * size[1] as usize, 0);
        }
    }

    /// Nothing of what it shows is kept: all is drawn anew.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    /// Pixels across and down.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Rows from the top, 0RGB.
    pub fn pixels(&self) -> &[u32] {
        &self.pixels
    }

    /// Draws what has changed, and says where that is.
    pub fn draw(&mut self, panels: Panels<'_>, pictures: &[(&Arc<Pixels>, Place)]) -> Vec<Area> {
        let Panels { context, shapes, textures, scale } = panels;
        for (id, delta) in textures.set.iter().flat_map(|(id, deltas)| deltas.iter().map(move |d| (*id, d))) {
            self.textures.set(id, delta);
            if delta.pos.is_none() {
                // One that is made anew may hold everything elsewhere.
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

    /// Where the canvas does not show what it should.
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

/// Calls `draw` for every area, in bands of rows that the cores take as they come.
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

/// What lies below the panels: pictures where they are, elsewhere the window's own colour.
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
