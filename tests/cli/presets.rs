//! Presets from outside: by name, by file, with options beside them, and in scenes.

use super::support::{
    program::{finish, folder, kintsugi, outcome, text},
    results::checked_report,
};

#[test]
fn a_preset_breaks_as_it_says_and_options_say_what_is_otherwise() {
    let home = folder("presets");
    let run = |arguments: &[&str], out: &str| {
        let out = home.join(out);
        let mut command =
            kintsugi(["fracture", "builtin:box", "--level", "5", "--compute", "cpu", "--out", &text(&out)]);
        finish(command.args(arguments).env("XDG_STATE_HOME", &home)).map(|_| checked_report(&out))
    };
    let Some(glass) = run(&["--preset", "Glass"], "glass") else { return };
    let of = |report: &serde_json::Value, name: &str| report["parameters"][name].clone();
    assert_eq!((of(&glass, "pattern"), of(&glass, "seeds")), ("radial".into(), 90.into()));
    assert_eq!(
        (of(&glass, "surface"), of(&glass, "interior")["material"].clone()),
        ("planar".into(), "glass".into())
    );
    let few = run(&["--preset", "glass", "--seeds", "12", "--surface", "rough"], "few").unwrap();
    assert_eq!((of(&few, "pattern"), of(&few, "seeds")), ("radial".into(), 12.into()));
    assert_eq!((of(&few, "surface"), of(&few, "radii")), ("rough".into(), of(&glass, "radii")));

    // One of the user's own, by name and by file, and a file that is none beside it.
    let own = home.join("kintsugi/presets");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(
        own.join("mine.toml"),
        "name = \"My marble\"\n[fracture]\nseeds = 7\npreset = \"uniform\"\n",
    )
    .unwrap();
    std::fs::write(own.join("bad.toml"), "name = \"Bad\"\nfriction = \"wet\"\n").unwrap();
    let file = text(&own.join("mine.toml"));
    for (k, name) in ["my marble", &file].into_iter().enumerate() {
        let mine = run(&["--preset", name], &format!("mine-{k}")).unwrap();
        assert_eq!((of(&mine, "pattern"), of(&mine, "seeds")), ("uniform".into(), 7.into()), "{name}");
    }
    let mut list = kintsugi(["presets"]);
    let (out, err) = finish(list.env("XDG_STATE_HOME", &home)).unwrap();
    for name in ["ceramic ", "glass ", "concrete ", "wood ", "plaster ", "my marble "] {
        assert!(out.lines().any(|line| line.starts_with(name)), "{name} in {out}");
    }
    assert!(err.contains("bad.toml, line 2") && !out.contains("bad"), "{err}");

    for (name, what) in [("jelly", "there are ceramic, glass"), (&*text(&own.join("bad.toml")), "line 2")] {
        let mut command = kintsugi(["fracture", "builtin:box", "--preset", name, "--out", "never"]);
        let (code, _, err) = outcome(&command.env("XDG_STATE_HOME", &home).output().unwrap());
        assert_eq!((code, err.lines().count()), (2, 1), "{err}");
        assert!(err.contains(what), "{err}");
    }
}

#[test]
fn a_scene_breaks_a_body_by_its_preset() {
    let home = folder("preset-scene");
    let scene = home.join("scene.toml");
    let body = "[[body]]\nfile = \"builtin:box\"\nlevel = 5\nsize = 1.0\npreset = \"wood\"\n";
    let blow =
        "[[event]]\nkind = \"impact\"\ntime = 0.0\npoint = [0.0, 0.0, 0.5]\ndirection = [0.0, 0.0, -1.0]\n";
    std::fs::write(&scene, format!("{body}{blow}")).unwrap();
    let out = home.join("out");
    let arguments = ["fracture", &text(&scene), "--compute", "cpu", "--out", &text(&out)].map(str::to_owned);
    let Some(_) = finish(kintsugi(arguments).env("XDG_STATE_HOME", &home)) else { return };
    let report = std::fs::read(out.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["objects"][0]["density"], 500.0);
    // What goes along says the values, not the name.
    let written = std::fs::read_to_string(out.join("scene.toml")).unwrap();
    let says = |text: &str| written.lines().any(|line| line == text);
    assert!(says("preset = \"grain\"") && !says("preset = \"wood\"") && says("density = 500.0"), "{written}");
}
