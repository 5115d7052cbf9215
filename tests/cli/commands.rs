//! The commands as a user sees them: exit codes, one line on stderr, files.

use std::{
    path::{Path, PathBuf},
    process::Output,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::support::{
    program::{finish, folder, kintsugi, outcome, run, text},
    results::{checked_report, read_npz, read_report},
};

#[test]
fn fracture_writes_a_report_whose_checks_hold_and_repeats_its_bytes() {
    let (a, b) = (folder("vase-a"), folder("vase-b"));
    for out in [&a, &b] {
        let out = text(out);
        let arguments =
            ["fracture", "builtin:vase", "--level", "6", "--seeds", "40", "--rng", "7", "--out", &out];
        if run(arguments).is_none() {
            return;
        }
    }
    let report = checked_report(&a);
    let pieces = report["pieces"].as_array().unwrap();
    println!("{}", report["counts"]);
    assert!(pieces.len() >= 20, "{} pieces", pieces.len());
    assert_eq!(report["counts"]["pieces"].as_u64(), Some(pieces.len() as u64));
    let sizes: Vec<u64> = pieces.iter().map(|p| p["voxels"].as_u64().unwrap()).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b));
    assert!(pieces.iter().enumerate().all(|(i, p)| p["id"].as_u64() == Some(i as u64)));
    let mass: f64 = pieces.iter().map(|p| p["mass"].as_f64().unwrap()).sum();
    let source = report["source_mass"].as_f64().unwrap();
    assert!((mass / source - 1.0).abs() < 1e-6, "{mass} of {source}");
    assert_eq!((report["dust_mass"].as_f64(), report["dust_voxels"].as_u64()), (Some(0.0), Some(0)));
    for field in ["version", "input", "health", "compute", "adapter", "parameters", "timings_ms"] {
        assert!(!report[field].is_null(), "{field} is missing");
    }
    assert_eq!(report["parameters"]["rng"].as_u64(), Some(7));

    let bytes = |out: &Path| std::fs::read(out.join("voxels.npz")).unwrap();
    assert!(bytes(&a) == bytes(&b), "the same seed gave other bytes");
    let other = folder("vase-c");
    run(["fracture", "builtin:vase", "--level", "6", "--seeds", "40", "--rng", "8", "--out", &text(&other)]);
    assert!(bytes(&a) != bytes(&other), "another seed gave the same bytes");
}

#[test]
fn findings_about_a_mesh_stand_on_stderr_as_in_the_report() {
    let out = folder("findings");
    let words = ["fracture", "builtin:cavity", "--level", "4", "--seeds", "5", "--compute", "cpu", "--out"];
    let all = words.into_iter().map(str::to_owned).chain([text(&out)]);
    let (code, _, err) = outcome(&kintsugi(all).output().unwrap());
    let report = read_report(&out);
    let notes = report["health"]["notes"].as_array().unwrap();
    assert!(code == 0 && !notes.is_empty(), "{code}: {err}");
    for note in notes {
        let line = format!("warning: builtin:cavity: {}", note.as_str().unwrap());
        assert!(err.lines().any(|said| said == line), "{line} in {err}");
    }
}

/// A test's own fault in the n-th break's checks.
#[test]
fn a_fracture_whose_check_fails_writes_its_result_and_ends_with_1() {
    let out = folder("failed-check");
    let words = ["fracture", "builtin:box", "--level", "3", "--compute", "cpu", "--out", &text(&out)];
    let (code, said, err) = outcome(&kintsugi(words).env("KINTSUGI_BROKEN_CHECK", "1").output().unwrap());
    assert_eq!(code, 1, "{err}");
    assert!(said.contains("checks FAILED") && err.contains("fails its checks: "), "{said}{err}");
    let report = read_report(&out);
    let failed: Vec<_> = report["checks"].as_array().unwrap().iter().filter(|c| c["ok"] == false).collect();
    assert!(failed.len() == 1 && err.contains(failed[0]["name"].as_str().unwrap()), "{failed:?}: {err}");
    assert_eq!(outcome(&kintsugi(words).env("KINTSUGI_BROKEN_CHECK", "2").output().unwrap()).0, 0);
}

/// The estimates of voxels, cracks and meshes of a statue, with so many free bytes as the test says.
#[test]
fn what_does_not_fit_into_the_free_memory_is_refused_in_one_line() {
    let home = folder("free-memory");
    for (free, level, mesh, what) in [
        (1_000_000, "8", "original", "voxels at this level"),
        (70_000_000, "9", "original", "for the fracture"),
        (300_000_000, "9", "smooth", "for the meshes of the pieces"),
    ] {
        let out = home.join(free.to_string());
        let words = ["fracture", "builtin:statue", "--level", level, "--mesh", mesh, "--format", "glb"];
        let mut command = kintsugi(words);
        command.args(["--compute", "cpu", "--out", &text(&out)]);
        let (code, _, err) = outcome(&command.env("KINTSUGI_FREE_BYTES", free.to_string()).output().unwrap());
        assert!(code == 2 && err.lines().count() == 1 && err.contains(what), "{code}: {err}");
        let told = format!("{:.2} GB are free; choose a lower level", f64::from(free) / 1e9);
        assert!(err.contains("GB of memory are needed and ") && err.contains(&told), "{err}");
        assert!(!out.exists(), "nothing is written");
    }
    // Boxes in one place: the lists of their pairs, or of their contacts, four a pair.
    for (bodies, places) in [(250, 31_125), (120, 28_560)] {
        let scene = home.join(format!("{bodies}.toml"));
        let one = "[[body]]\nfile = \"builtin:box\"\nlevel = 3\nposition = [0, 3, 0]\n";
        std::fs::write(&scene, one.repeat(bodies)).unwrap();
        let words =
            ["simulate", &text(&scene), "--seconds", "0.01", "--volume-every", "0", "--compute", "cpu"];
        let mut command = kintsugi(words);
        command.args(["--out", &text(&home.join("played"))]).env("KINTSUGI_FREE_BYTES", "67000000");
        let (code, _, err) = outcome(&command.output().unwrap());
        assert!(code == 2 && err.contains(&format!("in {places} places")), "{code}: {err}");
        assert!(err.contains("move bodies apart, take fewer"), "{err}");
    }
}

#[test]
fn generations_number_their_parents_and_keep_every_check() {
    let out = folder("generations");
    let arguments = ["fracture", "builtin:box", "--level", "5", "--seeds", "12", "--generations", "3"];
    if run(arguments.into_iter().chain(["--out", &text(&out)])).is_none() {
        return;
    }
    let report = checked_report(&out);
    let pieces = report["pieces"].as_array().unwrap();
    let broken = report["broken_again"].as_array().unwrap();
    let generation = |p: &Value| p["generation"].as_u64().unwrap();
    // Each round breaks the largest pieces of any generation, so three rounds reach the second at least.
    assert!((2..=3).contains(&pieces.iter().map(generation).max().unwrap_or(0)));
    assert!(broken.len() >= 2, "one piece or more breaks in each further round");
    let all: Vec<&Value> = pieces.iter().chain(broken).collect();
    for (i, piece) in all.iter().enumerate() {
        assert_eq!(piece["id"].as_u64(), Some(i as u64));
        match piece["parent"].as_u64() {
            None => assert_eq!(generation(piece), 1),
            Some(parent) => {
                assert!(parent as usize >= pieces.len());
                assert_eq!(generation(all[parent as usize]) + 1, generation(piece));
            }
        }
    }
}

#[test]
fn seeds_from_a_file_are_the_seeds_used() {
    let out = folder("seeds");
    let seeds = out.join("seeds.txt");
    // Outside the box, within half its side; one in the place of another counts once.
    std::fs::write(&seeds, "# two halves\n-0.6 0.5 0\n0.6 0.5 0\n0.6 0.5 0\n").unwrap();
    let arguments =
        ["fracture", "builtin:box", "--level", "5", "--seeds-file", &text(&seeds), "--out", &text(&out)];
    if run(arguments).is_none() {
        return;
    }
    assert_eq!(read_report(&out)["counts"]["pieces"], 2);
    let arrays = read_npz(&out.join("voxels.npz"));
    let m = arrays["grid_to_mesh"].floats();
    let seed = &arrays["seeds"].floats()[..3];
    let x = m[0] * seed[0] + m[1] * seed[1] + m[2] * seed[2] + m[3];
    assert!((x + 0.6).abs() < m[0] / 100.0, "{x}");
}

/// Files that must be refused, each with what makes it bad.
fn bad_files(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let ply =
        |counts: &str| format!("ply\nformat binary_little_endian 1.0\n{counts}end_header\n").into_bytes();
    let vertex = "property float x\nproperty float y\nproperty float z\n";
    let face = "property list uchar int vertex_indices\n";
    let huge = format!("element vertex 4000000000\n{vertex}element face 4000000000\n{face}");
    let cut = format!("element vertex 3\n{vertex}element face 1\n{face}");
    let mut stl = vec![0u8; 84];
    stl[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut glb = b"glTF".to_vec();
    glb.extend([2, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f]);
    std::fs::create_dir_all(folder.join("a-folder.obj")).unwrap();
    vec![
        ("0 bytes", write("empty.obj", b"")),
        ("0 bytes", write("empty.ply", b"")),
        ("0 bytes", write("empty.stl", b"")),
        ("0 bytes", write("empty.off", b"")),
        ("0 bytes", write("empty.glb", b"")),
        ("0 bytes", write("empty.gltf", b"")),
        ("0 bytes", write("empty.vox", b"")),
        ("no faces", write("points.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n")),
        ("a folder", folder.join("a-folder.obj")),
        ("unknown extension", write("mesh.xyz", b"1 2 3\n")),
        ("no extension", write("mesh", b"1 2 3\n")),
        ("NaN", write("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")),
        ("infinite", write("inf.obj", b"v inf 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")),
        ("indices out of range", write("index.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")),
        ("zero area", write("line.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")),
        ("huge counts", write("huge.ply", &ply(&huge))),
        ("truncated", write("cut.ply", &ply(&cut))),
        ("huge counts", write("huge.stl", &stl)),
        ("huge counts", write("huge.off", b"OFF\n4000000000 4000000000 0\n")),
        ("truncated", write("cut.glb", &glb)),
        ("garbage", write("noise.vox", b"VOX \x96\x00\x00\x00MAIN\xff\xff\xff\xff")),
        ("missing", folder.join("nowhere.obj")),
        ("unknown shape", Path::new("builtin:teacup").to_owned()),
    ]
}

/// The program on a machine that has no adapter.
fn without_adapter(arguments: &[&str]) -> Output {
    kintsugi(arguments)
        .env("WGPU_BACKEND", "vulkan")
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .output()
        .unwrap()
}

#[test]
fn asking_for_an_adapter_that_is_not_there_ends_with_3() {
    let out = folder("no-adapter");
    let arguments = ["fracture", "builtin:box", "--level", "3", "--compute", "gpu", "--out", &text(&out)];
    let (code, _, err) = outcome(&without_adapter(&arguments));
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("mesa-vulkan-drivers"), "{err}");
}

#[test]
fn every_command_works_without_an_adapter() {
    let home = folder("without-an-adapter");
    let (out, picture) = (text(&home), text(&home.join("box.png")));
    for arguments in [
        &["fracture", "builtin:box", "--level", "5", "--surface", "dusty", "--out", &out][..],
        &["simulate", "builtin:box", "--seconds", "0.05", "--frames", "20", "--size", "64x48", "--out", &out],
        &["render", "builtin:box", "--level", "5", "--size", "64x48", "--seams", "--out", &picture],
        &[
            "render",
            "builtin:box",
            "--level",
            "5",
            "--explode",
            "0.3",
            "--show",
            "flood:3",
            "--out",
            &picture,
        ],
        &["bench", "builtin:box", "--level", "4", "--repeat", "1"],
        &["doctor"],
    ] {
        let (code, said, err) = outcome(&without_adapter(arguments));
        assert_eq!(code, 0, "{arguments:?}: {err}");
        assert!(arguments[0] != "doctor" || said.contains("adapter: none"), "{said}");
    }
    let report: Value = serde_json::from_slice(&std::fs::read(home.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["compute"], "cpu");
}

/// What compute passes and native stages write; nothing where there is no adapter.
#[test]
fn passes_and_native_stages_write_the_same_bytes() {
    let home = folder("both-kinds-of-stages");
    for (name, more) in [
        ("planar", &[][..]),
        ("local", &["--local", "0.3", "--generations", "2"]),
        ("rough", &["--surface", "rough"]),
        ("dusty", &["--surface", "dusty", "--island-level", "4"]),
    ] {
        let written = ["gpu", "cpu"].map(|compute| {
            let out = home.join(format!("{name}-{compute}"));
            let arguments = ["fracture", "builtin:statue", "--level", "5", "--compute", compute, "--out"];
            run(arguments.into_iter().chain([text(&out).as_str()]).chain(more.iter().copied()))?;
            Some(std::fs::read(out.join("voxels.npz")).unwrap())
        });
        let [Some(passes), Some(native)] = written else { return };
        assert!(passes == native, "{name}: voxels.npz differs");
    }
}

#[test]
fn bad_files_end_with_2_and_one_line_before_a_gpu_is_opened() {
    let home = folder("bad files");
    let (out, picture) = (text(&home.join("out")), text(&home.join("out.png")));
    for (what, file) in bad_files(&home) {
        let name = text(&file);
        // A loaded machine takes long to start any program.
        let begin = Instant::now();
        without_adapter(&["--version"]);
        let begin = begin.elapsed();
        for arguments in [
            vec!["fracture", &name, "--level", "5", "--out", &out],
            vec!["render", &name, "--level", "5", "--out", &picture],
            vec!["simulate", &name, "--seconds", "1", "--out", &out],
            vec!["bench", &name, "--level", "5"],
            vec![&name],
        ] {
            let start = Instant::now();
            let (code, _, err) = outcome(&without_adapter(&arguments));
            let line = err.trim_end();
            assert_eq!(code, 2, "{what}: {arguments:?}: {err}");
            assert_eq!(line.lines().count(), 1, "{what}: {arguments:?}: {err}");
            assert!(line.starts_with("error: ") && line.contains(&name), "{what}: {line}");
            assert!(!line.contains("panicked"), "{line}");
            let (took, limit) = (start.elapsed(), Duration::from_secs(2).max(20 * begin));
            assert!(took < limit, "{what}: {took:?} of {limit:?}");
        }
    }
    let is_there = |name: &str| home.join(name).exists();
    assert!(!is_there("out") && !is_there("out.png"), "nothing is written for bad input");
}

#[test]
fn bad_arguments_end_with_2_and_one_line() {
    let home = folder("bad-arguments");
    let out = text(&home.join("out"));
    std::fs::write(home.join("seeds.txt"), "1 2\n").unwrap();
    std::fs::write(home.join("none.txt"), "# nothing\n").unwrap();
    std::fs::write(home.join("far.txt"), "0 0.5 0\n9 0.5 0\n").unwrap();
    let later = "[[body]]\nfile = \"builtin:box\"\nlevel = 4\n[[event]]\nkind = \"impact\"\ntime = 100.0\n\
                 point = [0, 0, 0]\ndirection = [0, 0, 1]\n[event.fracture]\nseeds_file = \"nope.txt\"\n";
    std::fs::write(home.join("later.toml"), later).unwrap();
    std::fs::write(home.join("box.toml"), "[[body]]\nfile = \"builtin:box\"\nlevel = 4\n").unwrap();
    std::fs::write(home.join("scene.toml"), "gravitty = [0, 0, 0]\n").unwrap();
    std::fs::write(home.join("nothing.toml"), "").unwrap();
    std::fs::write(home.join("file"), "").unwrap();
    let [few, none, far] = ["seeds.txt", "none.txt", "far.txt"].map(|name| text(&home.join(name)));
    let (scene, nothing) = (text(&home.join("scene.toml")), text(&home.join("nothing.toml")));
    let (later, whole) = (text(&home.join("later.toml")), text(&home.join("box.toml")));
    let (picture, photograph) = (text(&home.join("a.png")), text(&home.join("a.jpg")));
    let under_file = text(&home.join("file").join("out"));
    let fracture = |more: &[&str]| -> Vec<String> {
        let all = ["fracture", "builtin:box", "--out", &out];
        all.iter().chain(more).map(|s| (*s).to_owned()).collect()
    };
    let line = |words: &[&str]| -> Vec<String> { words.iter().map(|s| (*s).to_owned()).collect() };
    for arguments in [
        fracture(&["--level", "0"]),
        fracture(&["--level", "13"]),
        fracture(&["--level", "six"]),
        fracture(&["--seeds", "0"]),
        fracture(&["--seeds", "70000"]),
        fracture(&["--radii", "0"]),
        fracture(&["--radii", "0.1,nan"]),
        fracture(&["--impact", "1,2"]),
        fracture(&["--impact", "inf,0,0"]),
        fracture(&["--dust", "2"]),
        fracture(&["--surface", "dusty", "--dust", "17"]),
        fracture(&["--surface", "dusty", "--dust", "1,-1"]),
        fracture(&["--surface", "dusty", "--dust", "wide"]),
        fracture(&["--surface", "dusty", "--sides", "votes"]),
        fracture(&["--surface", "smooth"]),
        fracture(&["--transition-level", "4"]),
        fracture(&["--surface", "planar", "--strength", "0.5"]),
        fracture(&["--level", "5", "--surface", "rough", "--transition-level", "6"]),
        fracture(&["--surface", "rough", "--transition-level", "1"]),
        fracture(&["--surface", "rough", "--strength", "nan"]),
        fracture(&["--surface", "rough", "--noise", "0.5,2"]),
        fracture(&["--surface", "rough", "--noise", "-1,2,3"]),
        fracture(&["--surface", "rough", "--noise", "0.5,5000,3"]),
        fracture(&["--surface", "rough", "--displacement", "0.1,0.7"]),
        fracture(&["--surface", "rough", "--offset", "middle"]),
        line(&["render", "builtin:box", "--out", "x.png", "--explode", "-1"]),
        fracture(&["--local", "0"]),
        fracture(&["--local", "nan"]),
        fracture(&["--local", "0.05"]),
        fracture(&["--local", "0.05", "--generations", "2"]),
        fracture(&["--keep", "40"]),
        fracture(&["--keep", "1,x"]),
        fracture(&["--level", "5", "--island-level", "6"]),
        fracture(&["--generations", "0"]),
        fracture(&["--format", "glb,exe"]),
        fracture(&["--seeds-file", &few]),
        fracture(&["--seeds-file", &none]),
        fracture(&["--level", "5", "--seeds-file", &far]),
        fracture(&["--seeds-file", "/nonexistent/seeds.txt"]),
        fracture(&["--no-such-flag"]),
        line(&["fracture", "builtin:box"]),
        line(&["fracture", "builtin:box", "--level", "3", "--out", &under_file]),
        line(&["fracture", &scene, "--out", &out]),
        line(&["simulate", &scene, "--seconds", "1", "--out", &out]),
        line(&["simulate", &nothing, "--seconds", "1", "--out", &out]),
        line(&["simulate", "builtin:box", "--seconds", "-1", "--out", &out]),
        line(&["simulate", "builtin:box", "--seconds", "1", "--out", &out, "--frames", "30"]),
        line(&["simulate", "builtin:box", "--seconds", "1", "--out", &out, "--frames", "0"]),
        line(&["simulate", "builtin:box", "--seconds", "1", "--out", &out, "--size", "64x48"]),
        line(&[
            "simulate",
            "builtin:box",
            "--seconds",
            "1",
            "--out",
            &out,
            "--frames",
            "25",
            "--camera",
            "{}",
        ]),
        line(&["render", "builtin:box", "--out", &out, "--size", "0x5"]),
        line(&["render", "builtin:box", "--out", &out, "--view", "inside"]),
        line(&["render", "builtin:box", "--out", &out, "--show", "seeds,cracks"]),
        line(&["render", "builtin:box", "--out", &out, "--show", "triangles"]),
        line(&["render", "builtin:box", "--out", &out, "--show", "wireframe:9"]),
        line(&["render", "builtin:box", "--out", &out, "--show", "labels:1,flood"]),
        line(&["render", "builtin:box", "--out", &out, "--show", "seeds", "--through", "2"]),
        line(&["fracture", "builtin:box", "--out", &out, "--labelling", "fast"]),
        line(&["render", "builtin:box", "--out", &out, "--camera", "{}"]),
        line(&["render", "builtin:box", "--out", &text(&home)]),
        line(&["render", "builtin:box", "--out", &picture, "--backdrop", "no-such.hdr"]),
        line(&["render", "builtin:box", "--out", &picture, "--backdrop", &whole]),
        line(&["render", "builtin:box", "--out", &picture, "--backdrop-turn", "30"]),
        line(&["bench", "builtin:box", "--repeat", "0"]),
        line(&["bench", "builtin:box", "--level", "3", "--repeat", "1", "--json", &under_file]),
        line(&["compare", "builtin:box", "--level", "3", "--repeat", "1", "--json", &under_file]),
        line(&["simulate", &later, "--seconds", "0.01", "--out", &out]),
        line(&["render", &later, "--out", &picture]),
        line(&["render", &whole, "--level", "5", "--out", &picture]),
        line(&["render", &whole, "--seeds", "50", "--out", &picture]),
        line(&["render", "builtin:box", "--level", "3", "--out", &photograph]),
    ] {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, _, err) = outcome(&without_adapter(&words));
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert_eq!(err.trim_end().lines().count(), 1, "{arguments:?}: {err}");
        assert!(err.starts_with("error: "), "{err}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [&["--help"][..], &["--version"], &["fracture", "--help"]] {
        let (code, out, err) = outcome(&kintsugi(arguments).output().unwrap());
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
        assert!(out.contains("kintsugi"), "{out}");
    }
    let (_, out, _) = outcome(&kintsugi(["--help"]).output().unwrap());
    for command in ["fracture", "simulate", "render", "bench", "doctor"] {
        assert!(out.contains(command), "{command} is not in the help");
    }
}

#[test]
fn doctor_lists_every_adapter_and_says_which_is_in_use() {
    let Some(out) = run(["doctor"]) else { return };
    println!("{out}");
    let all = kintsugi::gpu::adapters();
    let wanted = all.iter().enumerate().map(|(number, one)| format!("  {number}: {one}"));
    let mut lines = out.lines().skip_while(|line| !line.starts_with("adapters: "));
    let head = format!("adapters: {}; --adapter takes a number", all.len());
    assert!(lines.next().is_some_and(|line| line.starts_with(&head)), "{head}: {out}");
    let listed: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
    assert_eq!(listed, wanted.collect::<Vec<_>>());
    let used = out.lines().find_map(|line| line.strip_prefix("adapter: ")).unwrap();
    assert!(all.iter().any(|one| used.contains(&one.name)), "{used} is none of {listed:?}");
    assert!(out.contains("largest binding: "), "{out}");
}

#[test]
fn both_labellings_find_the_same_pieces() {
    let outs = ["union-find", "iterative"].map(|labelling| {
        let out = folder(&format!("labelling-{labelling}"));
        let shape = ["fracture", "builtin:shell", "--level", "5", "--seeds", "12", "--labelling", labelling];
        run(shape.into_iter().chain(["--out", &text(&out)])).map(|_| out)
    });
    let [Some(a), Some(b)] = outs else { return };
    let bytes = |out: &Path| std::fs::read(out.join("voxels.npz")).unwrap();
    assert!(bytes(&a) == bytes(&b), "the labellings differ");
    assert_eq!(read_report(&b)["parameters"]["labelling"], "iterative");
}

#[test]
fn progress_comes_as_lines_of_json() {
    let out = text(&folder("progress"));
    let arguments = ["fracture", "builtin:box", "--level", "4", "--json-progress", "--out", &out];
    let Some((_, err)) = finish(&mut kintsugi(arguments)) else { return };
    // A driver's own complaints may stand between the lines.
    let lines: Vec<Value> =
        err.lines().filter(|l| l.starts_with('{')).map(|l| serde_json::from_str(l).unwrap()).collect();
    let done = |stage: &str| lines.iter().any(|l| l["stage"] == stage && l["fraction"] == 1.0);
    for stage in ["read", "voxelise", "fracture", "check", "write voxels.npz"] {
        assert!(done(stage), "{stage} in {err}");
    }
}

#[test]
fn bench_measures_and_writes_json() {
    let file = folder("bench").join("bench.json");
    let arguments =
        ["bench", "builtin:box", "--level", "4", "--repeat", "2", "--seeds", "8", "--json", &text(&file)];
    let Some(out) = run(arguments) else { return };
    assert!(out.contains("FBS extraction") && out.contains("median ms"), "{out}");
    let results: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let stages = results["stages"].as_array().unwrap();
    let wall = stages.iter().find(|s| s["stage"] == "fracture, wall clock").unwrap();
    assert_eq!(wall["runs"], 2);
    assert!(wall["median_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(results["table_1"].as_array().unwrap().len(), 7);
    assert_eq!((&results["surface"], &results["crack"]), (&"planar".into(), &Value::Null));
}

#[test]
fn bench_takes_a_scenes_seeds_and_says_how_it_breaks() {
    let home = folder("bench-scene");
    let (scene, file) = (home.join("three.toml"), home.join("bench.json"));
    std::fs::write(home.join("seeds.txt"), "-0.3 0.5 0\n0.3 0.5 0\n0.3 0.2 0.1\n").unwrap();
    let fracture = "seeds = 9\nseeds_file = \"seeds.txt\"\nsurface = \"rough\"\n[body.fracture.crack]\ntransition_level = 3\n";
    let body = "[[body]]\nfile = \"builtin:box\"\nlevel = 5\n";
    std::fs::write(&scene, format!("name = \"three\"\n{body}[body.fracture]\n{fracture}")).unwrap();
    let arguments = ["bench", &text(&scene), "--repeat", "1", "--only", "fracture", "--json", &text(&file)];
    let Some(out) = run(arguments) else { return };
    assert!(out.contains("3 seeds") && out.contains("rough, transition level 3"), "{out}");
    let results: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!((&results["seeds"], &results["counts"]["cells"]), (&3.into(), &3.into()));
    assert_eq!((&results["surface"], &results["crack"]["transition_level"]), (&"rough".into(), &3.into()));
}

#[test]
fn where_there_is_no_display_a_tour_is_written() {
    let home = folder("tour");
    let mut command = kintsugi(["builtin:box", "--level", "4"]);
    let Some((out, _)) = finish(command.current_dir(&home)) else { return };
    assert!(out.contains("out/kintsugi-tour"), "{out}");
    let pictures = std::fs::read_dir(home.join("out/kintsugi-tour")).unwrap().count();
    assert_eq!(pictures, 6);
}
