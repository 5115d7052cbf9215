//! The checks find what is planted.

use super::{
    Beyond, Planes, Shard,
    planted::Planted,
    testing::{
        Random, area, check, check_each, check_neighbours, check_points, check_sum, cube, icosphere, sites_in,
    },
};

#[test]
fn planted_errors_are_found() {
    for triangles in [cube(), icosphere(1)] {
        let mut planes = Planes::new(&triangles, false).unwrap();
        let sites = sites_in(&planes, 40, 3);
        let shards = planes.shatter(&sites).unwrap();
        assert_eq!(check(&planes, &sites, &shards, 1e-9), Ok(()));
        let sides = shards[5].faces.iter().map(|face| area(&shards[5], face).length()).zip(&shards[5].beyond);
        let largest =
            sides.filter(|(_, beyond)| matches!(beyond, Beyond::Site(_))).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, Beyond::Site(neighbour))) = largest else { panic!("alone") };
        // Which of the checks find it, in their order: sum, each, neighbours, points.
        let all = [
            (Planted::SkippedPlane(5, *neighbour), [true, false, true, true]),
            (Planted::EarlyStop, [true, false, true, true]),
            (Planted::DroppedCorner(7), [true, true, true, false]),
            (Planted::MovedCorner(9), [true, true, false, false]),
        ];
        for (planted, expected) in all {
            planes.planted = planted;
            let shards = planes.shatter(&sites).unwrap();
            planes.planted = Planted::Nothing;
            let found = [
                check_sum(&planes, &shards, 1e-9),
                check_each(&planes, &sites, &shards, 1e-9),
                check_neighbours(&planes, &shards, 1e-9),
                check_points(&planes, &sites, &shards),
            ];
            println!("{planted:?}: {found:?}");
            let missed = found.iter().zip(expected).any(|(found, expected)| expected && found.is_ok());
            assert!(!missed, "{planted:?} is not found: {found:?}");
        }
    }
}

/// What no planted error brings about is found, too.
#[test]
fn wrong_shards_are_found() {
    let planes = Planes::new(&cube(), false).unwrap();
    let sites = Random(5).points(20);
    let shards = planes.shatter(&sites).unwrap();
    let wrong = |change: &dyn Fn(&mut Vec<Shard>)| {
        let mut shards = shards.clone();
        change(&mut shards);
        check(&planes, &sites, &shards, 1e-9)
    };
    assert_eq!(wrong(&|_| ()), Ok(()));
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Vec<Shard>));
    let cases: [Change; 8] = [
        ("lost", &|s| drop(s.remove(3))),
        ("order", &|s| s.swap(3, 4)),
        ("volume", &|s| (s[0].volume, s[1].volume) = (s[0].volume + 1e-3, s[1].volume - 1e-3)),
        ("centre", &|s| s[2].centre.x += 1e-6),
        ("inertia", &|s| s[2].inertia.x_axis.y *= 1.001),
        ("beyond", &|s| s[2].beyond.swap(0, 1)),
        ("inside out", &|s| s[2].faces.iter_mut().for_each(|face| face.reverse())),
        ("sites", &|s| (s[2].site, s[3].site) = (s[3].site, s[2].site)),
    ];
    for (name, change) in cases {
        assert!(wrong(change).is_err(), "{name} is not found");
    }
}
