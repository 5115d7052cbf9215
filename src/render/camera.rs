//! An orbit camera. World space is y up, metres, right-handed.
use glam::Vec3;
/// Looks at `target` from `distance` along yaw and pitch.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Camera {
    /// Point looked at, m.
    pub target: Vec3,
    /// m.
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
impl Camera {
    /// Frames a world-space box.
    pub fn frame(&mut self, _low: Vec3, _high: Vec3, _aspect: f32) {
        todo!()
    }
    /// Where it is.
    #[must_use]
    pub fn eye(&self) -> Vec3 {
        todo!()
    }
    /// Ray through normalised picture coordinates (0,0 top left to 1,1 bottom right): origin, unit direction.
    #[must_use]
    pub fn ray(&self, _x: f32, _y: f32, _aspect: f32) -> (Vec3, Vec3) {
        todo!()
    }
    /// World point to normalised picture coordinates; `None` behind the camera.
    #[must_use]
    pub fn project(&self, _p: Vec3, _aspect: f32) -> Option<[f32; 2]> {
        todo!()
    }
}
