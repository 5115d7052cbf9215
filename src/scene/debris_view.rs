//! Draws the debris of bonds that failed: crumbs as discs in the colour of the object's inside, dust lighter and
//! translucent.
//!
//! In: cracks, the present time. Out: an overlay, which includes those of fracture internals and contacts.

use std::sync::Arc;

use super::{
    debris::{BondFailure, grains},
    layer::Layer,
};
use crate::{
    export::debris::{Debris, GrainKind, Surroundings},
    render::{Overlay, Point},
};

/// Opacity of dust at its birth.
const DUST_OPACITY: f64 = 22.0;
/// What dust is paler by, as a share of the way to white.
const PALER: f64 = 0.5;
/// Least radii of crumbs and of dust, pixels.
const LEAST_PIXELS: [f32; 2] = [0.6, 1.0];

/// A bond that failed, how much debris it leaves, and the colour of what it was in, sRGB.
pub(super) type Left = (BondFailure, f64, [u8; 3]);

/// The overlay, and what it was made from.
#[derive(Default)]
pub(super) struct DebrisView {
    /// The cracks and the grains of all of them, with the colour of each.
    made: (Vec<Left>, Vec<[u8; 3]>, Option<Debris>),
    /// Made from the bits of the time, and the revision of the overlay below.
    pub layer: Layer<(u64, u64)>,
}

/// Draws the debris of a recording at any time.
#[derive(Default)]
pub struct DebrisReel {
    cracks: Vec<Left>,
    around: Option<Surroundings>,
    view: DebrisView,
}

impl DebrisReel {
    /// The debris that these cracks leave, which are in order of time.
    pub(super) fn of(cracks: Vec<Left>, around: Surroundings) -> Self {
        Self { cracks, around: Some(around), view: DebrisView::default() }
    }

    /// The drawing of the grains that are there at `time`, s; `None` if there are none.
    pub fn overlay(&mut self, time: f64) -> Option<Arc<Overlay>> {
        self.view.update(self.cracks.clone(), (time, self.around?), (None, 0));
        self.view.layer.overlay().cloned()
    }
}

impl DebrisView {
    /// Updates the overlay at `time`, s, on top of the overlay `below` with its revision. The cracks are in order of
    /// time; there are none where no debris is to be drawn.
    pub fn update(
        &mut self,
        cracks: Vec<Left>,
        (time, around): (f64, Surroundings),
        below: (Option<&Overlay>, u64),
    ) {
        if cracks.is_empty() {
            self.made = Default::default();
            self.layer.hide();
            return;
        }
        let is_due = self.layer.begin((time.to_bits(), below.1));
        let is_known =
            self.made.0 == cracks && self.made.2.as_ref().is_some_and(|made| made.around == around);
        if is_known && !is_due {
            return;
        }
        if !is_known {
            let (mut all, mut colors) = (Vec::new(), Vec::new());
            for (crack, amount, color) in &cracks {
                all.extend(grains(crack, *amount));
                colors.resize(all.len(), *color);
            }
            self.made = (cracks, colors, Some(Debris { grains: all, around }));
        }
        let mut made = below.0.cloned().unwrap_or_default();
        let (_, colors, debris) = &self.made;
        for (number, grain) in debris.iter().flat_map(|debris| debris.at(time)) {
            let [r, g, b] = colors[number];
            let (color, radius_pixels) = match grain.kind {
                GrainKind::Crumb => ([r, g, b, 255], LEAST_PIXELS[0]),
                GrainKind::Dust => {
                    let pale = |c: u8| (f64::from(c) + PALER * (255.0 - f64::from(c))).round() as u8;
                    let opacity = (DUST_OPACITY * grain.opacity).round() as u8;
                    ([pale(r), pale(g), pale(b), opacity], LEAST_PIXELS[1])
                }
            };
            let (at, radius_m) = (grain.position.as_vec3(), grain.radius as f32);
            made.points.push(Point { at, color, radius_pixels, radius_m, back_pixels: 0.0 });
        }
        self.layer.show(made);
    }
}
