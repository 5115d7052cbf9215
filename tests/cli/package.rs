//! `tools/package.py`: what is in a package, that it runs where it was unpacked, and that it has the same bytes when it
//! is made again.

#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use super::support::{
    program::{folder, outcome, text},
    skip,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kintsugi");
/// Lets the script pack the program, which was built along with these tests.
const HOOKS: &str = "--with-hooks-for-tests";

/// Whether this program can be started.
fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs to a good end; stdout.
fn run(command: &mut Command) -> String {
    let (code, out, err) = outcome(&command.output().unwrap());
    assert_eq!(code, 0, "{command:?}: {err}");
    out
}

/// The script with these arguments, at another place and with another time zone and file mask than its user's.
fn script(from: &Path, arguments: &[&str]) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/package.py");
    let mut command = Command::new("sh");
    command.args(["-c", r#"umask 077; exec python3 "$@""#, "sh"]).arg(script).args(arguments);
    command.args(["--program", PROGRAM, "--compression", "0", HOOKS]).current_dir(from);
    command.env("TZ", "Asia/Tokyo").env("SOURCE_DATE_EPOCH", "1700000000");
    command
}

/// Makes a package twice; its path.
fn made_twice(home: &Path, kind: &str, name: &str) -> PathBuf {
    let said = run(&mut script(home, &[kind, "--out", "first"]));
    assert!(said.contains("MiB") && said.contains(name), "{said}");
    let second = home.join("second");
    let mut again = script(home, &[kind, "--out", &text(&second)]);
    run(again.env("TZ", "UTC").env("LC_ALL", "C"));
    let [first, second] = [home.join("first").join(name), second.join(name)];
    assert!(std::fs::read(&first).unwrap() == std::fs::read(second).unwrap(), "{kind}: its bytes differ");
    first
}

/// Names of all files below a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let (mut found, mut todo) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(one) = todo.pop() {
        for entry in std::fs::read_dir(one).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                todo.push(entry);
            } else {
                found.insert(text(entry.strip_prefix(folder).unwrap()));
            }
        }
    }
    found
}

/// The unpacked program runs, without the source tree's folder, and its scenes are the shipped ones.
fn works(program: &Path, scenes: &Path) {
    let started = |words: &[&str]| run(Command::new(program).args(words).env_remove("DISPLAY"));
    assert_eq!(started(&["--version"]), format!("kintsugi {}\n", env!("CARGO_PKG_VERSION")));
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    for name in ["vase.toml", "wall.toml", "wall.obj"] {
        assert_eq!(std::fs::read(scenes.join(name)).unwrap(), std::fs::read(shipped.join(name)).unwrap());
    }
    assert!(!scenes.join("pictures").exists());
    assert!(files(scenes).len() > 30);
    // Symbols take a fifth of a program.
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert!(size(program) < size(Path::new(PROGRAM)));
}

#[test]
fn an_archive_has_all_that_the_program_needs_and_the_same_bytes_each_time() {
    if !(has("python3") && has("strip")) {
        return skip::note("packages need python3 and strip: apt-get install python3 binutils");
    }
    let home = folder("package-tar");
    let folder = format!("kintsugi-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let archive = made_twice(&home, "tar", &format!("{folder}.tar.gz"));
    run(Command::new("tar").arg("-xzf").arg(archive).current_dir(&home));
    let unpacked = home.join(folder);
    works(&unpacked.join("kintsugi"), &unpacked.join("assets/scenes"));
    let top: BTreeSet<String> = files(&unpacked).into_iter().filter(|name| !name.contains('/')).collect();
    let wanted = [
        "CHANGELOG.md",
        "LICENCES-OF-LIBRARIES.txt",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.txt",
        "kintsugi",
    ];
    assert_eq!(top, BTreeSet::from(wanted.map(str::to_owned)));
    let licences = std::fs::read_to_string(unpacked.join("LICENCES-OF-LIBRARIES.txt")).unwrap();
    for told in ["\nwgpu ", "\nglam ", "SIL Open Font License", "Permission is hereby granted"] {
        assert!(licences.to_lowercase().contains(&told.to_lowercase()), "{told:?} is not among the licences");
    }
    // Crates of tests alone are not in the program.
    assert!(!licences.contains("\nproptest "));
}

#[test]
fn a_debian_package_names_what_the_program_needs_and_has_the_same_bytes_each_time() {
    if !(has("python3") && has("strip") && has("dpkg-deb")) {
        return skip::note(
            "Debian's packages need python3, strip and dpkg-deb: apt-get install python3 binutils dpkg",
        );
    }
    let home = folder("package-deb");
    let machine = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
    let package =
        made_twice(&home, "deb", &format!("kintsugi_{}-1_{machine}.deb", env!("CARGO_PKG_VERSION")));
    let field = |name: &str| run(Command::new("dpkg-deb").arg("-f").arg(&package).arg(name));
    let names = |field: String| -> Vec<String> {
        field.split(',').filter_map(|one| one.split_whitespace().next().map(str::to_owned)).collect()
    };
    // What the loader says of the same program.
    let needed = run(Command::new("objdump").args(["-p", PROGRAM]));
    let needs = |library: &str| needed.lines().any(|line| line.contains("NEEDED") && line.contains(library));
    let depends = names(field("Depends"));
    for (library, package) in [("libc.so", "libc6"), ("libgcc_s", "libgcc-s1"), ("libstdc++", "libstdc++6")] {
        assert_eq!(depends.iter().any(|name| name == package), needs(library), "{package}: {depends:?}");
    }
    let recommends = names(field("Recommends"));
    for package in
        ["libvulkan1", "mesa-vulkan-drivers", "libxkbcommon-x11-0", "libx11-xcb1", "libxcursor1", "libxi6"]
    {
        assert!(recommends.iter().any(|name| name == package), "{package}: {recommends:?}");
    }
    let listed = run(Command::new("dpkg-deb").arg("-c").arg(&package));
    assert!(listed.lines().all(|line| line.contains(" root/root ")), "{listed}");
    let rights = |name: &str| listed.lines().find(|line| line.ends_with(name)).map(|line| &line[..10]);
    assert_eq!(rights("./usr/bin/kintsugi"), Some("-rwxr-xr-x"));
    assert_eq!(rights("./usr/share/doc/kintsugi/copyright"), Some("-rw-r--r--"));

    let root = home.join("root");
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&root));
    works(&root.join("usr/bin/kintsugi"), &root.join("usr/share/kintsugi/assets/scenes"));
    let unpacked = files(&root);
    for name in [
        "usr/share/applications/kintsugi.desktop",
        "usr/share/icons/hicolor/scalable/apps/kintsugi.svg",
        "usr/share/man/man1/kintsugi.1.gz",
        "usr/share/doc/kintsugi/changelog.gz",
        "usr/share/doc/kintsugi/changelog.Debian.gz",
        "usr/share/doc/kintsugi/licences-of-libraries.gz",
    ] {
        assert!(unpacked.contains(name), "{name}");
    }
    // Sums of all files, computed by another program.
    let about = home.join("about");
    run(Command::new("dpkg-deb").arg("-e").arg(&package).arg(&about));
    let sums = text(&about.join("md5sums"));
    assert_eq!(std::fs::read_to_string(&sums).unwrap().lines().count(), unpacked.len());
    run(Command::new("md5sum").args(["--check", "--quiet", &sums]).current_dir(&root));
}

#[test]
fn what_cannot_be_packed_is_said_in_one_line() {
    if !(has("python3") && has("strip")) {
        return skip::note("packages need python3 and strip: apt-get install python3 binutils");
    }
    let home = folder("package-wrong");
    let no_program = home.join("text");
    std::fs::write(&no_program, "no program").unwrap();
    let missing = text(&home.join("missing"));
    let no_runtime = text(&no_program);
    for (words, told) in [
        (&["tar", "--program", &no_runtime][..], "no 64-bit Linux program"),
        (&["deb", "--program", &missing], "cargo build --release"),
        (&["appimage", HOOKS, "--program", PROGRAM, "--runtime", &no_runtime], "no 64-bit Linux program"),
        (&["appimage", HOOKS, "--program", PROGRAM, "--runtime", PROGRAM], "no runtime"),
        (&["tar", "--program", PROGRAM], "was built along with tests"),
    ] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/package.py");
        let mut command = Command::new("python3");
        let (code, out, err) = outcome(&command.arg(script).args(words).current_dir(&home).output().unwrap());
        assert_eq!((code, out.as_str(), err.lines().count()), (1, "", 1), "{words:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(told), "{words:?}: {err}");
    }
    assert!(!home.join("dist").exists(), "nothing is left of what failed");
}
