//! What the commands write is to the byte what they wrote before. The digests in `tests/golden/small.json`
//! are of small breaks and one collision, and of what is made of whole numbers or of the processor's own
//! floats, which are the same on every machine.
//!
//! Not here, since a graphics driver rounds as it likes: every picture. `tests/golden/record.py` compares those,
//! meshes, and larger breaks between two builds on one machine.
//!
//! A change that is meant to change results records anew with `KINTSUGI_RECORD=1`, and its description says why.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::support::{
    adapter,
    program::{folder, run, text},
    results::{Array, digest, read_npz, read_report},
};

/// Digests by command and part.
type Digests = BTreeMap<String, BTreeMap<String, String>>;

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn recorded() -> PathBuf {
    home().join("tests/golden/small.json")
}

/// Of an array's type, shape and bytes.
fn array(array: &Array) -> String {
    let head = format!("{} {:?} ", array.descr, array.shape);
    format!("{:016x}", digest(head.into_bytes().into_iter().chain(array.bytes.iter().copied())))
}

fn arrays(path: &Path) -> BTreeMap<String, String> {
    read_npz(path).iter().map(|(name, a)| (name.clone(), array(a))).collect()
}

/// `None`, where that is allowed, without an adapter.
fn fracture(name: &str, arguments: &[&str]) -> Option<BTreeMap<String, String>> {
    let out = folder(&format!("golden-{name}"));
    run(["fracture"].iter().chain(arguments).chain(&["--rng", "7", "--out", &text(&out)]).copied())?;
    let mut digests = arrays(&out.join("voxels.npz"));
    let mut report = read_report(&out);
    let parts = report.as_object_mut().unwrap();
    for differing in ["version", "provenance", "compute", "adapter", "timings_ms"] {
        assert!(parts.remove(differing).is_some(), "{differing}");
    }
    for (part, value) in parts {
        digests.insert(format!("report {part}"), format!("{:016x}", digest(value.to_string().into_bytes())));
    }
    Some(digests)
}

/// Everything that is compared.
fn all() -> Option<Digests> {
    let mut digests = Digests::new();
    for (name, arguments) in [
        ("planar", &["builtin:vase", "--level", "6"][..]),
        ("rough", &["builtin:vase", "--level", "6", "--surface", "rough"]),
        ("dusty", &["builtin:statue", "--level", "6", "--surface", "dusty"]),
        ("local", &["builtin:statue", "--level", "6", "--local", "0.35"]),
        ("generations", &["builtin:cavity", "--level", "5", "--generations", "3", "--seeds", "12"]),
    ] {
        digests.insert(name.into(), fracture(name, arguments)?);
    }
    // Elsewhere the device finds the contacts, and rounds as it likes.
    if adapter::gpu()?.is_software() {
        let out = folder("golden-collision");
        let scene = text(&home().join("assets/scenes/p09-collide.toml"));
        run(["simulate", &scene, "--seconds", "1", "--out", &text(&out)])?;
        digests.insert("collision".into(), arrays(&out.join("trajectory.npz")));
    }
    Some(digests)
}

/// What is not as it was recorded. A command that this machine leaves out is none.
fn differences(wanted: &Digests, got: &Digests) -> Vec<String> {
    let mut found = Vec::new();
    for (name, parts) in got {
        let Some(wanted) = wanted.get(name) else {
            found.push(format!("{name} is new"));
            continue;
        };
        found.extend(
            wanted.keys().filter(|part| !parts.contains_key(*part)).map(|p| format!("{name}: no {p}")),
        );
        found.extend(
            parts.iter().filter(|(p, d)| wanted.get(*p) != Some(d)).map(|(p, _)| format!("{name}: {p}")),
        );
    }
    found
}

#[test]
fn small_results_are_to_the_byte_what_they_were() {
    let Some(got) = all() else { return };
    if std::env::var("KINTSUGI_RECORD").as_deref() == Ok("1") {
        std::fs::write(recorded(), serde_json::to_string_pretty(&got).unwrap() + "\n").unwrap();
    }
    let wanted: Digests = serde_json::from_slice(&std::fs::read(recorded()).unwrap()).unwrap();
    let count: usize = got.values().map(BTreeMap::len).sum();
    println!("{} commands, {count} digests", got.len());
    assert!(got.len() >= 5 && count > 100, "{count} digests");
    let found = differences(&wanted, &got);
    assert!(found.is_empty(), "these are not as they were:\n{}", found.join("\n"));
}

#[test]
fn a_changed_byte_is_found() {
    let mut coords = Array { descr: "<i4".into(), shape: vec![2, 3], bytes: vec![7; 24] };
    let of = |a: &Array| Digests::from([("planar".into(), BTreeMap::from([("coords".into(), array(a))]))]);
    let wanted = of(&coords);
    assert!(differences(&wanted, &of(&coords)).is_empty());
    coords.bytes[23] ^= 1;
    assert_eq!(differences(&wanted, &of(&coords)), ["planar: coords"]);
    coords.bytes[23] ^= 1;
    coords.shape = vec![3, 2];
    assert_eq!(differences(&wanted, &of(&coords)), ["planar: coords"]);
    let less = Digests::from([("planar".into(), BTreeMap::new())]);
    assert_eq!(differences(&wanted, &less), ["planar: no coords"]);
    assert_eq!(differences(&less, &wanted), ["planar: coords"]);
    assert_eq!(differences(&Digests::new(), &wanted), ["planar is new"]);
}
