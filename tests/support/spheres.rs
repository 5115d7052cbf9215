//! A way to find contacts that the program does not have: every body is the sphere round it. It lives in this file
//! alone; a line adds it to the table at start-up, and scenes, commands and the window name it like the others.

use kintsugi::{
    bodies::{
        Body, ContactGenerator, ContactQuery, Found, GeneratorEntry, LevelOfDetail, Manifold, NearPair,
        Point, StepContext, find, inherit,
    },
    gpu::GpuError,
};

pub static ENTRY: GeneratorEntry = GeneratorEntry {
    name: "spheres",
    label: "spheres",
    about: "Every body is the sphere round it.",
    accepts: |_| true,
    options: &[],
    make: |_| Ok(Box::new(Spheres)),
};

struct Spheres;

/// How finely two spheres are looked at, m: a share of the smaller radius.
fn fine(radius: f64) -> f64 {
    0.1 * radius
}

impl ContactGenerator for Spheres {
    fn reach(&self, bodies: &[Body], _: LevelOfDetail<'_>) -> Vec<f64> {
        bodies.iter().map(|body| body.def.radius()).collect()
    }

    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], _: LevelOfDetail<'_>) {
        for pair in pairs {
            let [a, b] = pair.bodies.map(|k| bodies[k].def.radius());
            pair.resolution_m = fine(a.min(b));
        }
    }

    fn find(&mut self, _: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        let mut out = Vec::new();
        for pair in query.pairs {
            let [a, b] = pair.bodies.map(|k| &query.bodies[k]);
            let (r, s) = (a.def.radius(), b.def.radius());
            let apart = a.state.position - b.state.position;
            let (normal, gap) = (apart.normalize_or(glam::DVec3::Y), apart.length() - r - s);
            let at = b.state.position + normal * (s + 0.5 * gap);
            let near = gap < pair.way + fine(r.min(s));
            let point = || Point::new(0, [Some(a), Some(b)], at, normal, gap);
            out.push(manifold(query, a, Some(b), near.then(point).into_iter().collect()));
        }
        for body in query.at_planes.iter().map(|&k| &query.bodies[k]) {
            let (r, centre) = (body.def.radius(), body.state.position);
            let near = query.planes.iter().enumerate().filter_map(|(k, plane)| {
                let gap = plane.distance(centre) - r;
                let way = body.state.linear_velocity.length() * query.dt;
                let at = centre - plane.normal * (r + gap);
                let point = || Point::new(k as u64, [Some(body), None], at, plane.normal, gap);
                (gap < way + fine(r)).then(point)
            });
            out.push(manifold(query, body, None, near.collect()));
        }
        Ok(out.into())
    }
}

fn manifold(query: &ContactQuery<'_>, a: &Body, b: Option<&Body>, mut points: Vec<Point>) -> Manifold {
    let radius = b.map_or(f64::MAX, |b| b.def.radius()).min(a.def.radius());
    let (first, second, resolution_m) = (a.id, b.map(|b| b.id), fine(radius));
    let old = find(query.old, first, second).map(|k| &query.old[k]);
    if let Some(old) = old {
        inherit(&mut points, &old.points, resolution_m);
    }
    let rolling_impulse = old.map_or(glam::DVec3::ZERO, |m| m.rolling_impulse);
    Manifold { first, second, points, rolling_impulse, resolution_m }
}
