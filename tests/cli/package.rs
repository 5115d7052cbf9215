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

/// A program for Linux on AArch64 as far as its head and its one library, version 2.17 of the C library.
fn of_aarch64() -> Vec<u8> {
    let [dynamic_at, versions_at, names_at, end]: [u64; 4] = [176, 256, 288, 320];
    let head =
        [0x0001_0102_464c_457f, 0, 1 << 32 | 183 << 16 | 3, 0, 64, 0, 56 << 48 | 64 << 32, 64 << 16 | 2];
    let part = |kind: u64, from: u64, to: u64| [kind, from, from, from, to - from, to - from, 8];
    let dynamic = [1, 1, 5, names_at, 0x6fff_fffe, versions_at, 0x6fff_ffff, 1, 0, 0];
    let words = [&head[..], &part(1, 0, end), &part(2, dynamic_at, versions_at), &dynamic].concat();
    let mut file: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    let versions: [u32; 8] = [1 | 1 << 16, 1, 16, 0, 0, 0, 11, 0];
    file.extend(versions.into_iter().flat_map(u32::to_le_bytes));
    file.extend(b"\0libc.so.6\0GLIBC_2.17\0");
    file.resize(end as usize, 0);
    file
}

#[test]
fn packages_for_another_processor_name_it_and_what_they_need() {
    if !(has("python3") && has("dpkg-deb")) {
        return skip::note("Debian's packages need python3 and dpkg-deb: apt-get install python3 dpkg");
    }
    let home = folder("package-aarch64");
    let program = home.join("program");
    std::fs::write(&program, of_aarch64()).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let names = [
        ("tar", format!("kintsugi-{version}-aarch64-linux.tar.gz")),
        ("deb", format!("kintsugi_{version}-1_arm64.deb")),
    ];
    for (kind, name) in &names {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/package.py");
        let mut command = Command::new("python3");
        command.arg(script).args([*kind, "--program", "program", "--compression", "0"]).current_dir(&home);
        let (code, _, err) = outcome(&command.output().unwrap());
        if code != 0 && err.contains("cargo failed") {
            return skip::note("the libraries for AArch64 are not here: cargo fetch");
        }
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(home.join("dist").join(name).exists(), "{name}");
    }
    let package = home.join("dist").join(&names[1].1);
    let field = |name: &str| run(Command::new("dpkg-deb").arg("-f").arg(&package).arg(name));
    assert_eq!((field("Architecture").trim(), field("Depends").trim()), ("arm64", "libc6 (>= 2.17)"));
}

/// A program for Windows as far as its head and the names of the libraries that it is linked with.
fn exe(libraries: &[&str]) -> Vec<u8> {
    const ADDRESS: u32 = 0x1000;
    let mut names = Vec::new();
    let mut table = Vec::new();
    for library in libraries {
        let name = ADDRESS + 20 * (libraries.len() as u32 + 1) + names.len() as u32;
        table.extend([0, 0, 0, name, 0].into_iter().flat_map(u32::to_le_bytes));
        names.extend(library.bytes().chain([0]));
    }
    table.extend([0; 20]);
    table.extend(names);
    let mut file = vec![0; 512];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"MZ");
    put(60, &64u32.to_le_bytes());
    put(64, b"PE\0\0\x64\x86\x01\0");
    // The optional head, and in it 16 tables, of which the second one is that of libraries.
    put(84, &240u16.to_le_bytes());
    put(88, &0x20bu16.to_le_bytes());
    put(196, &16u32.to_le_bytes());
    put(208, &ADDRESS.to_le_bytes());
    // The one section.
    for (at, number) in [(340, ADDRESS), (344, table.len() as u32), (348, 512)] {
        put(at, &number.to_le_bytes());
    }
    file.extend(table);
    file
}

/// Text for Windows is what the source tree has, with other ends of lines.
#[test]
fn an_archive_for_windows_has_the_program_its_scenes_and_texts() {
    if !has("python3") {
        return skip::note("packages need python3: apt-get install python3");
    }
    let home = folder("package-zip");
    let program = home.join("program.exe");
    std::fs::write(&program, exe(&["KERNEL32.dll", "user32.dll"])).unwrap();
    let words = ["zip", "--program", &text(&program), "--out", "made"];
    let packed = |time: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/package.py");
        let mut command = Command::new("python3");
        command.arg(script).args(words).current_dir(&home).env("SOURCE_DATE_EPOCH", time);
        outcome(&command.output().unwrap())
    };
    let (code, _, err) = packed("1700000000");
    if code != 0 && err.contains("cargo failed") {
        return skip::note("the libraries for Windows are not here: cargo fetch");
    }
    assert_eq!((code, err.as_str()), (0, ""));
    let name = format!("kintsugi-{}-x86_64-windows", env!("CARGO_PKG_VERSION"));
    let made = home.join("made").join(format!("{name}.zip"));
    let bytes = std::fs::read(&made).unwrap();
    packed("1700000000");
    assert!(std::fs::read(&made).unwrap() == bytes, "its bytes differ");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut of = |path: &str| {
        let mut bytes = Vec::new();
        std::io::copy(&mut archive.by_name(&format!("{name}/{path}")).unwrap(), &mut bytes).unwrap();
        bytes
    };
    assert_eq!(of("kintsugi.exe"), std::fs::read(&program).unwrap());
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for scene in ["assets/scenes/vase.toml", "assets/scenes/wall.obj"] {
        assert_eq!(of(scene), std::fs::read(top.join(scene)).unwrap());
    }
    let licence = String::from_utf8(of("LICENSE-MIT.txt")).unwrap();
    assert!(licence.contains("\r\n"));
    assert_eq!(licence.replace("\r\n", "\n"), std::fs::read_to_string(top.join("LICENSE-MIT")).unwrap());
    let licences = String::from_utf8(of("LICENCES-OF-LIBRARIES.txt")).unwrap();
    assert!(licences.contains("\nwindows-sys "), "its own libraries, and not those of this system");
}

#[test]
fn the_program_is_brought_up_to_date_before_it_is_packed() {
    if !has("python3") {
        return skip::note("packages need python3: apt-get install python3");
    }
    let home = folder("package-built");
    // Stands for cargo: says where programs are, builds one, and knows no libraries, where packing ends.
    let cargo = home.join("cargo");
    let words = r#"#!/bin/sh
case "$*" in
*--no-deps*) printf '{"target_directory": "%s"}' "$PLACE" ;;
build*) echo "$*" >> built; mkdir -p "$PLACE/release"; cp clean "$PLACE/release/kintsugi" ;;
*) echo "error: no list" >&2; exit 1 ;;
esac
"#;
    std::fs::write(&cargo, words).unwrap();
    std::fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(home.join("clean"), of_aarch64()).unwrap();
    let place = home.join("target");
    let program = place.join("release/kintsugi");
    let packed = |words: &[&str]| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/package.py");
        let mut command = Command::new("python3");
        command.arg(script).args(words).current_dir(&home).env("CARGO", &cargo).env("PLACE", &place);
        let (code, _, err) = outcome(&command.output().unwrap());
        assert_eq!(code, 1, "{err}");
        let built = std::fs::read_to_string(home.join("built")).unwrap_or_default();
        (built.lines().count(), err)
    };
    let (built, err) = packed(&["tar"]);
    assert!(built == 1 && err.starts_with("building ") && err.contains("no list"), "{built}: {err}");
    let said = std::fs::read_to_string(home.join("built")).unwrap();
    assert!(said.starts_with("build --release --bin kintsugi --manifest-path "), "{said}");
    let (built, err) = packed(&["tar"]);
    assert_eq!(
        (built, err.lines().count()),
        (2, 2),
        "cargo decides whether the program is up to date: {err}"
    );
    let tests = [of_aarch64(), b"KINTSUGI_MISHAPS".to_vec()].concat();
    std::fs::write(&program, &tests).unwrap();
    assert_eq!(packed(&["tar", HOOKS]).0, 2);
    // One that was named is never replaced.
    let (built, err) = packed(&["tar", "--program", &text(&program)]);
    assert!(built == 2 && err.contains("was built along with tests"), "{built}: {err}");
    assert_eq!(std::fs::read(&program).unwrap(), tests);
    assert_eq!(packed(&["tar"]).0, 3);
    assert_eq!(std::fs::read(&program).unwrap(), of_aarch64());
    let (built, err) = packed(&["zip"]);
    assert!(built == 3 && err.contains("--program"), "{built}: {err}");
    std::fs::remove_file(home.join("clean")).unwrap();
    std::fs::write(&program, &tests).unwrap();
    assert!(packed(&["tar"]).1.contains("cargo could not build"), "what fails is said");
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
    let [whole, linked, cut] = ["whole.exe", "linked.exe", "cut.exe"].map(|name| home.join(name));
    std::fs::write(&whole, exe(&["KERNEL32.dll"])).unwrap();
    std::fs::write(&linked, exe(&["KERNEL32.dll", "libstdc++-6.dll"])).unwrap();
    // Without the name of the library.
    std::fs::write(&cut, &exe(&["KERNEL32.dll"])[..512 + 40]).unwrap();
    let [whole, linked, cut] = [whole, linked, cut].map(|path| text(&path));
    for (words, told) in [
        (&["tar", "--program", &no_runtime][..], "no 64-bit Linux program"),
        (&["deb", "--program", &missing], "cargo build --release"),
        (&["appimage", HOOKS, "--program", PROGRAM, "--runtime", &no_runtime], "no 64-bit Linux program"),
        (&["appimage", HOOKS, "--program", PROGRAM, "--runtime", PROGRAM], "no runtime"),
        (&["tar", "--program", PROGRAM], "was built along with tests"),
        (&["tar", "--program", &whole], "no 64-bit Linux program"),
        (&["zip", "--program", &no_runtime], "no program for Windows"),
        (&["zip", HOOKS, "--program", PROGRAM], "no program for Windows"),
        (&["zip", "--program", &linked], "libstdc++-6.dll"),
        (&["zip", "--program", &cut], "damaged"),
    ] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/package.py");
        let mut command = Command::new("python3");
        let (code, out, err) = outcome(&command.arg(script).args(words).current_dir(&home).output().unwrap());
        assert_eq!((code, out.as_str(), err.lines().count()), (1, "", 1), "{words:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(told), "{words:?}: {err}");
    }
    assert!(!home.join("dist").exists(), "nothing is left of what failed");
}
