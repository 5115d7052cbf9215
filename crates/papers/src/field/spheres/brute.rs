//! All points that collide, one after the other: what queries are compared with.

use super::{
    forest::SphereForest,
    interior::{Interior, Way},
    query::TreeContact,
    selection::Placement,
};

impl SphereForest {
    /// Every point of the surface that collides with `other` or lies within `tolerance` of it (local units of the
    /// other); if there is none, every point of the interior that collides. By ascending index.
    #[must_use]
    pub fn colliding_points<I: Interior + ?Sized>(
        &self,
        other: &I,
        placement: &Placement,
        tolerance: f64,
    ) -> Vec<TreeContact> {
        let touching = |on_surface: bool, within: f64| -> Vec<TreeContact> {
            let own = self.points.iter().enumerate().filter(|(_, point)| point.on_surface == on_surface);
            own.filter_map(|(i, point)| {
                let position = placement.place(point.position);
                let (depth, direction) = match other.penetration(position) {
                    Some(found) => (found.distance, found.direction),
                    None if within > 0.0 => {
                        let found = other.outside_distance(position, within)?;
                        (-found.distance, found.direction)
                    }
                    None => return None,
                };
                let way = Way::Along(direction);
                Some(TreeContact { point: i as u32, position, depth, direction, way })
            })
            .collect()
        };
        let surface = touching(true, tolerance);
        if surface.is_empty() { touching(false, 0.0) } else { surface }
    }
}
