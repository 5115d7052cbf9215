//! Pictures and frames from outside: their size, what they show, and what is drawn over them.

use std::path::Path;

use super::support::program::{folder, kintsugi, outcome, run, text};

#[test]
fn render_writes_pictures_of_the_size_asked_for() {
    let out = folder("render");
    let picture = out.join("box.png");
    let arguments = ["render", "builtin:box", "--level", "5", "--size", "64x48", "--out", &text(&picture)];
    if run(arguments).is_none() {
        return;
    }
    let full = image::open(&picture).unwrap().into_rgba8();
    assert_eq!(full.dimensions(), (64, 48));
    assert!(full.pixels().all(|p| p[3] == 255));
    let (centre, corner) = (full.get_pixel(32, 24), full.get_pixel(0, 0));
    assert_ne!(centre, corner, "the box does not show");

    run(arguments.into_iter().chain(["--transparent", "--view", "front"]));
    let clear = image::open(&picture).unwrap().into_rgba8();
    assert_eq!(clear.get_pixel(0, 0)[3], 0, "the background is not clear");
    assert_eq!(clear.get_pixel(32, 24)[3], 255, "the box is not solid");
}

#[test]
fn a_picture_behind_everything_is_seen_and_lights_and_repeat_draws_it_again() {
    let out = folder("backdrop");
    let (light, picture) = (out.join("light.png"), out.join("box.png"));
    image::RgbImage::from_pixel(16, 8, image::Rgb([20, 20, 250])).save(&light).unwrap();
    let arguments = ["render", "builtin:box", "--level", "5", "--size", "64x48", "--out", &text(&picture)];
    if run(arguments).is_none() {
        return;
    }
    let before = image::open(&picture).unwrap().into_rgba8();
    let behind = text(&light);
    run(arguments.into_iter().chain(["--backdrop", &behind, "--backdrop-brightness", "2"]));
    let after = image::open(&picture).unwrap().into_rgba8();
    let [sky, center] = [(1, 1), (32, 24)].map(|(x, y)| (*before.get_pixel(x, y), *after.get_pixel(x, y)));
    assert!(sky.1[2] > 200 && sky.1[0] < 120, "the picture is seen: {sky:?}");
    let bluer = |of: image::Rgba<u8>| i32::from(of[2]) - i32::from(of[0]);
    assert!(bluer(center.1) > bluer(center.0) + 10, "it lights the box: {center:?}");
    assert!(run(["repeat", &text(&picture)]).is_some_and(|said| said.contains("the same")));
}

#[test]
fn a_film_has_a_picture_for_every_so_many_steps() {
    let out = folder("film");
    let arguments =
        ["simulate", "builtin:sphere", "--seconds", "0.1", "--frames", "25", "--size", "64x48", "--out"];
    let Some(said) = run(arguments.into_iter().chain([text(&out).as_str()])) else {
        return;
    };
    assert!(said.contains("3 frames"), "{said}");
    let frame = |k: u32| out.join(format!("frames/{k:05}.png"));
    for k in 0..3 {
        let picture = image::open(frame(k)).unwrap().into_rgba8();
        assert_eq!(picture.dimensions(), (64, 48));
        assert_ne!(picture.get_pixel(32, 24), picture.get_pixel(0, 0), "nothing shows in frame {k}");
    }
    assert!(!frame(3).exists());
}

/// Frames have the colours of voxels where the scene's colours mean these.
#[test]
fn frames_have_the_colours_of_voxels() {
    let home = folder("voxel-frames");
    let colors = |name: &str, color: &str| {
        let (scene, out) = (home.join(format!("{name}.toml")), home.join(name));
        let body = "[[body]]\nfile = \"builtin:sphere\"\nlevel = 4\n";
        std::fs::write(&scene, format!("[view]\ncolor_by = \"{color}\"\n{body}")).unwrap();
        let [scene, out] = [text(&scene), text(&out)];
        let frames =
            ["simulate", &scene, "--seconds", "0.08", "--frames", "25", "--size", "64x48", "--out", &out];
        run(frames)?;
        Some(
            [0, 2]
                .map(|k| image::open(Path::new(&out).join(format!("frames/{k:05}.png"))).unwrap().to_rgb8()),
        )
    };
    let (Some(plain), Some(voxels)) = (colors("plain", "Material"), colors("voxels", "coverage")) else {
        return;
    };
    for (plain, voxels) in plain.iter().zip(&voxels) {
        assert!(differing(plain, voxels) > 100, "{} pixels differ", differing(plain, voxels));
    }
    std::fs::remove_dir_all(home).unwrap();
}

/// A small picture of a broken sphere with these options, and what was said; `None`, where that is allowed,
/// without an adapter.
fn sphere(folder: &Path, more: &[&str]) -> Option<(image::RgbImage, String)> {
    let path = folder.join("picture.png");
    let shape = ["render", "builtin:sphere", "--level", "5", "--size", "96x72", "--seeds", "8", "--out"];
    let said = run(shape.iter().chain(&[text(&path).as_str()]).chain(more).copied())?;
    Some((image::open(&path).unwrap().to_rgb8(), said))
}

fn differing(a: &image::RgbImage, b: &image::RgbImage) -> usize {
    a.pixels().zip(b.pixels()).filter(|(a, b)| a != b).count()
}

#[test]
fn the_inside_is_drawn_over_the_picture() {
    let folder = folder("show");
    let Some((plain, _)) = sphere(&folder, &[]) else { return };
    let of_fields = ["field-slice:y40", "fronts", "spheres:2"];
    for show in ["seeds", "faces", "fbs", "labels", "labels:0", "flood:1", "wireframe:3"]
        .into_iter()
        .chain(of_fields.into_iter().filter(|_| cfg!(feature = "papers")))
    {
        let (shown, said) = sphere(&folder, &["--show", show]).unwrap();
        let changed = differing(&shown, &plain);
        println!("{show}: {changed} pixels changed; {}", said.lines().last().unwrap_or_default());
        assert!(changed > 60, "{show} changes {changed} pixels");
        let counts = ["labels:0", "flood:1"].contains(&show);
        assert_eq!(said.contains("labels after iteration"), counts, "{said}");
    }
}

#[test]
fn crack_surfaces_are_drawn_over_the_picture() {
    let folder = folder("show-rough");
    let rough = ["--surface", "rough", "--transition-level", "3"];
    for (show, more) in
        [("transition", &["--only"][..]), ("triangles", &["--explode", "0.3"]), ("points", &["--seams"])]
    {
        let bare = if more == ["--only"] { &[] } else { more };
        let Some((without, _)) = sphere(&folder, &[&rough[..], bare].concat()) else { return };
        let (shown, _) = sphere(&folder, &[&rough[..], more, &["--show", show]].concat()).unwrap();
        let changed = differing(&shown, &without);
        assert!(changed > 60, "{show} with {more:?} changes {changed} pixels");
    }
}

#[test]
fn a_wrong_name_to_show_gets_the_list() {
    let mut refused = kintsugi(["render", "builtin:sphere", "--out", "x.png", "--show", "cracks"]);
    let (code, _, message) = outcome(&refused.output().unwrap());
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("transition, triangles, points, seeds, faces, fbs"), "{message}");
}
