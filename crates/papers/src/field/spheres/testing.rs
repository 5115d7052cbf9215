//! Shapes, poses and fractures for the tests of this module, made in code; the invariants of every forest; and all points that
//! collide, one after the other, with which queries are compared.

use crate::geometry::Aabb;
use glam::{DMat4, DQuat, DVec3};

use super::{
    forest::{NONE, ObjectPoint, SphereForest},
    fracture::{CrackPoint, Fate, Fracture},
    interior::{Depth, Interior, Way},
    query::TreeContact,
    selection::{Beyond, Placement, Selection},
};

/// Numbers that look random (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to 1.
    pub fn share(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    pub fn in_box(&mut self, low: DVec3, high: DVec3) -> DVec3 {
        low + (high - low) * DVec3::new(self.share(), self.share(), self.share())
    }

    pub fn direction(&mut self) -> DVec3 {
        loop {
            let v = self.in_box(DVec3::NEG_ONE, DVec3::ONE);
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> DQuat {
        let way = self.direction();
        let (sine, cosine) = (self.share(), self.between(-1.0, 1.0));
        DQuat::from_xyzw(way.x * sine, way.y * sine, way.z * sine, cosine).normalize()
    }
}

/// A ball.
pub struct Ball {
    pub centre: DVec3,
    pub radius: f64,
}

impl Interior for Ball {
    fn inside(&self, p: DVec3) -> bool {
        p.distance(self.centre) <= self.radius
    }

    fn penetration(&self, p: DVec3) -> Option<Depth> {
        let direction = (p - self.centre).normalize_or(DVec3::Y);
        self.inside(p).then(|| Depth { distance: self.radius - p.distance(self.centre), direction })
    }

    fn sphere_meets(&self, p: DVec3, r: f64) -> bool {
        p.distance(self.centre) <= self.radius + r
    }

    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth> {
        let distance = p.distance(self.centre) - self.radius;
        let direction = (p - self.centre).normalize_or(DVec3::Y);
        (distance > 0.0 && distance <= within).then_some(Depth { distance, direction })
    }

    fn depth_error(&self) -> f64 {
        0.0
    }
}

/// An axis-aligned box.
pub struct Cuboid {
    pub centre: DVec3,
    pub half: DVec3,
}

impl Interior for Cuboid {
    fn inside(&self, p: DVec3) -> bool {
        (p - self.centre).abs().cmple(self.half).all()
    }

    fn penetration(&self, p: DVec3) -> Option<Depth> {
        let below = self.half - (p - self.centre).abs();
        let axis = below.min_position();
        let direction = DVec3::AXES[axis] * (p - self.centre)[axis].signum();
        self.inside(p).then(|| Depth { distance: below[axis], direction })
    }

    fn sphere_meets(&self, p: DVec3, r: f64) -> bool {
        (p.clamp(self.centre - self.half, self.centre + self.half)).distance(p) <= r
    }

    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth> {
        let away = p - p.clamp(self.centre - self.half, self.centre + self.half);
        let distance = away.length();
        let direction = away.normalize_or(DVec3::Y);
        (distance > 0.0 && distance <= within).then_some(Depth { distance, direction })
    }

    fn depth_error(&self) -> f64 {
        0.0
    }
}

/// Two solids as one. Where they overlap its depths are too small, and it says so.
pub struct Union<A, B>(pub A, pub B);

impl<A: Interior, B: Interior> Interior for Union<A, B> {
    fn inside(&self, p: DVec3) -> bool {
        self.0.inside(p) || self.1.inside(p)
    }

    fn penetration(&self, p: DVec3) -> Option<Depth> {
        [self.0.penetration(p), self.1.penetration(p)]
            .into_iter()
            .flatten()
            .max_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    fn sphere_meets(&self, p: DVec3, r: f64) -> bool {
        self.0.sphere_meets(p, r) || self.1.sphere_meets(p, r)
    }

    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth> {
        let both = [self.0.outside_distance(p, within), self.1.outside_distance(p, within)];
        let nearest = both.into_iter().flatten().min_by(|a, b| a.distance.total_cmp(&b.distance));
        nearest.filter(|_| !self.inside(p))
    }
}

/// Points on a ball round the origin, about one a unit of area, and a lattice of edge 4 in it.
pub fn ball_points(radius: f64) -> Vec<ObjectPoint> {
    let last = radius.ceil() as i32 + 1;
    let mut out = Vec::new();
    for x in -last..=last {
        for y in -last..=last {
            for z in -last..=last {
                let p = DVec3::new(f64::from(x), f64::from(y), f64::from(z));
                if (p.length() - radius).abs() < 0.5 {
                    out.push(ObjectPoint { position: p.normalize() * radius, on_surface: true });
                } else if p.length() < radius - 1.0 && [x, y, z].iter().all(|v| v.rem_euclid(4) == 2) {
                    out.push(ObjectPoint { position: p, on_surface: false });
                }
            }
        }
    }
    out
}

/// Points on a plate round the origin, one a unit of length, and in it.
pub fn plate_points(half: DVec3) -> Vec<ObjectPoint> {
    let last = half.as_ivec3();
    let mut out = Vec::new();
    for x in -last.x..=last.x {
        for y in -last.y..=last.y {
            for z in -last.z..=last.z {
                let p = DVec3::new(f64::from(x), f64::from(y), f64::from(z));
                let on_surface = x.abs() == last.x || y.abs() == last.y || z.abs() == last.z;
                if on_surface || [x, y, z].iter().all(|v| v.rem_euclid(4) == 2) {
                    out.push(ObjectPoint { position: p, on_surface });
                }
            }
        }
    }
    out
}

/// Breaks the points of a forest by the cells of random seeds. Where two points that are neighbours come into
/// different cells, each gets a new point halfway between them.
pub fn shatter(forest: &SphereForest, seeds: usize, random: &mut Random) -> Fracture {
    let points: Vec<ObjectPoint> = forest.points().collect();
    let Aabb { low, high } = Aabb::of(points.iter().map(|p| p.position));
    let seeds: Vec<DVec3> = (0..seeds).map(|_| random.in_box(low, high)).collect();
    let owner = |p: DVec3| {
        let nearest = seeds.iter().enumerate().min_by(|a, b| a.1.distance(p).total_cmp(&b.1.distance(p)));
        nearest.map_or(0, |(seed, _)| seed as u32)
    };
    let owners: Vec<u32> = points.iter().map(|p| owner(p.position)).collect();
    let mut cracks = vec![Vec::new(); seeds.len()];
    let mut taken = std::collections::HashSet::new();
    for (i, a) in points.iter().enumerate() {
        for (j, b) in points.iter().enumerate().skip(i + 1) {
            let reach = if a.on_surface && b.on_surface { 1.3 } else { 4.01 };
            if owners[i] != owners[j] && a.position.distance_squared(b.position) < reach * reach {
                let middle = a.position.midpoint(b.position);
                let place = (middle / 1.2).round().as_ivec3();
                for (own, neighbour) in [(owners[i], i), (owners[j], j)] {
                    if taken.insert((own, place)) {
                        let at = CrackPoint { position: middle, neighbour: Some(neighbour as u32) };
                        cracks[own as usize].push(at);
                    }
                }
            }
        }
    }
    // A few points without a neighbour stand for a fragment that no old point lies in.
    cracks.push((0..9).map(|_| CrackPoint { position: random.in_box(low, high), neighbour: None }).collect());
    let fate = |(fragment, point): (&u32, &ObjectPoint)| Fate::In {
        fragment: *fragment,
        on_surface: point.on_surface,
    };
    let mut fates: Vec<Fate> = owners.iter().zip(&points).map(fate).collect();
    // A point that nobody hangs on is lost now and then.
    let is_neighbour = |point: usize| cracks.iter().flatten().any(|c| c.neighbour == Some(point as u32));
    if let Some(last) = (0..fates.len()).rev().find(|point| !is_neighbour(*point)) {
        fates[last] = Fate::Gone;
    }
    Fracture { fates, cracks }
}

/// A placement of a forest so that it comes near a solid of about `size` round the origin: apart, touching,
/// deep.
pub fn near_pose(forest: &SphereForest, size: f64, random: &mut Random) -> Placement {
    let scale = random.between(0.5, 2.0);
    let (centre, radius) = forest.bound;
    let away = random.between(0.0, 1.2) * (size + scale * radius);
    let place = DMat4::from_scale_rotation_translation(
        DVec3::splat(scale),
        random.rotation(),
        random.direction() * away,
    );
    Placement::new(place * DMat4::from_translation(-centre))
}

/// Whether what a query put out keeps what [`super::query`] promises, beside all points that collide.
pub fn check_promise(
    found: &[TreeContact],
    colliding: &[TreeContact],
    selection: &Selection,
) -> Result<(), String> {
    let mut seen: Vec<u32> = found.iter().map(|c| c.point).collect();
    seen.sort_unstable();
    if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("point {} is put out twice", twice[0]));
    }
    if let Some(stranger) = found.iter().find(|c| !colliding.contains(c)) {
        return Err(format!("{stranger:?} does not collide"));
    }
    let deepest = found.iter().map(|c| c.depth).fold(0.0, f64::max);
    let least = match (selection.enough.filter(|enough| found.len() >= *enough), selection.beyond) {
        (None, _) => f64::NEG_INFINITY,
        (Some(_), Beyond::Epsilon) => selection.epsilon,
        (Some(_), Beyond::Deepest) => deepest + selection.epsilon,
        (Some(_), Beyond::Nothing) => f64::INFINITY,
    };
    match colliding.iter().find(|c| c.depth > least && seen.binary_search(&c.point).is_err()) {
        Some(missed) => Err(format!("{missed:?} is missed, of {} found {}", colliding.len(), found.len())),
        None => Ok(()),
    }
}

impl SphereForest {
    /// Checks that every point is reached exactly once from the roots, every sphere contains all points below it, and
    /// levels grow downwards.
    ///
    /// # Errors
    /// The violated invariant, in a sentence.
    pub fn validate(&self) -> Result<(), String> {
        let mut met = vec![0u32; self.points.len()];
        let mut path = Vec::new();
        for &root in &self.roots {
            self.validate_below(root as usize, &mut path, &mut met)?;
        }
        match met.iter().position(|times| *times != 1) {
            Some(point) => Err(format!("point {point} is in the forest {} times", met[point])),
            None => Ok(()),
        }
    }

    fn validate_below(&self, index: usize, path: &mut Vec<usize>, met: &mut [u32]) -> Result<(), String> {
        let node = &self.nodes[index];
        let point = &self.points[node.point as usize];
        if node.is_first {
            met[node.point as usize] += 1;
            let parent = path.last().map_or(NONE, |above| self.nodes[*above].point);
            if point.parent != parent {
                return Err(format!(
                    "point {} lies below {parent} and its parent is {}",
                    node.point, point.parent
                ));
            }
            let outside = |above: &&usize| {
                let sphere = &self.nodes[**above];
                sphere.centre.distance(point.position) > sphere.radius
            };
            if let Some(above) = path.iter().find(outside) {
                return Err(format!("sphere {above} does not hold point {}", node.point));
            }
        }
        path.push(index);
        let mut below: Vec<usize> = self.children[node.children.0 as usize..node.children.1 as usize]
            .iter()
            .map(|child| *child as usize)
            .collect();
        if !node.is_last {
            below.push(index + 1);
        }
        for next in below {
            if self.nodes[next].level <= node.level {
                return Err(format!("sphere {next} is not below sphere {index}"));
            }
            self.validate_below(next, path, met)?;
        }
        path.pop();
        Ok(())
    }

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
