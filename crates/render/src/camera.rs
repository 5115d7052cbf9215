//! An orbit camera. World space is y up, metres, right-handed.
//!
//! In: drags and wheel turns as picture fractions. Out: rays, projections and matrices. Any field may come
//! from a file, so everything here works on [`Camera::sane`], which clamps and replaces what is not finite.

use glam::Vec3;

/// Limit of the pitch, radians: at the poles the yaw would be undefined.
const PITCH_LIMIT: f32 = 1.55;

/// Looks at `target` from `distance` along yaw and pitch.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Point looked at, m.
    pub target: Vec3,
    /// Distance to the target, m.
    pub distance: f32,
    /// Radians about +y; 0 looks along -z.
    pub yaw: f32,
    /// Radians; positive looks down.
    pub pitch: f32,
    /// Vertical field of view, radians.
    pub fov_y: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self { target: Vec3::ZERO, distance: 3.0, yaw: 0.6, pitch: 0.35, fov_y: 0.6 }
    }
}

/// An axis of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// To the right when seen from the front.
    X,
    /// Up.
    Y,
    /// Towards the front.
    Z,
}

/// The camera's axes in world space, unit length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraAxes {
    /// To the right in the picture.
    pub right: Vec3,
    /// Up in the picture.
    pub up: Vec3,
    /// Into the picture.
    pub forward: Vec3,
}

impl Camera {
    /// The same camera with every field finite and in range.
    #[must_use]
    pub fn sane(&self) -> Self {
        let or = |v: f32, fallback: f32| if v.is_finite() { v } else { fallback };
        let plain = Self::default();
        Self {
            target: if self.target.is_finite() { self.target.clamp_length_max(1e6) } else { Vec3::ZERO },
            distance: or(self.distance, plain.distance).clamp(1e-4, 1e6),
            yaw: or(self.yaw, plain.yaw) % std::f32::consts::TAU,
            pitch: or(self.pitch, plain.pitch).clamp(-PITCH_LIMIT, PITCH_LIMIT),
            fov_y: or(self.fov_y, plain.fov_y).clamp(0.01, 3.0),
        }
    }

    /// Right, up and forward.
    #[must_use]
    pub fn axes(&self) -> CameraAxes {
        let camera = self.sane();
        let ((sy, cy), (sp, cp)) = (libm::sincosf(camera.yaw), libm::sincosf(camera.pitch));
        let forward = Vec3::new(-sy * cp, -sp, -cy * cp);
        // Straight from the yaw, not from a cross product with +y: it stays defined at any pitch.
        let right = Vec3::new(cy, 0.0, -sy);
        CameraAxes { right, up: right.cross(forward), forward }
    }

    /// Frames a world-space box: its corners span [`Camera::FILL`] of the picture. The contents of the box cover less,
    /// the more so the rounder they are; given points of their surface, [`Camera::frame_points`] frames more tightly.
    pub fn frame(&mut self, low: Vec3, high: Vec3, aspect: f32) {
        let corner = |i: u32| {
            let side = |bit: u32| i >> bit & 1 == 1;
            Vec3::select(glam::BVec3::new(side(0), side(1), side(2)), high, low)
        };
        let corners: [Vec3; 8] = std::array::from_fn(|i| corner(i as u32));
        self.frame_points(&corners, aspect);
    }

    /// Share of the picture's height or width, whichever is tighter, that a framed box spans.
    pub const FILL: f32 = 0.78;

    /// Frames world-space points: they are centred and span [`Camera::FILL`] of the picture. Does nothing if there are
    /// no points or one is not finite.
    pub fn frame_points(&mut self, points: &[Vec3], aspect: f32) {
        if points.is_empty() || points.iter().any(|p| !p.is_finite()) {
            return;
        }
        let camera = self.sane();
        let axes = camera.axes();
        let (tan_x, tan_y) = camera.tangents(aspect);
        let (low, high) = points
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
        let (mut target, mut distance) = (low.midpoint(high), 0.0_f32);
        // Nearer points look larger, so the picture's centre and the distance are found by iteration.
        for _ in 0..4 {
            let seen = points.iter().map(|p| {
                let p = *p - target;
                Vec3::new(p.dot(axes.right) / tan_x, p.dot(axes.up) / tan_y, p.dot(axes.forward))
            });
            distance = seen.clone().map(|p| p.x.abs().max(p.y.abs()) / Self::FILL - p.z).fold(0.0, f32::max);
            if distance <= 0.0 {
                distance = camera.distance;
                break;
            }
            let flat = seen.map(|p| p / (p.z + distance).max(1e-6));
            let (low, high) =
                flat.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
            let off = low.midpoint(high) * distance;
            target += axes.right * (off.x * tan_x) + axes.up * (off.y * tan_y);
        }
        *self = Self { target, distance, ..camera }.sane();
    }

    /// Looks at the target along an axis, from its positive or negative end, at the same distance.
    pub fn look_from(&mut self, axis: Axis, other_end: bool) {
        use std::f32::consts::{FRAC_PI_2, PI};
        (self.yaw, self.pitch) = match (axis, other_end) {
            (Axis::X, false) => (FRAC_PI_2, 0.0),
            (Axis::X, true) => (-FRAC_PI_2, 0.0),
            (Axis::Y, false) => (0.0, PITCH_LIMIT),
            (Axis::Y, true) => (0.0, -PITCH_LIMIT),
            (Axis::Z, false) => (0.0, 0.0),
            (Axis::Z, true) => (PI, 0.0),
        };
        *self = self.sane();
    }

    /// Rotates about the target, radians; positive `yaw` moves the camera to the right.
    pub fn orbit(&mut self, yaw: f32, pitch: f32) {
        self.yaw += yaw;
        self.pitch += pitch;
        *self = self.sane();
    }

    /// Shifts the picture by fractions of its width and height: a point at the target's depth stays under the pointer.
    pub fn pan(&mut self, dx: f32, dy: f32, aspect: f32) {
        let camera = self.sane();
        let axes = camera.axes();
        let (tan_x, tan_y) = camera.tangents(aspect);
        let reach = 2.0 * camera.distance;
        self.target = camera.target + (axes.up * (dy * tan_y) - axes.right * (dx * tan_x)) * reach;
        *self = self.sane();
    }

    /// Multiplies the distance; factors below 1 zoom in.
    pub fn zoom(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            self.distance *= factor;
        }
        *self = self.sane();
    }

    /// Position of the camera.
    #[must_use]
    pub fn eye(&self) -> Vec3 {
        let camera = self.sane();
        camera.target - camera.axes().forward * camera.distance
    }

    /// Tangents of half the horizontal and vertical field of view.
    #[must_use]
    pub fn tangents(&self, aspect: f32) -> (f32, f32) {
        let tan_y = libm::tanf(self.sane().fov_y * 0.5);
        let aspect = if aspect.is_finite() && aspect > 0.0 { aspect.clamp(1e-3, 1e3) } else { 1.0 };
        (tan_y * aspect, tan_y)
    }

    /// Ray through normalised picture coordinates (0,0 top left to 1,1 bottom right): origin, unit direction.
    #[must_use]
    pub fn ray(&self, x: f32, y: f32, aspect: f32) -> (Vec3, Vec3) {
        let axes = self.axes();
        let (tan_x, tan_y) = self.tangents(aspect);
        let direction =
            axes.forward + axes.right * ((2.0 * x - 1.0) * tan_x) + axes.up * ((1.0 - 2.0 * y) * tan_y);
        (self.eye(), direction.normalize_or(axes.forward))
    }

    /// World point to normalised picture coordinates; `None` behind the camera.
    #[must_use]
    pub fn project(&self, p: Vec3, aspect: f32) -> Option<[f32; 2]> {
        let axes = self.axes();
        let to = p - self.eye();
        let depth = to.dot(axes.forward);
        let (tan_x, tan_y) = self.tangents(aspect);
        // Written so that a NaN point is `None` too.
        if depth.is_nan() || depth <= 1e-6 {
            return None;
        }
        let x = 0.5 + 0.5 * to.dot(axes.right) / (depth * tan_x);
        let y = 0.5 - 0.5 * to.dot(axes.up) / (depth * tan_y);
        (x.is_finite() && y.is_finite()).then_some([x, y])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASPECT: f32 = 1.7;

    #[test]
    fn an_axis_is_looked_along_from_either_end() {
        for (axis, along) in [(Axis::X, Vec3::X), (Axis::Y, Vec3::Y), (Axis::Z, Vec3::Z)] {
            for (other_end, sign) in [(false, 1.0), (true, -1.0)] {
                let mut camera = Camera { target: Vec3::new(1.0, 2.0, 3.0), ..Camera::default() };
                camera.look_from(axis, other_end);
                let towards = (camera.eye() - camera.target) / camera.distance;
                assert!(towards.dot(along * sign) > 0.999, "{axis:?} {other_end}: {towards}");
                assert_eq!((camera.target, camera.distance), (Vec3::new(1.0, 2.0, 3.0), 3.0));
            }
        }
    }

    #[test]
    fn rays_and_projection_are_inverse() {
        let camera = Camera { yaw: 2.1, pitch: -0.7, target: Vec3::new(1.0, 2.0, -3.0), ..Camera::default() };
        for [x, y] in [[0.5, 0.5], [0.0, 0.0], [0.9, 0.2], [0.3, 1.0]] {
            let (origin, direction) = camera.ray(x, y, ASPECT);
            let [px, py] = camera.project(origin + direction * 4.0, ASPECT).expect("in front");
            assert!((px - x).abs() < 1e-5 && (py - y).abs() < 1e-5, "{x} {y} came back as {px} {py}");
            assert_eq!(camera.project(origin - direction, ASPECT), None);
        }
    }

    #[test]
    fn yaw_zero_looks_along_minus_z_and_pitch_looks_down() {
        let camera = Camera { yaw: 0.0, pitch: 0.0, ..Camera::default() };
        assert!((camera.ray(0.5, 0.5, 1.0).1 - Vec3::NEG_Z).length() < 1e-6);
        assert!(Camera { pitch: 0.5, ..camera }.ray(0.5, 0.5, 1.0).1.y < -0.4);
    }

    #[test]
    fn framing_contains_the_box_and_fills_the_picture() {
        let (low, high) = (Vec3::new(-1.0, 0.0, 2.0), Vec3::new(0.5, 3.0, 2.5));
        for aspect in [0.4, 1.0, 2.5] {
            let mut camera = Camera { yaw: 1.0, pitch: 0.6, ..Camera::default() };
            camera.frame(low, high, aspect);
            let mut widest = 0.0_f32;
            for i in 0..8u32 {
                let pick = |bit: u32| if i >> bit & 1 == 1 { high } else { low };
                let corner = Vec3::new(pick(0).x, pick(1).y, pick(2).z);
                let [x, y] = camera.project(corner, aspect).expect("in front");
                widest = widest.max((2.0 * x - 1.0).abs()).max((2.0 * y - 1.0).abs());
            }
            assert!(widest < 1.0 && widest > 0.7, "aspect {aspect}: corners reach {widest}");
        }
    }

    #[test]
    fn framed_points_fill_the_picture_round_its_middle() {
        let ball: Vec<Vec3> = (0..500)
            .map(|i| {
                let (y, turn) = (1.0 - (i as f32 + 0.5) / 250.0, i as f32 * 2.4);
                let ring = (1.0 - y * y).sqrt();
                Vec3::new(5.0, 1.0, 2.0) + Vec3::new(ring * turn.cos(), y, ring * turn.sin()) * 0.7
            })
            .collect();
        for aspect in [0.5, 1.8] {
            let mut camera = Camera { yaw: 2.0, pitch: 0.9, ..Camera::default() };
            camera.frame_points(&ball, aspect);
            let seen: Vec<[f32; 2]> =
                ball.iter().map(|p| camera.project(*p, aspect).expect("in front")).collect();
            let range =
                |k: usize| seen.iter().fold((1.0_f32, 0.0_f32), |(a, b), p| (a.min(p[k]), b.max(p[k])));
            let (x, y) = (range(0), range(1));
            let fill = (x.1 - x.0).max(y.1 - y.0);
            assert!((fill - Camera::FILL).abs() < 0.02, "aspect {aspect}: {fill}");
            assert!((x.0 + x.1 - 1.0).abs() < 0.02 && (y.0 + y.1 - 1.0).abs() < 0.02, "{x:?} {y:?}");
        }
    }

    #[test]
    fn panning_moves_the_target_with_the_pointer() {
        let mut camera = Camera::default();
        let before = camera.target;
        camera.pan(0.2, -0.1, ASPECT);
        let [x, y] = camera.project(before, ASPECT).expect("in front");
        assert!((x - 0.7).abs() < 1e-4 && (y - 0.4).abs() < 1e-4, "{x} {y}");
    }

    #[test]
    fn nothing_makes_it_insane() {
        let mut camera =
            Camera { target: Vec3::NAN, distance: f32::INFINITY, yaw: f32::NAN, pitch: 99.0, fov_y: -1.0 };
        camera.zoom(f32::NAN);
        camera.orbit(f32::NAN, 1e9);
        camera.frame(Vec3::ZERO, Vec3::ZERO, 0.0);
        let (origin, direction) = camera.ray(0.1, 0.9, f32::NAN);
        assert!(origin.is_finite() && (direction.length() - 1.0).abs() < 1e-5);
        assert!(camera.pitch <= PITCH_LIMIT && camera.distance > 0.0);
    }
}
