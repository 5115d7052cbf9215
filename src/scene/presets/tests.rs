use std::path::{Path, PathBuf};

use super::{
    shelf::{preset_from, presets_in, save_in},
    *,
};
use crate::{
    bodies::structure::StrengthMaterial,
    fracture::{Material, Preset, Surface},
};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("kintsugi-presets-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::create_dir_all(&self.0).unwrap();
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tuned() -> Tuning {
    let mut tuning = Tuning::default();
    tuning.fracture.rng = 77;
    tuning.fracture.keep = vec![3, 39, 60];
    tuning.fracture.seeds = 70;
    tuning.fracture.surface = Surface::Rough;
    tuning.fracture.crack.transition_level = Some(5);
    tuning.fracture.interior.material = Material::Marble;
    tuning.friction = 0.33;
    tuning.density = 1234.0;
    tuning
}

#[test]
fn five_are_shipped_each_with_a_picture() {
    let (listed, problems) = presets_in(Path::new("/there/is/none"));
    assert_eq!(problems, Vec::<String>::new());
    let names: Vec<_> = listed.iter().map(|one| one.preset.name.as_str()).collect();
    assert_eq!(names, ["Ceramic", "Glass", "Concrete", "Wood", "Plaster"]);
    let pictures: Vec<_> = (0..5).map(|i| shipped_picture(i).unwrap()).collect();
    for (i, picture) in pictures.iter().enumerate() {
        assert_eq!(picture.size, [96, 96], "{}", names[i]);
        assert!(!pictures[..i].contains(picture), "{} looks like another", names[i]);
        assert!(!listed[i].preset.about.is_empty() && listed[i].file.is_none());
    }
    assert!(shipped_picture(5).is_none());
}

#[test]
fn a_picture_is_what_the_program_draws() {
    let (listed, _) = presets_in(Path::new("/there/is/none"));
    let (drawn, there) = (draw_preset(&listed[1].preset).unwrap(), shipped_picture(1).unwrap());
    let other = shipped_picture(3).unwrap();
    let apart = |a: &[u8], b: &[u8]| {
        let sum: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        sum as f64 / a.len() as f64
    };
    assert_eq!(drawn.size, there.size);
    let (same, unlike) = (apart(&drawn.rgba, &there.rgba), apart(&drawn.rgba, &other.rgba));
    assert!(same < 1.0 && unlike > 3.0 * same.max(0.5), "{same} from its own, {unlike} from another's");
}

#[test]
fn the_material_is_taken_over_and_what_is_of_the_object_stays() {
    let (listed, _) = presets_in(Path::new("/there/is/none"));
    let glass = &listed[1].preset;
    let mut tuning = Tuning { blow_speed: 7.0, ..tuned() };
    tuning.fracture.seeds_file = Some("seeds.txt".into());
    glass.apply(&mut tuning, 6);
    assert_eq!((tuning.density, tuning.friction, tuning.blow_speed), (2500.0, 0.4, 7.0));
    assert_eq!((tuning.fracture.preset, tuning.fracture.rng), (Preset::Radial, 77));
    assert_eq!((tuning.fracture.keep.clone(), tuning.fracture.seeds_file.clone()), (vec![3, 39, 60], None));
    assert!(glass.is_in(&tuning, 6) && !listed[0].preset.is_in(&tuning, 6));
    tuning.fracture.seeds += 1;
    assert!(!glass.is_in(&tuning, 6), "it was changed since");

    let mut body = SceneBody::standing("builtin:box", 4);
    let fine = MaterialPreset::of_tuning(&tuned(), "fine");
    fine.apply_to_body(&mut body);
    assert_eq!((body.density, body.fracture.rng), (1234.0, 1));
    assert_eq!(body.fracture.crack.transition_level, Some(4), "no finer than the object");
    let few = MaterialPreset { fracture: FractureParams { seeds: 20, ..Default::default() }, ..fine };
    let mut tuning = tuned();
    few.apply(&mut tuning, 7);
    assert_eq!(tuning.fracture.keep, [3], "a pattern of 20 has no seed 39");
}

#[test]
fn what_is_saved_is_read_again_and_saved_over() {
    let folder = Folder::new("saved");
    let preset = MaterialPreset::of_tuning(&tuned(), "My own: marble");
    let file = save_in(&folder.0, &preset).unwrap();
    assert_eq!(file.file_name().unwrap(), "my-own--marble.toml");
    assert!(!std::fs::read_to_string(&file).unwrap().contains("rng"));
    assert_eq!(preset_from(&folder.0, "my own: MARBLE").unwrap(), preset);
    assert_eq!(preset_from(Path::new("/none"), &file.to_string_lossy()).unwrap(), preset);
    let other = MaterialPreset { friction: 0.9, ..preset };
    assert_eq!(save_in(&folder.0, &other).unwrap(), file, "the same name is the same preset");
    let (listed, problems) = presets_in(&folder.0);
    assert_eq!((listed.len(), &listed[5].preset, problems.len()), (6, &other, 0));
    // Two names that make one file name are two presets.
    let third = MaterialPreset { name: "My own; marble".into(), ..other.clone() };
    assert_ne!(save_in(&folder.0, &third).unwrap(), file);
    assert_eq!(presets_in(&folder.0).0.len(), 7);
    let taken = save_in(&folder.0, &MaterialPreset { name: "glass".into(), ..other.clone() }).unwrap_err();
    assert!(taken.message.contains("another name"), "{taken}");
    let nameless = save_in(&folder.0, &MaterialPreset { name: " ".into(), ..other.clone() }).unwrap_err();
    assert!(nameless.message.contains("name"), "{nameless}");
    let wild = MaterialPreset { density: f64::NAN, ..other };
    assert!(save_in(&folder.0, &wild).unwrap_err().message.contains("density"));
}

#[test]
fn a_bad_file_is_one_line_and_the_rest_goes_on() {
    let folder = Folder::new("bad");
    folder.write("a.toml", "name = \"A\"\nfriction = 0.2\n");
    folder.write("b.toml", "name = \"B\"\nfriction = \"wet\"\n");
    folder.write("c.toml", "name = \"C\"\ndensity = -3.0\n");
    folder.write("d.toml", "name = \"D\"\n[fracture]\nseeds = 100000\n");
    folder.write("e.toml", "friction = 0.2\n");
    folder.write("f.toml", "name = \"wood\"\n");
    folder.write("g.toml", "name = \"G\"\ncolour = 3\n");
    folder.write("readme.txt", "no preset");
    std::fs::write(folder.0.join("h.toml"), [0xff, 0xfe, 0x00]).unwrap();
    let (listed, problems) = presets_in(&folder.0);
    assert_eq!(listed.len(), 6);
    assert_eq!((listed[5].preset.name.as_str(), listed[5].preset.friction), ("A", 0.2));
    let wanted = [
        ("b.toml", "line 2"),
        ("c.toml", "density is -3"),
        ("d.toml", "seeds is 100000"),
        ("e.toml", "has no name"),
        ("f.toml", "another preset called \"wood\""),
        ("g.toml", "colour"),
        ("h.toml", "is not text"),
    ];
    assert_eq!(problems.len(), wanted.len(), "{problems:?}");
    for (line, (file, what)) in problems.iter().zip(wanted) {
        assert!(line.contains(file) && line.contains(what) && line.lines().count() == 1, "{line}");
    }
    let unknown = preset_from(&folder.0, "jelly").unwrap_err().message;
    assert!(unknown.contains("ceramic, glass, concrete, wood, plaster, a"), "{unknown}");
    assert!(preset_from(&folder.0, "none.toml").unwrap_err().message.contains("not found"));
}

#[test]
fn a_preset_says_what_bonds_bear_and_whether_whole_bodies_break_by_it() {
    use StrengthMaterial::{Ceramic, Concrete, Glass, Oak, Plaster};
    let (listed, _) = presets_in(Path::new("/there/is/none"));
    let materials: Vec<_> = listed.iter().map(|one| one.preset.strength.as_ref().unwrap().material).collect();
    assert_eq!(materials, [Ceramic, Glass, Concrete, Oak, Plaster]);
    for one in &listed {
        let name = one.preset.name.to_lowercase();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/presets/{name}.toml"));
        assert!(
            std::fs::read_to_string(file).unwrap().contains("\nwhole = false\n"),
            "{name} says so itself"
        );
        assert!(
            !one.preset.strength.as_ref().unwrap().whole,
            "{name}: scenes that name it break by its threshold"
        );
    }

    // What belongs to an object stays.
    let glass = &listed[1].preset;
    let mut tuning = tuned();
    tuning.strength = BodyStrength {
        loose: true,
        rng: 9,
        lumps: vec![4],
        anchor_floor: true,
        scatter: 0.3,
        ..BodyStrength::default()
    };
    glass.apply(&mut tuning, 6);
    assert!(tuning.strength.loose, "whether loose parts break is of the object");
    let wanted = BodyStrength { material: Glass, whole: false, scatter: 0.0, ..tuning.strength.clone() };
    assert_eq!((&tuning.strength, tuning.strength.rng, tuning.strength.anchor_floor), (&wanted, 9, true));
    assert!(tuning.strength.lumps == [4] && glass.is_in(&tuning, 6));
    let scene = Tuning { strength: BodyStrength::unsaid(), ..tuning.clone() };
    assert!(glass.is_in(&scene, 6), "a scene that names the preset has its own strength");

    // A file without a strength leaves it alone.
    let old = MaterialPreset::parse("name = \"Old\"\ndensity = 200.0\n", "old").unwrap();
    let before = tuning.strength.clone();
    old.apply(&mut tuning, 6);
    assert_eq!(tuning.strength, before);

    // What is saved has it, and a body to which it is applied takes it over.
    tuning.strength.whole = true;
    let saved = MaterialPreset::of_tuning(&tuning, "By its energy");
    let text = saved.to_text().unwrap();
    let says = |text_of: &str| text.lines().any(|line| line.starts_with(text_of));
    assert!(
        says("whole = true") && !says("loose") && !says("rng") && !says("lumps") && !says("anchor"),
        "{text}"
    );
    let read = MaterialPreset::parse(&text, "read").unwrap();
    assert_eq!(read, saved);
    let mut body = SceneBody::standing("builtin:box", 4);
    read.apply_to_body(&mut body);
    let own = body.strength.unwrap();
    assert_eq!((own.material, own.whole, own.rng, own.lumps.len()), (Glass, true, 1, 0));
    let weak = text.replace("material = \"glass\"\n", "material = \"glass\"\ntension = -1.0\n");
    let refused = MaterialPreset::parse(&weak, "weak.toml");
    assert!(refused.is_err_and(|error| error.message.contains("tension")));
}
