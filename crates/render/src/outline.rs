//! Projects shapes to picture coordinates, for a painter that draws lines over the picture.
//!
//! In: world-space shapes and a camera. Out: polylines in normalised picture coordinates (0,0 top left to 1,1 bottom
//! right).

use glam::Vec3;

use super::Camera;

/// Outline of a sphere: a closed polyline (first point repeated at the end), empty if the camera is inside or any of it
/// lies behind the camera.
#[must_use]
pub fn project_sphere(
    camera: &Camera,
    aspect: f32,
    centre: Vec3,
    radius: f32,
    points: usize,
) -> Vec<[f32; 2]> {
    let to_eye = camera.eye() - centre;
    let distance = to_eye.length();
    // Written so that NaN gives an empty outline.
    if !(radius > 0.0 && distance > radius) {
        return Vec::new();
    }
    // The tangent cone touches the sphere along a circle slightly nearer to the camera.
    let towards = to_eye / distance;
    let shift = radius * radius / distance;
    let ring = radius * (1.0 - (radius / distance).powi(2)).max(0.0).sqrt();
    project_circle(camera, aspect, centre + towards * shift, towards, ring, points)
}

/// A circle about `axis` (unit): a closed polyline, empty if any of it lies behind the camera.
#[must_use]
pub fn project_circle(
    camera: &Camera,
    aspect: f32,
    centre: Vec3,
    axis: Vec3,
    radius: f32,
    points: usize,
) -> Vec<[f32; 2]> {
    let axis = axis.normalize_or(Vec3::Y);
    let u = axis.any_orthonormal_vector();
    let v = axis.cross(u);
    let count = points.max(3);
    let on_circle = |i: usize| {
        let (s, c) = libm::sincosf(i as f32 * std::f32::consts::TAU / count as f32);
        camera.project(centre + (u * c + v * s) * radius, aspect)
    };
    (0..=count).map(|i| on_circle(i % count)).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// A segment clipped against the plane just in front of the camera; `None` if all of it lies behind.
#[must_use]
pub fn project_segment(camera: &Camera, aspect: f32, a: Vec3, b: Vec3) -> Option<[[f32; 2]; 2]> {
    let (eye, forward) = (camera.eye(), camera.axes().forward);
    let near = camera.sane().distance * 1e-3;
    let (da, db) = ((a - eye).dot(forward) - near, (b - eye).dot(forward) - near);
    let clip = |p: Vec3, dp: f32, q: Vec3, dq: f32| if dp < 0.0 { p + (q - p) * (dp / (dp - dq)) } else { p };
    if da < 0.0 && db < 0.0 {
        return None;
    }
    Some([camera.project(clip(a, da, b, db), aspect)?, camera.project(clip(b, db, a, da), aspect)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sphere_at_the_target_is_a_circle_of_the_right_size() {
        let camera = Camera::default();
        let outline = project_sphere(&camera, 1.0, camera.target, 0.5, 32);
        assert_eq!(outline.len(), 33);
        assert_eq!(outline[0], outline[32]);
        // Half angle of the tangent cone: asin(r / d); in the picture tan of it over tan of half the field of
        // view, halved.
        let expected = 0.5 * (0.5_f32 / 3.0).asin().tan() / 0.3_f32.tan();
        for [x, y] in outline {
            let r = ((x - 0.5).powi(2) + (y - 0.5).powi(2)).sqrt();
            assert!((r - expected).abs() < 1e-4, "{r} against {expected}");
        }
    }

    #[test]
    fn what_lies_behind_is_not_drawn() {
        let camera = Camera::default();
        let behind = camera.eye() - camera.axes().forward * 2.0;
        assert!(project_sphere(&camera, 1.0, behind, 0.5, 16).is_empty());
        assert!(project_sphere(&camera, 1.0, camera.eye(), 0.5, 16).is_empty());
        assert_eq!(project_segment(&camera, 1.0, behind, behind + Vec3::X * 0.1), None);
        assert!(project_segment(&camera, 1.0, behind, camera.target).is_some());
    }
}
