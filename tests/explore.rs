use std::{
    path::Path,
    time::{Duration, Instant},
};

use kintsugi::{
    bodies::StepReport,
    gpu::Gpu,
    scene::{Arrived, Sandbox, Scene, load_scene},
};

fn shipped(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes").join(name).with_extension("toml");
    load_scene(&path).expect("a shipped scene")
}

fn until(sandbox: &mut Sandbox, wanted: Arrived) {
    let start = Instant::now();
    while sandbox.poll().expect("it goes well") != Some(wanted) {
        assert!(start.elapsed() < Duration::from_secs(300), "waited too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn open(scene: Scene) -> Sandbox {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let mut sandbox = Sandbox::new(&gpu).expect("an empty sandbox");
    sandbox.open_scene(scene);
    until(&mut sandbox, Arrived::Opened);
    sandbox
}

/// One step, and the fractures that it starts.
fn step(sandbox: &mut Sandbox) -> StepReport {
    sandbox.step().expect("it steps");
    while sandbox.is_breaking() {
        until(sandbox, Arrived::Broke);
    }
    sandbox.last_step().clone()
}

fn play(sandbox: &mut Sandbox, seconds: f64) -> StepReport {
    let mut last = StepReport::default();
    for _ in 0..(seconds / sandbox.settings().dt).round() as usize {
        last = step(sandbox);
    }
    last
}

fn fastest(sandbox: &Sandbox) -> f64 {
    sandbox.bodies().iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max)
}

#[test]
fn explore() {
    let what = std::env::var("KX").unwrap_or_else(|_| "v1 v2 v3 v4 v5 v6 b1 b2 b3 p90".into());
    for w in what.split_whitespace() {
        let (kind, n) = w.split_at(1);
        let n: u64 = n.parse().unwrap();
        let mut scene = match kind {
            "v" => shipped("vase"),
            "b" | "c" => {
                let mut s = shipped("vase");
                s.bodies[0].file = "/work/shared/meshes/stanford-bunny.obj".into();
                s
            }
            _ => shipped("p12-pile"),
        };
        let body = &mut scene.bodies[0];
        if kind == "p" {
            body.fracture.seeds = n as u32;
        } else {
            (body.level, body.physics_level) = (7, Some(6));
            (body.fracture.seeds, body.fracture.rng) = (if kind == "c" { 500 } else { 90 }, n as _);
        }
        let mut sandbox = open(scene);
        let clock = Instant::now();
        let (mut deepest, mut fast) = (0.0f64, 0.0f64);
        let mut next_depth = 0.2f64;
        let (mut r, mut steps) = (StepReport::default(), 0);
        while sandbox.time() < 9.995 {
            r = step(&mut sandbox);
            (deepest, fast, steps) = (deepest.max(r.deepest), fast.max(fastest(&sandbox)), steps + 1);
            if let Ok(watch) = std::env::var("WATCH") {
                let ids: Vec<u32> = watch.split('-').map(|v| v.parse().unwrap()).collect();
                let cs: Vec<_> = sandbox
                    .contacts()
                    .into_iter()
                    .filter(|c| c.bodies.0.0 == ids[0] && c.bodies.1.is_some_and(|b| b.0 == ids[1]))
                    .collect();
                if let Some(c) = cs.first() {
                    let d = cs.iter().map(|c| -c.separation / c.cell).fold(-9.0, f64::max);
                    if d > next_depth {
                        next_depth = d + 0.25;
                        println!("pair at {:.2} s depth {d:.2} cell {:.4}", sandbox.time(), c.cell);
                        for c in &cs {
                            println!(
                                "     pair n ({:.2} {:.2} {:.2}) depth {:.2} impulse {:.5} at ({:.3} {:.3} {:.3})",
                                c.normal.x,
                                c.normal.y,
                                c.normal.z,
                                -c.separation / c.cell,
                                c.impulse,
                                c.position.x,
                                c.position.y,
                                c.position.z
                            );
                        }
                    }
                }
            }
            if r.awake == 0 && sandbox.time() > 1.0 {
                break;
            }
        }
        let def = &sandbox.bodies()[0].def;
        let cell = def.grid.h * f64::from(1u32 << (def.forest.level - def.collision_level()));
        if std::env::var("SHOW").is_ok() {
            let mut cs = sandbox.contacts();
            cs.sort_by(|a, b| (a.separation / a.cell).total_cmp(&(b.separation / b.cell)));
            let worst = cs[0].bodies;
            for c in cs.iter().take(6) {
                println!(
                    "pair top {:?} depth {:.2} cell {:.4} n ({:.2} {:.2} {:.2}) imp {:.4}",
                    c.bodies,
                    -c.separation / c.cell,
                    c.cell,
                    c.normal.x,
                    c.normal.y,
                    c.normal.z,
                    c.impulse
                );
            }
            for id in [Some(worst.0), worst.1].into_iter().flatten() {
                let b = sandbox.bodies().iter().find(|b| b.id == id).unwrap();
                println!(
                    "pair body {:?} r {:.3} kg {:.4} crumb {} at {:.3}",
                    id,
                    b.def.radius(),
                    b.def.mass_kg(),
                    b.def.is_crumb(),
                    b.state.position
                );
                for c in cs.iter().filter(|c| c.bodies.0 == id || c.bodies.1 == Some(id)) {
                    println!(
                        "pair     {:?} depth {:.2} n ({:.2} {:.2} {:.2}) imp {:.5} at ({:.3} {:.3} {:.3})",
                        c.bodies,
                        -c.separation / c.cell,
                        c.normal.x,
                        c.normal.y,
                        c.normal.z,
                        c.impulse,
                        c.position.x,
                        c.position.y,
                        c.position.z
                    );
                }
            }
        }
        let top = true_depths(sandbox.bodies(), &sandbox.contacts());
        for (a, b) in top.into_iter().take(if std::env::var("DEEP").is_ok() { 8 } else { 0 }) {
            println!("   pair {a:?} {b:?}");
        }
        let low = sandbox.bodies().iter().map(|b| b.state.position.y).fold(1e9, f64::min);
        println!(
            "X {w}: {} pieces, {} awake at {:.2} s; deepest {:.2} cells, at rest {:.2}; fastest {fast:.1} m/s; lowest centre {:.2} cells; {:.1} ms a step",
            sandbox.bodies().len(),
            r.awake,
            sandbox.time(),
            deepest / cell,
            r.deepest / cell,
            low / cell,
            clock.elapsed().as_secs_f64() * 1e3 / f64::from(steps)
        );
    }
}
use glam::{IVec3, Vec3};
use kintsugi::bodies::Body;
use kintsugi::svo::{morton, unpack_normal};

fn plane_cut(b: &Body, leaf: usize) -> (Vec3, Vec3, Vec3, Option<(Vec3, f32)>) {
    let f = &b.def.forest;
    let n = unpack_normal(f.leaves.normals[leaf]);
    let c = Vec3::from(morton::decode(f.leaves.keys[leaf]).map(|v| v as f32)) + Vec3::splat(0.5);
    (c, c + n * f.leaves.colors[leaf].offset(), n, kintsugi::svo::unpack_cut(f.leaves.cuts[leaf]))
}
fn leaf_point(b: &Body, leaf: usize) -> (Vec3, Vec3) {
    let (c, p, n, cut) = plane_cut(b, leaf);
    let Some((m, o)) = cut else { return (p, n) };
    let beyond = (p - c).dot(m) - o;
    if beyond <= 0.0 {
        return (p, n);
    }
    let cos = n.dot(m);
    let e = p - (m - n * cos) * (beyond / (1.0 - cos * cos).max(1e-3));
    if (e - c).abs().max_element() < 0.6 { (e, n) } else { (p - m * beyond, m) }
}
/// 0 empty, 1 inside, 2+leaf
fn cell_of(b: &Body, cell: IVec3) -> (u32, u32) {
    let f = &b.def.forest;
    let side = 1i32 << f.level;
    if cell.cmplt(IVec3::ZERO).any() || cell.cmpge(IVec3::splat(side)).any() {
        return (0, 0);
    }
    let mut index = b.def.tree;
    for bit in (0..f.level).rev() {
        let node = f.nodes[index as usize];
        let c = (cell.x >> bit & 1 | (cell.y >> bit & 1) << 1 | (cell.z >> bit & 1) << 2) as u32;
        if node.internal() >> c & 1 == 1 {
            return (1, 0);
        }
        if node.valid() >> c & 1 == 0 {
            return (0, 0);
        }
        index = node.child(c);
    }
    (2, index)
}
fn depth_in(b: &Body, pts: &[(Vec3, Vec3)], p: Vec3) -> f32 {
    let (k, leaf) = cell_of(b, p.floor().as_ivec3());
    let inside = match k {
        0 => false,
        1 => true,
        _ => {
            let (c, q, n, cut) = plane_cut(b, leaf as usize);
            (p - q).dot(n) < 0.0 && cut.is_none_or(|(m, o)| (p - c).dot(m) < o)
        }
    };
    if !inside {
        return 0.0;
    }
    // distance to surface: nearest leaf; plane distance where close
    let mut best = f32::MAX;
    let mut at = 0;
    for (i, (q, _)) in pts.iter().enumerate() {
        let d = (p - *q).length_squared();
        if d < best {
            best = d;
            at = i;
        }
    }
    let (q, n) = pts[at];
    let plane = -(p - q).dot(n);
    // clamp sideways
    plane.max(0.0).min(best.sqrt())
}
pub fn true_depths(
    bodies: &[Body],
    contacts: &[kintsugi::bodies::Contact],
) -> Vec<(kintsugi::bodies::BodyId, kintsugi::bodies::BodyId)> {
    let points: Vec<Vec<(Vec3, Vec3)>> = bodies
        .iter()
        .map(|b| {
            let f = &b.def.forest;
            let t = b.def.tree as usize;
            (f.tree_start[t] as usize..f.tree_start[t + 1] as usize).map(|l| leaf_point(b, l)).collect()
        })
        .collect();
    use std::collections::BTreeMap;
    let mut by: BTreeMap<(usize, usize), Vec<&kintsugi::bodies::Contact>> = BTreeMap::new();
    for c in contacts {
        if let Some(s) = c.bodies.1 {
            let i = bodies.iter().position(|b| b.id == c.bodies.0).unwrap();
            let j = bodies.iter().position(|b| b.id == s).unwrap();
            by.entry((i, j)).or_default().push(c);
        }
    }
    let mut rows = Vec::new();
    for ((i, j), cs) in by {
        let cell = cs[0].cell;
        let rep =
            cs.iter().filter(|c| c.impulse > 0.0).map(|c| -c.separation / cell).fold(f64::MIN, f64::max);
        let mut worst = (0.0f64, 0.0f64);
        let mut deep: Vec<(f32, Vec3, Vec3, usize, usize)> = Vec::new();
        for (a, b) in [(i, j), (j, i)] {
            let (ba, bb) = (&bodies[a], &bodies[b]);
            let m = bb.world_from_grid().inverse() * ba.world_from_grid();
            for (p, _) in &points[a] {
                let q = m.transform_point3(p.as_dvec3()).as_vec3();
                let d = depth_in(bb, &points[b], q);
                if d > 0.0 {
                    worst_at(&mut deep, d * (bb.def.grid.h / cell) as f32, *p, q, a, b);
                    let birth = if ba.def.is_sibling(&bb.def) { depth_in(bb, &points[b], *p) } else { 0.0 };
                    let scale = bb.def.grid.h / cell;
                    worst.0 = worst.0.max(f64::from(d) * scale);
                    worst.1 = worst.1.max(f64::from(d - birth) * scale);
                }
            }
        }
        let opp = cs
            .iter()
            .any(|c| cs.iter().any(|d| c.normal.dot(d.normal) < -0.3 && c.impulse > 0.0 && d.impulse > 0.0));
        rows.push((worst.1, worst.0, rep, i, j, cs.len(), opp, cell / bodies[i].def.grid.h));
    }
    rows.sort_by(|a, b| b.2.max(b.0).total_cmp(&a.2.max(a.0)));
    let over = |x: f64| rows.iter().filter(|r| r.0 > x).count();
    println!(
        "   true: worst {:.2} cells, {} over half, {} over one; reported: worst {:.2}, {} over half; of {} pairs",
        rows.iter().map(|r| r.0).fold(0.0, f64::max),
        over(0.5),
        over(1.0),
        rows.iter().map(|r| r.2).fold(0.0, f64::max),
        rows.iter().filter(|r| r.2 > 0.5).count(),
        rows.len()
    );
    for r in rows.iter().take(if std::env::var("DEEP").is_ok() { 12 } else { 0 }) {
        println!(
            "   pair {:>3},{:>3}: true beyond birth {:.2} (all {:.2}), reported {:.2?}; {} points, opposing {}, cell {} voxels; voxels of each {} {}",
            r.3,
            r.4,
            r.0,
            r.1,
            r.2.max(-9.0),
            r.5,
            r.6,
            r.7,
            bodies[r.3].def.mass.voxels,
            bodies[r.4].def.mass.voxels
        );
    }
    rows.iter().take(8).map(|r| (bodies[r.3].id, bodies[r.4].id)).collect()
}

fn worst_at(deep: &mut Vec<(f32, Vec3, Vec3, usize, usize)>, d: f32, p: Vec3, q: Vec3, a: usize, b: usize) {
    deep.push((d, p, q, a, b));
}
#[test]
fn late() {
    let mut scene = shipped("p12-pile");
    scene.bodies[0].fracture.seeds = std::env::var("KS").map_or(500, |v| v.parse().unwrap());
    if std::env::var("NOSLEEP").is_ok() {
        scene.sleeping = false;
    }
    let mut sandbox = open(scene);

    while sandbox.time() < 9.995 {
        let r = step(&mut sandbox);
        let n = (sandbox.time() * 100.0).round() as u32;
        if n >= 700 && n % 10 == 0 {
            let mut v: Vec<_> = sandbox.bodies().iter().filter(|b| !b.is_static()).collect();
            v.sort_by(|a, b| b.state.linear_velocity.length().total_cmp(&a.state.linear_velocity.length()));
            let cs = sandbox.contacts();
            for b in v.iter().take(1) {
                println!(
                    "b {:.2} {:?} r {:.3} m {:.3} v ({:.4} {:.4} {:.4}) w ({:.3} {:.3} {:.3})",
                    sandbox.time(),
                    b.id,
                    b.def.radius(),
                    b.def.mass_kg(),
                    b.state.linear_velocity.x,
                    b.state.linear_velocity.y,
                    b.state.linear_velocity.z,
                    b.state.angular_velocity.x,
                    b.state.angular_velocity.y,
                    b.state.angular_velocity.z
                );
                for c in cs.iter().filter(|c| c.bodies.0 == b.id || c.bodies.1 == Some(b.id)) {
                    println!(
                        "b      {:?} n ({:.2} {:.2} {:.2}) depth {:.2} impulse {:.5} at ({:.3} {:.3} {:.3})",
                        c.bodies,
                        c.normal.x,
                        c.normal.y,
                        c.normal.z,
                        -c.separation / c.cell,
                        c.impulse,
                        c.position.x - b.state.position.x,
                        c.position.y - b.state.position.y,
                        c.position.z - b.state.position.z
                    );
                }
            }
        }
        if n % 50 == 0 {
            let mut v: Vec<_> = sandbox
                .bodies()
                .iter()
                .filter(|b| !b.is_static())
                .map(|b| b.state.linear_velocity.length())
                .collect();
            v.sort_by(|a, b| b.total_cmp(a));
            println!(
                "t {:.1} awake {} contacts {} kin {:.5} fastest {:.4} {:.4} {:.4} {:.4} median {:.5} deep {:.4}",
                sandbox.time(),
                r.awake,
                r.contacts,
                r.kinetic,
                v[0],
                v[1],
                v[4],
                v[16],
                v[v.len() / 2],
                r.deepest
            );
        }
    }
}
