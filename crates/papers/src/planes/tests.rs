//! Shards against what is known of them, and against the paper's way.

use super::{
    Beyond, Planes, ShatterError, reference, shatter,
    testing::{
        Random, check, check_solids, cone, cube, cylinder, icosphere, moments, moved, octasphere, outside,
        sites_in, tetrahedron, tiled_cube,
    },
};
use glam::DVec3;

fn objects() -> Vec<(&'static str, Vec<[DVec3; 3]>, usize)> {
    vec![
        ("cube", cube(), 6),
        ("tetrahedron", tetrahedron(), 4),
        ("octahedron", octasphere(0), 8),
        ("sphere of 80", icosphere(1), 80),
        ("sphere of 320", icosphere(2), 320),
        ("sphere of 512", octasphere(3), 512),
        ("tiled cube", tiled_cube(30), 6),
        ("cone of 60", cone(60), 61),
        ("cylinder of 24", cylinder(24), 26),
        ("cylinder of 100", cylinder(100), 102),
    ]
}

/// `count` a side, in the unit box.
fn grid(count: usize) -> Vec<DVec3> {
    let at = |k: usize| (k as f64 + 0.5) / count as f64;
    let all = 0..count * count * count;
    all.map(|k| DVec3::new(at(k % count), at(k / count % count), at(k / count / count))).collect()
}

#[test]
fn unit_box_of_90_sites() {
    let sites = Random(90).points(90);
    let planes = Planes::new(&cube(), false).unwrap();
    let shards = planes.shatter(&sites).unwrap();
    assert_eq!(shards.len(), 90);
    let sum: f64 = shards.iter().map(|s| s.volume).sum();
    println!("volumes sum to 1 to {:.1e}", (sum - 1.0).abs());
    assert!((sum - 1.0).abs() < 1e-12);
    check(&planes, &sites, &shards, 1e-9).unwrap();
}

#[test]
fn objects_of_all_sizes_and_places() {
    for (name, triangles, count) in objects() {
        for size in [1e-3, 1.0, 1e3] {
            for single in [false, true] {
                let offset = DVec3::new(3.0, -0.7, 0.2) * size;
                let triangles = moved(&triangles, size, offset, single);
                let planes = Planes::new(&triangles, false).unwrap();
                assert_eq!(planes.len(), count, "{name}, size {size}, single precision {single}");
                let sites = sites_in(&planes, 20, 5);
                let shards = planes.shatter(&sites).unwrap();
                // In single precision the corners of a face are not quite in a plane.
                let slack = if single { 2e-6 } else { 1e-9 };
                let found = check(&planes, &sites, &shards, slack);
                assert_eq!(found, Ok(()), "{name}, size {size}, single precision {single}");
            }
        }
    }
}

#[test]
fn corners_are_those_of_the_papers_way() {
    for (name, triangles, _) in objects().into_iter().filter(|(_, _, count)| *count <= 80) {
        let planes = Planes::new(&triangles, false).unwrap();
        let mut sites = sites_in(&planes, 30, 11);
        sites.extend([DVec3::new(1.6, 0.5, 0.5), DVec3::splat(-0.4)]);
        let shards = planes.shatter(&sites).unwrap();
        for site in 0..sites.len() {
            let expected = reference::corners(&planes, &sites, site);
            let Some(shard) = shards.iter().find(|s| s.site == site) else {
                assert!(expected.len() < 4, "{name}: no shard of site {site}");
                continue;
            };
            assert_eq!(shard.vertices.len(), expected.len(), "{name}, site {site}");
            for vertex in &shard.vertices {
                let nearest = expected.iter().map(|p| p.distance(*vertex)).fold(f64::INFINITY, f64::min);
                assert!(nearest < 1e-7, "{name}, site {site}: {vertex} is {nearest} from any");
            }
        }
    }
}

#[test]
fn grids_of_sites_give_boxes() {
    for count in [2, 3, 5, 6] {
        let (sites, planes) = (grid(count), Planes::new(&cube(), false).unwrap());
        let shards = planes.shatter(&sites).unwrap();
        assert_eq!(shards.len(), count * count * count);
        for shard in &shards {
            assert_eq!(
                (shard.vertices.len(), shard.faces.len()),
                (8, 6),
                "{count} a side, site {}",
                shard.site
            );
            assert!(shard.faces.iter().all(|face| face.len() == 4));
        }
        check(&planes, &sites, &shards, 1e-9).unwrap();
    }
}

/// Many planes through one corner, and planes of sites that coincide with the object's.
#[test]
fn degenerate_sites() {
    let on_sphere = |count: usize| -> Vec<DVec3> {
        let points = Random(3).points(count).into_iter();
        points.map(|p| (p - 0.5).normalize_or(DVec3::X) * 0.3 + 0.5).collect()
    };
    let mirrored = vec![DVec3::new(0.25, 0.5, 0.5), DVec3::new(1.75, 0.5, 0.5), DVec3::new(0.75, 0.5, 0.5)];
    let in_line: Vec<DVec3> = (0..9).map(|k| DVec3::splat(k as f64 / 8.0)).collect();
    let corners: Vec<DVec3> = cube().into_iter().flatten().collect();
    let close = vec![DVec3::splat(0.5), DVec3::new(0.5 + 1e-9, 0.5, 0.5), DVec3::new(0.5, 0.5 + 1e-7, 0.5)];
    let cases = [
        ("sphere", on_sphere(60)),
        ("octahedron", octasphere(0).into_iter().flatten().collect()),
        ("ring", cylinder(16).into_iter().flatten().collect()),
        ("mirrored in a side", mirrored),
        ("line", in_line),
        ("corners, each often", corners),
        ("close", close),
    ];
    for (name, sites) in cases {
        for (object, triangles, _) in objects() {
            let planes = Planes::new(&triangles, false).unwrap();
            let shards = planes.shatter(&sites).unwrap();
            assert_eq!(check(&planes, &sites, &shards, 1e-9), Ok(()), "{name} in {object}");
        }
    }
}

/// Near all of that, to between a thousandth and the last digit; and with each site as near as it likes. Other cases
/// with `PLANES_SEED`.
#[test]
fn nearly_degenerate_sites() {
    let place = |points: &mut dyn Iterator<Item = DVec3>| -> Vec<DVec3> {
        moved(&points.map(|p| [p; 3]).collect::<Vec<_>>(), 1.0, DVec3::ONE, false)
            .iter()
            .map(|t| t[0])
            .collect()
    };
    let mut random = Random(std::env::var("PLANES_SEED").map_or(17, |seed| seed.parse().unwrap()));
    let (lattice, mut all) = (place(&mut grid(4).into_iter()), 0);
    for (object, triangles, _) in objects() {
        for single in [false, true] {
            let triangles = moved(&triangles, 1.0, DVec3::ONE, single);
            let planes = Planes::new(&triangles, false).unwrap();
            let corners: Vec<DVec3> = triangles.iter().flatten().copied().take(60).collect();
            for digits in 2..17 {
                for (name, sites) in [("corners", &corners), ("grid", &lattice)] {
                    let mut jitter = |p: &DVec3| {
                        let own = if digits == 2 { 3 + (random.number() * 14.0) as i32 } else { digits };
                        *p + (random.point() - 0.5) * 0.1f64.powi(own)
                    };
                    let sites: Vec<DVec3> = sites.iter().map(&mut jitter).collect();
                    let shards = planes.shatter(&sites).unwrap();
                    // Planes to two sites near each other, but not the same distance from a third, are nearly parallel:
                    // the side between their faces can be anywhere in a millionth.
                    let slack = if single || digits == 2 { 2e-6 } else { 1e-9 };
                    let found = check_solids(&planes, &sites, &shards, slack);
                    assert_eq!(found, Ok(()), "{object}, single precision {single}, {name}, 1e-{digits}");
                    all += shards.len();
                }
            }
        }
    }
    println!("{all} shards");
}

#[test]
fn one_site_gets_the_whole() {
    for (name, triangles, count) in objects() {
        for site in [DVec3::splat(0.3), DVec3::new(40.0, 0.0, -3.0)] {
            let shards = shatter(&triangles, &[site], false).unwrap();
            assert_eq!(shards.len(), 1, "{name}");
            assert_eq!(shards[0].beyond, (0..count).map(Beyond::Mesh).collect::<Vec<_>>(), "{name}");
        }
    }
    let whole = &shatter(&cube(), &[DVec3::splat(0.3)], false).unwrap()[0];
    assert!((whole.volume - 1.0).abs() < 1e-15 && (whole.centre - 0.5).length() < 1e-15);
    assert!((whole.inertia.x_axis - DVec3::X / 6.0).length() < 1e-15);
    assert_eq!(shatter(&cube(), &[], false), Ok(Vec::new()));
}

#[test]
fn of_equal_sites_the_first_has_the_cell() {
    let mut sites = Random(4).points(12);
    sites.extend_from_within(2..7);
    sites.push(sites[0]);
    let planes = Planes::new(&cube(), false).unwrap();
    let shards = planes.shatter(&sites).unwrap();
    assert_eq!(shards.iter().map(|s| s.site).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    check(&planes, &sites, &shards, 1e-9).unwrap();
    let same = vec![DVec3::splat(0.2); 5];
    assert_eq!(shatter(&cube(), &same, false).unwrap().len(), 1);
}

#[test]
fn sites_outside_have_what_is_nearest_to_them() {
    let planes = Planes::new(&icosphere(1), false).unwrap();
    let mut sites: Vec<DVec3> = Random(8).points(40).into_iter().map(|p| (p - 0.5) * 4.0 + 0.5).collect();
    sites.push(DVec3::new(9e3, 1.0, 0.0));
    let shards = planes.shatter(&sites).unwrap();
    assert!(shards.len() < sites.len());
    check(&planes, &sites, &shards, 1e-9).unwrap();
    let far = shatter(&cube(), &[DVec3::ZERO, DVec3::X * 1e9], false);
    assert_eq!(far, Err(ShatterError::FarSite { site: 1 }));
}

#[test]
fn doubled_flat_and_coplanar_triangles() {
    // The top is a fan about its middle, a corner of which lies on an edge of a neighbour.
    let mut triangles = cube()[..2].to_vec();
    triangles.extend(cube()[4..].iter().copied());
    let (top, middle) = (cube()[2..4].to_vec(), DVec3::new(0.5, 0.5, 1.0));
    for t in &top {
        triangles.extend((0..3).map(|k| [t[k], t[(k + 1) % 3], middle]));
    }
    let doubled = triangles.len();
    triangles.extend(cube().into_iter().take(2).map(|[a, b, c]| [a, c, b]));
    let flat = triangles.len();
    triangles.push([DVec3::ZERO, DVec3::ZERO, DVec3::X]);
    triangles.push([DVec3::ZERO, DVec3::X * 0.5, DVec3::X]);
    triangles.push([DVec3::splat(0.5), DVec3::splat(2.0), DVec3::splat(3.0)]);
    let planes = Planes::new(&triangles, false).unwrap();
    assert_eq!(planes.len(), 6);
    let mut all: Vec<u32> = (0..6).flat_map(|k| planes.sources(k).to_vec()).collect();
    all.sort_unstable();
    // The two that only divide the top's diagonal in halves have no area, and are on no plane.
    let area = |t: [DVec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]).length();
    let expected: Vec<u32> = (0..flat).filter(|k| area(triangles[*k]) > 0.0).map(|k| k as u32).collect();
    assert_eq!(all, expected);
    for k in 0..6 {
        let plane = planes.plane(k);
        let lies_on = |p: &DVec3| (plane.normal.dot(*p) - plane.distance).abs() < 1e-12;
        assert!(planes.sources(k).iter().all(|t| triangles[*t as usize].iter().all(lies_on)));
    }
    assert!(doubled < flat);
    let sites = Random(1).points(15);
    check(&planes, &sites, &planes.shatter(&sites).unwrap(), 1e-9).unwrap();
}

#[test]
fn a_tip_of_many_planes() {
    let planes = Planes::new(&cone(2000), false).unwrap();
    let mut sites = sites_in(&planes, 12, 3);
    // These two are parted below the tip, across all sides.
    sites.extend([DVec3::new(0.5, 0.5, 0.6), DVec3::new(0.5, 0.5, 0.9)]);
    check(&planes, &sites, &planes.shatter(&sites).unwrap(), 1e-9).unwrap();
}

/// A cube with a notch.
fn notched() -> Vec<[DVec3; 3]> {
    let mut triangles = cube()[..2].to_vec();
    triangles.extend(cube()[4..].iter().copied());
    let dent = DVec3::new(0.5, 0.5, 0.7);
    let rim = [DVec3::Z, DVec3::new(1.0, 0.0, 1.0), DVec3::ONE, DVec3::new(0.0, 1.0, 1.0)];
    triangles.extend((0..4).map(|k| [rim[k], rim[(k + 1) % 4], dent]));
    triangles
}

#[test]
fn what_is_not_convex_is_refused_or_hulled() {
    let triangles = moved(&notched(), 10.0, DVec3::ZERO, false);
    let error = shatter(&triangles, &[DVec3::ZERO], false).unwrap_err();
    let ShatterError::NotConvex { outside, triangle, .. } = error else { panic!("{error}") };
    assert!(outside > 1.0 && triangle >= 10, "{error}");
    let said = error.to_string();
    assert!(said.contains("not convex") && said.contains("octree") && said.contains("hull"), "{said}");

    let planes = Planes::new(&triangles, true).unwrap();
    assert_eq!(planes.len(), 6);
    let mut covered: Vec<usize> = (0..6).map(|k| planes.sources(k).len()).collect();
    covered.sort_unstable();
    assert_eq!(covered, [0, 2, 2, 2, 2, 2]);
    let sites = sites_in(&planes, 25, 2);
    let shards = planes.shatter(&sites).unwrap();
    assert!((shards.iter().map(|s| s.volume).sum::<f64>() - 1000.0).abs() < 1e-6);
    check(&planes, &sites, &shards, 1e-9).unwrap();
}

#[test]
fn the_hull_of_what_is_convex_is_itself() {
    for (name, triangles, count) in objects() {
        let (own, hull) = (Planes::new(&triangles, false).unwrap(), Planes::new(&triangles, true).unwrap());
        assert_eq!((own.len(), hull.len()), (count, count), "{name}");
        let all = |p: &Planes| {
            let mut all: Vec<Vec<u32>> = (0..p.len()).map(|k| p.sources(k).to_vec()).collect();
            all.sort();
            all
        };
        assert_eq!(all(&own), all(&hull), "{name}");
        let sites = sites_in(&hull, 10, 6);
        assert_eq!(check(&hull, &sites, &hull.shatter(&sites).unwrap(), 1e-9), Ok(()), "{name}");
    }
    // Points inside, and points in the middle of sides, are no corners.
    let random: Vec<DVec3> = Random(9).points(3000);
    let mut cloud: Vec<[DVec3; 3]> = random.chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
    let planes = Planes::new(&cloud, true).unwrap();
    let sites = sites_in(&planes, 30, 1);
    check(&planes, &sites, &planes.shatter(&sites).unwrap(), 1e-9).unwrap();
    cloud.extend(cube());
    cloud.extend(cloud.clone().iter().map(|t| t.map(|p| DVec3::new(p.x, p.y, 0.0))));
    assert_eq!(Planes::new(&cloud, true).unwrap().len(), 6);
}

#[test]
fn hulls_of_what_is_nearly_flat() {
    let mut random = Random(21);
    for digits in 1..16 {
        // Lenses, ever flatter on top, and a slab below.
        let bend = 0.1f64.powi(digits);
        let on_top =
            |p: DVec3| DVec3::new(p.x, p.y, 1.0 - bend * ((p.x - 0.5).powi(2) + (p.y - 0.5).powi(2)));
        let mut points: Vec<DVec3> = random.points(900).into_iter().map(on_top).collect();
        points.extend(random.points(90).into_iter().map(|p| p * DVec3::new(1.0, 1.0, 0.1)));
        let triangles: Vec<[DVec3; 3]> = points.chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
        let planes = Planes::new(&triangles, true).unwrap();
        let out = points.iter().map(|p| outside(&planes, *p)).fold(0.0, f64::max);
        assert!(out < 1e-12, "bend 1e-{digits}: {out:.1e} outside");
        let sites = sites_in(&planes, 25, 4);
        let shards = planes.shatter(&sites).unwrap();
        // The exact hull's volume.
        let hull = super::object::hull_of_points(&points).unwrap();
        let volume = moments(hull.iter().map(|t| t.map(|p| points[p as usize]))).0;
        let sum: f64 = shards.iter().map(|s| s.volume).sum();
        println!(
            "bend 1e-{digits}: {} planes of {}, volume {:.1e} off",
            planes.len(),
            hull.len(),
            sum / volume - 1.0
        );
        assert!((sum / volume - 1.0).abs() < 1e-6);
        assert_eq!(check(&planes, &sites, &shards, 3e-6), Ok(()), "bend 1e-{digits}");
    }
}

#[test]
fn what_bounds_no_solid_is_refused() {
    let open = |left_out: &[usize]| -> Vec<[DVec3; 3]> {
        let all = cube().into_iter().enumerate();
        all.filter(|(k, _)| !left_out.contains(k)).map(|(_, t)| t).collect()
    };
    for hull in [false, true] {
        assert_eq!(shatter(&[], &[], hull), Err(ShatterError::Flat));
        assert_eq!(shatter(&cube()[..2], &[], hull), Err(ShatterError::Flat), "a square");
        assert_eq!(shatter(&[[DVec3::ONE; 3]; 9], &[], hull), Err(ShatterError::Flat), "a point");
        let mut bad = cube();
        bad[7][1].y = f64::NAN;
        let error = ShatterError::NotFinite { what: "triangle", index: 7 };
        assert_eq!(shatter(&bad, &[], hull), Err(error));
    }
    for left_out in [&[0, 1][..], &[0, 1, 2, 3], &[2, 3, 4, 5]] {
        assert_eq!(shatter(&open(left_out), &[], false), Err(ShatterError::NotClosed), "{left_out:?}");
    }
    let error = ShatterError::NotFinite { what: "site", index: 1 };
    assert_eq!(shatter(&cube(), &[DVec3::ZERO, DVec3::INFINITY], false), Err(error));
    // A hollow: its sides have the outside within.
    let mut hollow = cube();
    hollow.extend(cube().iter().map(|t| t.map(|p| p * 0.5 + 0.25)));
    assert!(matches!(shatter(&hollow, &[], false), Err(ShatterError::NotConvex { .. })));
}

#[test]
fn same_bytes_on_any_number_of_threads() {
    let (triangles, sites) = (icosphere(2), Random(12).points(200));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| format!("{:?}", shatter(&triangles, &sites, true).unwrap()))
    };
    let one = on(1);
    assert!([2, 3, 8].iter().all(|threads| on(*threads) == one));
}
