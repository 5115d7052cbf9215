use std::{fs, path::PathBuf};

use super::*;
use crate::fracture::FractureParams;
use crate::scene::{BodyStrength, Event, SceneBody, ScenePair};
use glam::DVec3;

fn sample() -> Scene {
    let mut body = SceneBody::standing("builtin:vase", 8);
    body.break_threshold = Some(3.0);
    body.hold = true;
    body.strength = Some(Box::new(BodyStrength {
        material: crate::bodies::structure::StrengthMaterial::Oak,
        tension: Some(5e6),
        anchors: vec![[DVec3::ZERO, DVec3::ONE]],
        ..BodyStrength::default()
    }));
    body.linear_velocity = DVec3::new(0.0, -1.5, 0.25);
    let impact = Event::Impact {
        time: 0.5,
        point: DVec3::new(0.1, 0.2, 0.3),
        direction: DVec3::NEG_Z,
        speed: 1.0,
        body: Some(0),
        parts: vec![3, 1],
        hold: true,
        energy: Some(2.5),
        at_once: true,
        fracture: Some(FractureParams {
            seeds: 12,
            local: Some(0.3),
            keep: vec![1, 5],
            ..FractureParams::default()
        }),
    };
    let ball = SceneBody::standing("builtin:sphere", 6);
    let ball = Event::Projectile { time: 1.0, object: None, body: Box::new(ball) };
    Scene { name: "try".into(), bodies: vec![body], events: vec![impact, ball], ..Scene::default() }
}

#[test]
fn a_saved_scene_loads_as_it_was() {
    let folder = std::env::temp_dir().join(format!("kintsugi-scene-{}", std::process::id()));
    fs::create_dir_all(folder.join("meshes")).unwrap();
    fs::write(folder.join("meshes").join("mesh.obj"), "v 0 0 0\n").unwrap();
    let mut scene = sample();
    scene.bodies.push(SceneBody {
        file: folder.join("meshes").join("mesh.obj").to_string_lossy().into_owned(),
        ..SceneBody::default()
    });
    let path = folder.join("a.toml");
    save_scene(&path, &scene).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("file = \"meshes/mesh.obj\""),
        "the path is relative to the scene, on every system: {text}"
    );
    let loaded = load_scene(&path).unwrap();
    assert_eq!(loaded.bodies[0], scene.bodies[0]);
    assert_eq!(loaded.events, scene.events);
    assert!(Path::new(&loaded.bodies[1].file).is_file());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn errors_name_line_and_field() {
    let bad = |text: &str, wanted: &[&str]| {
        let message = parse_scene(text, "s.toml").unwrap_err().message;
        assert!(!message.contains('\n'), "{message}");
        for part in wanted {
            assert!(message.contains(part), "{part} in {message}");
        }
    };
    bad("dt = nan\n", &["line 1", "dt", "NaN"]);
    bad("gravity = [0, -9.81, inf]\n", &["line 1", "gravity"]);
    let pinned = "[pinned]\npoint = [0, 1, 0]\ndirection = [0, 0, 0]\n[[body]]\nfile = \"a\"\n";
    bad(pinned, &["line 1", "pinned", "direction"]);
    bad(&format!("[pinned]\nbody = 1\n{}", &pinned[9..]), &["pinned", "body 1", "there are 1"]);
    bad("\ngravitty = [0, 0, 0]\n", &["line 2", "gravitty"]);
    bad("name = 3\n", &["line 1"]);
    bad("[[body]]\nfile = \"a\"\n\n[[body]]\nfile = \"b\"\nlevel = 13\n", &["line 6", "body 2", "level"]);
    let fracture = "[[body]]\nfile = \"a\"\n[body.fracture]\n";
    bad(&format!("{fracture}seeds = 9000\n"), &["line 4", "body 1", "seeds", "8192"]);
    bad(&format!("{fracture}preset = \"grain\"\ngrain_ratio = 0.2\n"), &["line 5", "grain_ratio", "0.2"]);
    bad(&format!("{fracture}preset = \"marble\"\n"), &["line 4", "marble"]);
    bad(&format!("{fracture}counts = [1, 2]\n"), &["line 4", "counts", "4 radii"]);
    bad(&format!("{fracture}smallest={{fraction=2}}\n"), &["line 4", "body 1", "fraction"]);
    bad(&format!("{fracture}seeds = 9\ninterior={{scale=0}}\n"), &["line 5", "scale"]);
    let rough = "level = 5\n[body.fracture]\nsurface = \"rough\"\ncrack={transition_level=9}\n";
    bad(&format!("[[body]]\nfile = \"a\"\n{rough}"), &["line 6", "transition_level", "leave it out"]);
    bad("[[body]]\nfile = \"a\"\nfracture = { seeds = 9, spread = 1e300 }\n", &["line 3", "is 1e300;"]);
    bad(
        "[[body]]\nfile = \"a\"\nfracture.crack.strength = 2\n",
        &["line 3", "strength is 2.0; it must be a number from 0 to 1"],
    );
    let after = format!("[[body]]\nfile = \"a\"\n[pinned]\nbody = 1\n{}", &pinned[9..27]);
    bad(&format!("{after}direction = [0, 0, 1]\n"), &["line 3", "body 1"]);
    bad("[[body]]\nlevel = 4\n[[body]]\nfile = \"a\"\n", &["line 1", "body 1", "file"]);
    bad("[[body]]\nfile = \"a\"\nfriction = 0.5\n[penalty]\nfriction = -1\n", &["line 5", "friction"]);
    bad("[[body]]\nlevel = 4\n", &["line 1", "body 1", "file"]);
    bad("[[body]]\nfile = \"a\"\nrotation = [0.0, 0.0, 0.0, 0.0]\n", &["line 3", "rotation"]);
    bad("[[body]]\nfile = \"a\"\n[body.fracture.interior]\nscale = 0.0\n", &["line 4", "scale"]);
    bad("[[body]]\nfile = \"a\"\n[body.fracture.interior]\ncolor = \"red\"\n", &["line 4", "red"]);
    bad("[walls]\nlow = [0, 0, 0]\nhigh = [1, nan, 1]\n", &["line 1", "walls", "NaN"]);
    bad("[walls]\nlow = [0, 2, 0]\nhigh = [1, 1, 1]\n", &["walls", "room"]);
    bad("[penalty]\nstiffness = inf\n", &["line 2", "stiffness"]);
    bad("field_level = 0\n", &["line 1", "field_level", "from 1 to 7"]);
    bad("name = \"a\"\nfield_level = 8\n", &["line 2", "field_level", "is 8"]);
    bad("response = \"hard\"\n", &["line 1", "hard"]);
    bad("[adaptive_level]\nnear = 0.0\n", &["line 2", "near"]);
    let two = "[[body]]\nname = \"a\"\nfile = \"a\"\n[[body]]\nname = \"a\"\nfile = \"b\"\n";
    let pair = |names: &str, level: u32| format!("[[pair]]\nbodies = {names}\nphysics_level = {level}\n");
    bad(&(two.to_owned() + &pair("[\"b\", \"a\"]", 4)), &["line 8", "pair 1", "\"b\"", "no [[body]]"]);
    bad(&(two.to_owned() + &pair("[\"a\", \"a\"]", 4)), &["line 8", "2 bodies"]);
    bad(&(two.to_owned() + &pair("[\"a\"]", 4)), &["line 8"]);
    let one = two.replacen("name = \"a\"\n", "", 1);
    bad(&(one.clone() + &pair("[\"a\", \"a\"]", 13)), &["physics_level", "13"]);
    bad(&(one + &pair("[\"a\", \"a\"]", 8)), &["physics_level", "8", "1 to 7"]);
    bad(
        "[[event]]\nkind = \"impact\"\ntime = -1.0\npoint = [0.0, 0.0, 0.0]\ndirection = [0.0, 0.0, 1.0]\n",
        &["line 3", "event 1", "time"],
    );
}

#[test]
fn no_number_of_a_scene_may_be_nan() {
    let mut scene = sample();
    scene.walls = Some(crate::bodies::Walls { low: DVec3::ZERO, high: DVec3::ONE });
    scene.adaptive_level = Some(crate::bodies::Adaptive::default());
    scene.camera = Some(crate::render::Camera::default());
    let text = toml::to_string(&scene).unwrap();
    parse_scene(&text, "s.toml").unwrap();
    let (mut tried, mut refused) = (0, 0);
    // Every number in turn, in lists as well.
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e');
    for (i, line) in text.lines().enumerate() {
        let Some((name, value)) = line.split_once(" = ").filter(|(_, v)| !v.contains('"')) else {
            continue;
        };
        for (from, _) in value.match_indices(|c: char| c.is_ascii_digit() || c == '-') {
            if value[..from].ends_with(is_number) {
                continue;
            }
            let end = value[from..].find(|c| !is_number(c)).map_or(value.len(), |n| from + n);
            let bad = format!("{name} = {}nan{}", &value[..from], &value[end..]);
            let changed: Vec<&str> =
                text.lines().enumerate().map(|(k, l)| if k == i { bad.as_str() } else { l }).collect();
            tried += 1;
            match parse_scene(&changed.join("\n"), "s.toml") {
                Err(error) => {
                    assert!(error.message.contains("line"), "{}", error.message);
                    refused += 1;
                }
                Ok(_) => println!("taken: {bad}"),
            }
        }
    }
    println!("{refused} of {tried} refused");
    assert!(tried > 60 && refused == tried);
}

#[test]
fn a_directory_and_a_missing_file_are_one_line() {
    for path in [std::env::temp_dir(), PathBuf::from("no-such-scene.toml")] {
        let message = load_scene(&path).unwrap_err().message;
        assert!(!message.is_empty() && !message.contains('\n'));
    }
}

#[test]
fn shipped_scenes_load_and_name_shapes_that_are_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Meshes that scenes name lie beside them.
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let scene = load_scene(&path).unwrap_or_else(|e| panic!("{e}"));
        assert!(!scene.bodies.is_empty(), "{}", path.display());
        for body in &scene.bodies {
            let name = body.file.strip_prefix("builtin:");
            let known = name.is_some_and(|n| crate::mesh::BUILTIN_NAMES.contains(&n));
            assert!(known || Path::new(&body.file).is_file(), "{}: {}", path.display(), body.file);
        }
        count += 1;
    }
    assert!(count >= 8, "{count} scenes");
}

/// The reader's limit is the writer's, too.
#[test]
fn what_is_saved_opens_again() {
    let path = std::env::temp_dir().join(format!("kintsugi-large-scene-{}.toml", std::process::id()));
    let mut scene = sample();
    scene.name = "n".repeat(5 << 20);
    save_scene(&path, &scene).unwrap();
    assert_eq!(load_scene(&path).unwrap().name, scene.name);
    let before = fs::read(&path).unwrap();
    scene.name = "n".repeat(32 << 20);
    let refused = save_scene(&path, &scene).unwrap_err().message;
    assert!(refused.contains("32") && refused.contains("MiB"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before, "the earlier file stays");
    fs::remove_file(&path).unwrap();
    assert!(load_scene(Path::new("/dev/zero")).unwrap_err().message.contains("not a regular file"));
}

#[test]
fn every_field_is_documented() {
    let text = include_str!("../../../docs/scenes.md");
    let mut scene = sample();
    scene.camera = Some(crate::render::Camera::default());
    scene.backdrop = Some(Backdrop::of_file("sky.hdr"));
    scene.pinned = Some(crate::scene::Pinned { body: 0, point: DVec3::Y, direction: DVec3::NEG_Z });
    scene.walls = Some(crate::bodies::Walls { low: DVec3::ZERO, high: DVec3::ONE });
    scene.adaptive_level = Some(crate::bodies::Adaptive::default());
    scene.bodies[0].name = Some("vase".into());
    let bodies = ["vase".to_owned(), "vase".to_owned()];
    scene.pairs = vec![crate::scene::ScenePair { bodies, physics_level: 5 }];
    scene.bodies[0].physics_level = Some(5);
    scene.bodies[0].up = crate::mesh::Up::MinusZ;
    scene.bodies[0].units = Some(crate::mesh::Units::Cm);
    scene.bodies[0].voxel_size = Some(0.002);
    scene.bodies[0].follow = Some(crate::scene::Follow::Weakness);
    scene.bodies[0].fallback = Some("builtin:statue".into());
    let fracture = &mut scene.bodies[0].fracture;
    fracture.island_level = Some(7);
    fracture.counts = vec![10, 10, 10, 10];
    fracture.seeds_file = Some("seeds.txt".into());
    fracture.smallest = Some(crate::fracture::Smallest::default());
    scene.bodies.push(SceneBody::standing("builtin:box", 6));
    scene.bodies[1].fracture.target_pieces = Some(30);
    scene.bodies[0].fracture.interior.color = Some([1, 2, 3]);
    let (point, fracture) = (DVec3::ZERO, crate::fracture::FractureParams::default());
    let direction = DVec3::NEG_Y;
    scene.breaks = vec![
        crate::scene::SceneBreak {
            body: 0,
            of: None,
            part: 0,
            point,
            direction,
            joined: vec![vec![1, 2]],
            hold: false,
            damaged: Vec::new(),
            fracture: fracture.clone(),
        },
        crate::scene::SceneBreak {
            body: 0,
            of: Some(0),
            part: 2,
            point,
            direction,
            joined: Vec::new(),
            hold: true,
            damaged: vec![crate::scene::BondDamage { parts: [0, 2], damage: 0.25 }],
            fracture,
        },
    ];
    let rotation = glam::DQuat::IDENTITY;
    let (linear_velocity, angular_velocity) = (DVec3::X, DVec3::Y);
    let [body, part] = [0, 3];
    scene.poses = vec![crate::scene::ScenePose {
        body,
        of: Some(1),
        part,
        position: point,
        rotation,
        linear_velocity,
        angular_velocity,
        asleep: true,
        hidden: true,
        locked: true,
    }];
    scene.deleted = vec![crate::scene::PartName { body, of: Some(1), part: 4 }];
    scene.claim_numbers();
    let again: Scene = toml::from_str(&toml::to_string_pretty(&scene).unwrap()).unwrap();
    assert_eq!(again, scene);
    let value = toml::Value::try_from(&scene).unwrap();
    fn walk(value: &toml::Value, text: &str) {
        match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    assert!(text.contains(&format!("`{key}`")), "docs/scenes.md lacks `{key}`");
                    walk(value, text);
                }
            }
            toml::Value::Array(items) => items.iter().for_each(|v| walk(v, text)),
            _ => {}
        }
    }
    walk(&value, text);
}

#[test]
fn a_picture_behind_a_scene_is_read_from_its_folder_and_a_missing_one_is_named() {
    let folder = std::env::temp_dir().join(format!("kintsugi-backdrop-scene-{}", std::process::id()));
    fs::create_dir_all(folder.join("light")).unwrap();
    let folder = folder.canonicalize().unwrap();
    let (picture, file) = (folder.join("light").join("sky.hdr"), folder.join("a.toml"));
    let head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 4\n".to_vec();
    fs::write(&picture, [head, [128, 64, 32, 129].repeat(8)].concat()).unwrap();
    let read = |backdrop: &str| {
        fs::write(&file, format!("[[body]]\nfile = \"builtin:box\"\n\n[backdrop]\n{backdrop}")).unwrap();
        load_scene(&file)
    };
    let scene = read("file = \"light/sky.hdr\"\nturn = -30\n").unwrap();
    let behind = scene.backdrop.as_ref().unwrap();
    assert!(behind.picture().is_some(), "it is read with the scene");
    assert_eq!((behind.turn, behind.brightness, Path::new(&behind.file)), (-30.0, 1.0, picture.as_path()));
    let saved = folder.join("b.toml");
    save_scene(&saved, &scene).unwrap();
    let text = fs::read_to_string(&saved).unwrap();
    assert!(text.contains("file = \"light/sky.hdr\""), "relative to the scene: {text}");
    assert_eq!(load_scene(&saved).unwrap().backdrop, scene.backdrop);
    for (odd, says) in [
        ("file = \"light/sky.hdr\"\nturn = 400\n", "turn is 400"),
        ("file = \"light/sky.hdr\"\nbrightness = -1\n", "brightness is -1"),
        ("file = \"\"\n", "file is empty"),
        ("turn = 3\n", "file"),
        ("file = \"light/sky.hdr\"\nblur = 3\n", "blur"),
        ("file = \"../sky.hdr\"\n", "outside the folder"),
        ("file = \"light/none.hdr\"\n", "light/none.hdr: not found; check the name"),
        ("file = \"a.toml\"\n", "a.toml: is no picture"),
    ] {
        let refused = read(odd).expect_err(says).message;
        assert!(refused.contains(says) && !refused.contains('\n'), "{refused}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn breaks_and_poses_name_what_is_there() {
    let body = "[[body]]\nfile = \"builtin:box\"\n";
    let one =
        |of: &str| format!("[[break]]\n{of}\npoint = [0,0,0]\ndirection = [0,-1,0]\n[break.fracture]\n");
    let good = format!(
        "{body}{}{}[[pose]]\nof = 1\npart = 4\nposition = [0,1,0]\n",
        one(""),
        one("of = 0\npart = 3")
    );
    assert!(parse_scene(&good, "a").is_ok_and(|scene| scene.breaks.len() == 2 && scene.poses[0].part == 4));
    for (bad, why) in [
        (one("body = 1"), "there are 1"),
        (one("part = 1"), "say `of`"),
        (one("of = 0"), "come before"),
        (one("off = 0"), "unknown field"),
        (one("").replace("0,-1,0", "0,0,0"), "is zero"),
        ("[[pose]]\nof = 0\nposition = [0,0,0]\n".into(), "come before"),
        ("[[pose]]\nposition = [0,0,0]\n".repeat(2), "pose 2: body has a [[pose]]"),
        ("[[deleted]]\nof = 0\n".into(), "come before"),
        (one("joined = [[1]]"), "fewer than two"),
        (one("joined = [[1, 2], [2, 3]]"), "part 2 twice"),
        ("[[pose]]\nposition = [0,0,0]\nrotation = [0,0,0,0]\n".into(), "no turn"),
    ] {
        let error = parse_scene(&format!("{body}{bad}"), "a").unwrap_err().message;
        assert!(error.contains(why), "{bad}: {error}");
    }
}

#[test]
fn lists_that_no_machine_can_hold_are_refused() {
    let scene = |bodies, pairs, events| {
        let pair = ScenePair { bodies: ["a".into(), "a".into()], physics_level: 1 };
        let event = Event::Move {
            time: 0.0,
            body: 0,
            parts: Vec::new(),
            position: glam::DVec3::ZERO,
            rotation: glam::DQuat::IDENTITY,
        };
        Scene {
            bodies: vec![SceneBody::standing("builtin:box", 2); bodies],
            pairs: vec![pair; pairs],
            events: vec![event; events],
            ..Scene::default()
        }
    };
    for (scene, told) in [
        (scene(100_001, 0, 0), "body has 100001 entries; at most 100000 are read; take some away"),
        (scene(0, 500_001, 0), "pair has 500001 entries; at most 500000 are read; take some away"),
        (scene(0, 0, 100_001), "event has 100001 entries; at most 100000 are read; take some away"),
    ] {
        assert_eq!(problem_of(&scene).as_deref(), Some(told));
    }
}

/// Four times the bodies and pairs take about four times as long, not sixteen.
#[test]
fn the_time_to_check_pairs_grows_with_their_number() {
    let of = |count: usize| {
        let body =
            |i: usize| SceneBody { name: Some(format!("b{i}")), ..SceneBody::standing("builtin:box", 2) };
        let last = [format!("b{}", count - 1), format!("b{}", count - 2)];
        let pair = || ScenePair { bodies: last.clone(), physics_level: 2 };
        Scene {
            bodies: (0..count).map(body).collect(),
            pairs: (0..2 * count).map(|_| pair()).collect(),
            ..Scene::default()
        }
    };
    let scenes = [4000, 16_000].map(of);
    // In turn, so that what else the machine does meets both alike.
    let mut least = [f64::INFINITY; 2];
    for _ in 0..9 {
        for (scene, least) in scenes.iter().zip(&mut least) {
            let start = std::time::Instant::now();
            assert_eq!(problem_of(scene), None);
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    let [small, large] = least;
    println!("{:.1} and {:.1} ms", small * 1e3, large * 1e3);
    // With the square of the number it would be 16; what does not fit into a cache costs more for each.
    assert!(large < 12.0 * small, "{:.1} ms grew to {:.1} ms", small * 1e3, large * 1e3);
}

#[test]
fn numbers_that_events_claim_follow_the_bodies_and_differ() {
    let text = |claims: [&str; 2]| {
        let one = |claim: &str| {
            let event = format!("[[event]]\nkind = \"projectile\"\ntime = 1.0\n{claim}\n");
            format!("{event}[event.body]\nfile = \"builtin:box\"\n")
        };
        format!("[[body]]\nfile = \"builtin:box\"\n{}{}", one(claims[0]), one(claims[1]))
    };
    for sound in [["", ""], ["object = 2", "object = 1"], ["", "object = 1"]] {
        assert!(parse_scene(&text(sound), "a").is_ok(), "{sound:?}");
    }
    for (bad, line, why) in [
        (["object = 0", ""], 6, "from 1 to 2"),
        (["", "object = 3"], 12, "from 1 to 2"),
        (["object = 2", "object = 2"], 12, "as of an event before"),
    ] {
        let error = parse_scene(&text(bad), "a").unwrap_err().message;
        assert!(error.starts_with(&format!("a, line {line}: ")) && error.contains(why), "{error}");
    }
}

#[test]
fn text_names_files_relative_to_its_folder_and_none_outside_unless_that_is_allowed() {
    let folder = std::env::temp_dir().join(format!("kintsugi-scene-text-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let text = |name: &str| format!("[[body]]\nfile = \"{name}\"\nlevel = 3\n");
    let file = folder.join("own.toml");
    fs::write(&file, text("below/a.obj")).unwrap();
    let (from_text, from_file) =
        (parse_scene_from(&folder, &text("below/a.obj"), false).unwrap(), load_scene(&file).unwrap());
    assert_eq!(from_text, Scene { name: String::new(), ..from_file });
    assert_eq!(from_text.bodies[0].file, folder.join("below/a.obj").to_string_lossy());
    let refused = parse_scene_from(&folder, &text("../a.obj"), false).unwrap_err();
    assert!(refused.names_outside.is_some(), "{refused}");
    assert!(parse_scene_from(&folder, &text("../a.obj"), true).is_ok());
    assert!(parse_scene_from(&folder, "gravity = 1", true).unwrap_err().message.contains("line 1"));
    fs::remove_dir_all(folder).unwrap();
}
