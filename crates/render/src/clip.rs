//! Planes that cut the picture open: bodies are drawn only on one side of each.
//!
//! What the planes leave is convex, so a ray is in it from one distance to another. A ray that enters it inside a body
//! meets the body's inside there, on a *cap*: a flat face that shows the material inside.

use glam::{Vec3, Vec4};

/// A plane beyond which no body is drawn, world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Unit normal, towards what is not drawn.
    pub normal: Vec3,
    /// Its distance from the origin along the normal, m.
    pub at: f32,
}

/// The clipping planes of a picture, at most [`Clips::MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clips {
    planes: [Vec4; Self::MOST],
    count: usize,
}

/// Slope below which a ray runs along a plane.
pub(super) const ALONG: f32 = 1e-9;

impl Clips {
    /// Number of planes for which frames have room.
    pub const MOST: usize = 6;

    /// These planes; those beyond [`Clips::MOST`], and those that are not finite or have no direction, are left out.
    pub fn new(planes: impl IntoIterator<Item = Clip>) -> Self {
        let mut clips = Self::default();
        let is_plane = |clip: &Clip| clip.normal.is_finite() && clip.at.is_finite();
        for clip in planes.into_iter().filter(is_plane) {
            if let (Some(unit), Some(slot)) = (clip.normal.try_normalize(), clips.planes.get_mut(clips.count))
            {
                *slot = unit.extend(clip.at);
                clips.count += 1;
            }
        }
        clips
    }

    /// The planes: normal and distance.
    #[must_use]
    pub fn planes(&self) -> &[Vec4] {
        self.planes.get(..self.count).unwrap_or_default()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Where a ray is within what is drawn, m: it enters at the first distance (0 if it starts there) and leaves at the
    /// second. It is never there if the second is not above the first.
    #[must_use]
    pub fn interval(&self, origin: Vec3, direction: Vec3) -> (f32, f32) {
        let (entry, leave) = interval(self.planes(), origin, direction);
        (entry.map_or(0.0, |entry| entry.distance), leave)
    }

    pub(super) fn words(&self) -> [[f32; 4]; Self::MOST] {
        self.planes.map(|plane| plane.to_array())
    }
}

/// Where a ray enters what is drawn.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Distance, m.
    pub distance: f32,
    /// Normal of the plane through which it enters.
    pub normal: Vec3,
}

/// The entry, if the ray starts outside, and the distance at which the ray leaves.
pub(super) fn interval(planes: &[Vec4], origin: Vec3, direction: Vec3) -> (Option<Entry>, f32) {
    let (mut entry, mut leave) = (None::<Entry>, f32::INFINITY);
    for plane in planes {
        let normal = plane.truncate();
        let dot = |v: Vec3| v.x * normal.x + v.y * normal.y + v.z * normal.z;
        let (height, slope) = (dot(origin) - plane.w, dot(direction));
        if slope < 0.0 {
            let distance = -height / slope;
            if distance > entry.map_or(0.0, |entry| entry.distance) {
                entry = Some(Entry { distance, normal });
            }
        } else {
            leave = leave.min(-height / slope.max(ALONG));
        }
    }
    (entry, leave)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(normal: Vec3, at: f32) -> Clip {
        Clip { normal, at }
    }

    #[test]
    fn a_ray_is_seen_where_every_plane_leaves_it() {
        let slab = Clips::new([up_to(Vec3::X, 2.0), up_to(Vec3::NEG_X, -1.0)]);
        assert_eq!(slab.planes().len(), 2);
        for (from, along, expected) in [
            (0.0, Vec3::X, Some((1.0, 2.0))),
            (5.0, Vec3::NEG_X, Some((3.0, 4.0))),
            (1.5, Vec3::X, Some((0.0, 0.5))),
            (3.0, Vec3::X, None),
            (0.5, Vec3::Y, None),
            (1.5, Vec3::Y, Some((0.0, f32::INFINITY))),
        ] {
            let (first, last) = slab.interval(Vec3::new(from, 7.0, 0.0), along);
            match expected {
                Some((a, b)) => {
                    assert!((first - a).abs() < 1e-6, "{from} {along}: {first} {last}");
                    assert!(last == b || (last - b).abs() < 1e-6 || last > 1e8, "{from} {along}: {last}");
                }
                None => assert!(last <= first, "{from} {along}: {first} to {last}"),
            }
        }
    }

    #[test]
    fn what_is_no_plane_is_left_out() {
        let odd = [up_to(Vec3::ZERO, 1.0), up_to(Vec3::X, f32::NAN), up_to(Vec3::splat(2.0), 0.5)];
        let clips = Clips::new(odd);
        assert_eq!(clips.planes().len(), 1);
        assert!((clips.planes()[0].truncate().length() - 1.0).abs() < 1e-6);
        assert_eq!(Clips::new((0..9).map(|k| up_to(Vec3::Y, k as f32))).planes().len(), Clips::MOST);
    }
}
