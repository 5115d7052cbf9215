//! A camera's lens: depth of field.
//!
//! Every frame of a refinement looks from another point of the aperture, through a view that is sheared so that the
//! plane in focus stays where it is; the frames' mean is blurred before and behind that plane. That takes no more rays
//! than a sharp picture, and the first frame, from the middle of the aperture, is sharp.

use std::ops::RangeInclusive;

use glam::{DVec2, Vec3};

use super::{
    Camera,
    lighting::{clamped, within},
};

/// Half the height of a full-frame sensor (36 x 24 mm), m.
const HALF_SENSOR: f64 = 0.012;

/// A lens before a full-frame sensor (36 x 24 mm); its focal length follows from the camera's field of view.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lens {
    /// Focal length over the aperture's diameter, [`Lens::F_STOPS`]: the smaller, the more is blurred.
    pub f_stop: f64,
    /// Distance of what is sharp from the eye, along the view, m, [`Lens::FOCUSES`]; `None`: the camera's target is
    /// sharp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<f64>,
}

impl Default for Lens {
    fn default() -> Self {
        Self { f_stop: 2.8, focus: None }
    }
}

impl Lens {
    /// Allowed values of [`Lens::f_stop`].
    pub const F_STOPS: RangeInclusive<f64> = 0.1..=128.0;
    /// Allowed values of [`Lens::focus`], m.
    pub const FOCUSES: RangeInclusive<f64> = 0.001..=1_000_000.0;

    /// The same lens with every field finite and in range.
    #[must_use]
    pub fn sane(self) -> Self {
        let focus = self.focus.filter(|focus| focus.is_finite());
        Self {
            f_stop: clamped(self.f_stop, Self::default().f_stop, &Self::F_STOPS),
            focus: focus.map(|focus| clamped(focus, focus, &Self::FOCUSES)),
        }
    }

    /// Checks the values of a scene file.
    ///
    /// # Errors
    /// The field that is out of range, its value, and the range.
    pub fn check(&self) -> Result<(), String> {
        within("f_stop", self.f_stop, &Self::F_STOPS)?;
        self.focus.map_or(Ok(()), |focus| within("focus", focus, &Self::FOCUSES))
    }

    /// Focal length of a camera with a vertical field of view, radians; m.
    #[must_use]
    pub fn focal_length(fov_y: f64) -> f64 {
        HALF_SENSOR / libm::tan(0.5 * fov_y)
    }

    /// Radius of the aperture of a camera with a vertical field of view, radians; m.
    #[must_use]
    pub fn aperture_radius(&self, fov_y: f64) -> f64 {
        Self::focal_length(fov_y) / (2.0 * self.f_stop)
    }

    /// Eye, and the middle of the view per unit of depth, in frame number `refined` of a refinement.
    pub(super) fn view(self, camera: &Camera, refined: u32) -> (Vec3, Vec3) {
        let (lens, camera) = (self.sane(), camera.sane());
        let axes = camera.axes();
        let place = aperture_point(refined) * lens.aperture_radius(f64::from(camera.fov_y));
        let offset = axes.right * place.x as f32 + axes.up * place.y as f32;
        let focus = lens.focus.map_or(camera.distance, |focus| focus as f32);
        (camera.eye() + offset, axes.forward - offset / focus)
    }
}

/// A point of the unit disc for each frame of a refinement: the middle, then an even coverage however long it goes on.
fn aperture_point(refined: u32) -> DVec2 {
    if refined == 0 {
        return DVec2::ZERO;
    }
    // Not the lattice of the sub-pixel offsets and light samples, or a place on the aperture would always go with the
    // same place in the pixel: the inverse third and fourth power of the root of x^5 = x + 1.
    let part = |step: f64| (f64::from(refined) * step + 0.5).fract();
    let (sin, cos) = libm::sincos(std::f64::consts::TAU * part(0.628_706_721_037_808_6));
    DVec2::new(cos, sin) * part(0.538_597_257_223_61).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aperture_is_covered_evenly() {
        assert_eq!(aperture_point(0), DVec2::ZERO);
        let points: Vec<DVec2> = (1..=64).map(aperture_point).collect();
        assert!(points.iter().all(|p| p.length() <= 1.0));
        // Halves of the disc in all directions, and its inner half.
        for turn in 0..16 {
            let (sin, cos) = libm::sincos(f64::from(turn) * std::f64::consts::TAU / 16.0);
            let beyond = |p: &&DVec2| p.dot(DVec2::new(cos, sin)) > 0.0;
            let count = points[..16].iter().filter(beyond).count();
            assert!((7..=9).contains(&count), "turn {turn}: {count} of 16");
        }
        let inner = points[..16].iter().filter(|p| p.length_squared() < 0.5).count();
        assert!((7..=9).contains(&inner), "{inner} of 16");
        let middle = points.iter().sum::<DVec2>() / 64.0;
        assert!(middle.length() < 0.03, "{middle}");
    }

    #[test]
    fn the_plane_in_focus_stays_where_it_is() {
        let camera = Camera { distance: 2.5, yaw: 1.1, pitch: -0.4, ..Camera::default() };
        let axes = camera.axes();
        for (focus, depth) in [(None, 2.5), (Some(0.8), 0.8)] {
            let lens = Lens { f_stop: 0.5, focus };
            for refined in 0..8 {
                let (eye, forward) = lens.view(&camera, refined);
                for aside in [Vec3::ZERO, axes.right * 0.3 - axes.up * 0.2] {
                    let sharp = camera.eye() + (axes.forward + aside) * depth;
                    let seen = eye + (forward + aside) * depth;
                    assert!(seen.distance(sharp) < 1e-5, "{focus:?}, frame {refined}: {seen} for {sharp}");
                }
                assert!((eye - camera.eye()).dot(axes.forward).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn odd_values_are_replaced_and_named() {
        assert_eq!(Lens::default().check(), Ok(()));
        for (name, lens) in [
            ("f_stop", Lens { f_stop: 0.0, focus: None }),
            ("f_stop", Lens { f_stop: f64::NAN, focus: Some(1.0) }),
            ("focus", Lens { f_stop: 2.0, focus: Some(-1.0) }),
            ("focus", Lens { f_stop: 2.0, focus: Some(f64::INFINITY) }),
        ] {
            let error = lens.check().expect_err(name);
            assert!(error.contains(name), "{error}");
            assert_eq!(lens.sane().check(), Ok(()), "{name}");
        }
        // 50 mm at f/2.
        let fov_y = 2.0 * libm::atan(0.012 / 0.05);
        assert!((Lens { f_stop: 2.0, focus: None }.aperture_radius(fov_y) - 0.0125).abs() < 1e-12);
    }
}
