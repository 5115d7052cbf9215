//! Colours of a frame's lights and backdrop, as `shaders/render/compose.wgsl` has them.

use super::{scene::FLAG_BACKGROUND, wide::max};
use crate::{
    lighting::{HORIZON, ZENITH},
    tables::FrameData,
};

pub(super) type Rgb = [f32; 3];

const SUN: Rgb = [2.55, 2.3, 1.98];
const SKY: Rgb = [0.60, 0.68, 0.80];
const GROUND: Rgb = [0.36, 0.31, 0.27];
const LAMP: Rgb = [0.20, 0.19, 0.2];

/// Colours of a frame's light and backdrop.
pub(super) struct Colors {
    pub sun: Rgb,
    pub sky: Rgb,
    pub ground: Rgb,
    pub lamp: Rgb,
    pub horizon: Rgb,
    pub zenith: Rgb,
}

impl Colors {
    #[inline(always)]
    pub fn of(frame: &FrameData) -> Self {
        let tinted = |color: Rgb, tint: glam::Vec3| [color[0] * tint.x, color[1] * tint.y, color[2] * tint.z];
        let is_studio = frame.flags & FLAG_BACKGROUND == 0;
        Self {
            sun: tinted(SUN, frame.sun_tint),
            sky: tinted(SKY, frame.sky_tint),
            ground: tinted(GROUND, frame.sky_tint),
            lamp: tinted(LAMP, frame.lamp_tint),
            horizon: if is_studio { HORIZON } else { frame.horizon.to_array() },
            zenith: if is_studio { ZENITH } else { frame.zenith.to_array() },
        }
    }

    /// Light of sun and sky on open floor. A sun below the horizon does not light it.
    #[inline(always)]
    pub fn on_floor(&self, frame: &FrameData) -> [Rgb; 2] {
        let high = max(frame.sun.y, 0.0);
        [self.sun.map(|sun| sun * high), self.sky]
    }

    /// Light of the usual sun and sky on open floor.
    #[inline(always)]
    pub fn usual_on_floor(frame: &FrameData) -> Rgb {
        let high = max(frame.sun.y, 0.0);
        [0, 1, 2].map(|k| SUN[k] * high + SKY[k])
    }
}
