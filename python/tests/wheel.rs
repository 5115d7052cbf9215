//! The Python package as its users have it: a wheel, a fresh virtual environment, pytest.
//!
//! In: the library that cargo built for this test. Out: the closing lines of pytest, or its whole output where a test
//! fails. Packages come from pip's index at the first run and stay in the target folder. Where pip reaches no index, the
//! system's own pytest and NumPy serve, and tests that need more are skipped. Without these the test fails, or with
//! `KINTSUGI_NO_INSTALL=1` (or `KINTSUGI_ALLOW_SKIP=1`) passes with a line.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// What the tests use beside the wheel, by the names of pip and of Python's modules.
const PACKAGES: [(&str, &str); 12] = [
    ("pytest", "pytest"),
    ("numpy", "numpy"),
    ("tqdm", "tqdm"),
    ("trimesh", "trimesh"),
    ("meshio", "meshio"),
    ("h5py", "h5py"),
    ("pyarrow", "pyarrow"),
    ("matplotlib", "matplotlib"),
    ("nbclient", "nbclient"),
    ("nbformat", "nbformat"),
    ("ipykernel", "ipykernel"),
    ("mypy", "mypy"),
];

/// The sources of the Python package.
fn sources() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Folder for what this test makes.
fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("python")
}

/// The library beside this test's executable, or one folder above it.
fn library() -> PathBuf {
    let name = format!("{}kintsugi_python{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let test = env::current_exe().unwrap();
    let found = test.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|file| file.is_file());
    found.unwrap_or_else(|| {
        let folder = test.parent().unwrap().display();
        panic!("{folder} has no {name}; `cargo test --release -p kintsugi-python` builds it, as a cdylib")
    })
}

/// The system's Python, as `KINTSUGI_PYTHON` names it.
fn system_python() -> String {
    let usual = if cfg!(windows) { "python" } else { "python3" };
    env::var("KINTSUGI_PYTHON").unwrap_or_else(|_| usual.into())
}

/// A command without what the caller's own environment says to Python.
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MYPYPATH"] {
        command.env_remove(name);
    }
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .env("MPLBACKEND", "agg");
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command that must end well; what it wrote to stdout.
fn must(what: &str, command: &mut Command) -> String {
    let output =
        command.output().unwrap_or_else(|error| panic!("{what}: {command:?} does not start: {error}"));
    assert!(output.status.success(), "{what}: {}", said(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Python of the environment of this name, which is made by `base` with these options where it is not there.
fn environment(name: &str, base: &str, options: &[&str]) -> PathBuf {
    let folder = scratch().join(name);
    let python = if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") };
    // An environment whose Python has gone away, as after an update of the system, is made again.
    let works =
        command(&python).args(["-m", "pip", "--version"]).output().is_ok_and(|it| it.status.success());
    if !works {
        let _ = fs::remove_dir_all(&folder);
        must(
            "a virtual environment cannot be made; on Debian and Ubuntu install python3-venv",
            command(base).args(["-m", "venv"]).args(options).arg(&folder),
        );
    }
    python
}

/// Whether Python can import these modules.
fn has(python: &Path, modules: &[&str]) -> bool {
    let code = format!("import {}", modules.join(", "));
    command(python).args(["-c", &code]).output().is_ok_and(|it| it.status.success())
}

/// Python of an environment with the packages that the tests use; `None` where they may be left out.
fn python_with_packages() -> Option<PathBuf> {
    let python = environment("environment", &system_python(), &[]);
    let modules = PACKAGES.map(|(_, module)| module);
    if has(&python, &modules) {
        return Some(python);
    }
    let names = PACKAGES.iter().map(|(name, _)| *name);
    let pip = command(&python).args(["-m", "pip", "install", "--quiet"]).args(names).output().unwrap();
    if pip.status.success() && has(&python, &modules) {
        return Some(python);
    }
    let why = said(&pip);
    let why = why.lines().rev().find(|line| line.contains("ERROR")).unwrap_or("pip failed");
    // Debian's packages are those of Debian's own Python.
    let debian = Path::new("/usr/bin/python3");
    let base = if debian.is_file() { debian.display().to_string() } else { system_python() };
    let of_system = environment("environment-of-system", &base, &["--system-site-packages"]);
    if has(&of_system, &["pytest", "numpy"]) {
        let _ = writeln!(io::stderr(), "tests that need more than pytest and NumPy are skipped: {why}");
        return Some(of_system);
    }
    let may_skip = ["KINTSUGI_NO_INSTALL", "KINTSUGI_ALLOW_SKIP"]
        .iter()
        .any(|name| env::var(name).as_deref() == Ok("1"));
    assert!(
        may_skip,
        "the tests of the Python package need packages that pip cannot install: {why}. Connect to an index, or set \
         PIP_INDEX_URL or PIP_FIND_LINKS, or install python3-pytest and python3-numpy; KINTSUGI_NO_INSTALL=1 leaves these \
         tests out\n{}",
        said(&pip)
    );
    // Straight to the stream: what `eprintln!` writes is kept back from tests that pass.
    let _ = writeln!(io::stderr(), "SKIPPED: the tests of the Python package: {why}");
    None
}

/// Copies the files of a folder that have one of these endings.
fn copy(from: &Path, to: &Path, endings: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending)) {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
}

/// The newest of the GNU C library's versions 2.N that a library names anywhere, by its plain bytes.
fn c_library(library: &Path) -> u32 {
    let mark = b"GLIBC_2.";
    let bytes = fs::read(library).unwrap();
    let starts = bytes.windows(mark.len()).enumerate().filter(|(_, part)| *part == mark);
    let number = |(at, _): (usize, &[u8])| {
        let digits = bytes[at + mark.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        String::from_utf8(digits.copied().collect()).unwrap().parse().unwrap_or(0)
    };
    starts.map(number).max().unwrap()
}

#[test]
fn the_wheel_passes_its_tests_in_a_fresh_environment() {
    let library = library();
    let wheels = scratch().join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    let packer = sources().join("../tools/wheel.py");
    let printed = must(
        "the wheel cannot be packed",
        command(system_python()).arg(packer).arg("--library").arg(&library).arg("--out").arg(&wheels),
    );
    let wheel = PathBuf::from(printed.trim());

    let tag = wheel.file_stem().unwrap().to_string_lossy().rsplit('-').next().unwrap().to_owned();
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        assert_eq!(tag, format!("manylinux_2_{}_{}", c_library(&library), env::consts::ARCH));
    }

    let Some(python) = python_with_packages() else { return };
    must(
        "the wheel cannot be installed",
        command(&python)
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"])
            .arg(&wheel),
    );
    let about = "import importlib.metadata as m; print(m.distribution('kintsugi').read_text('WHEEL'))";
    let about = must("what was installed says nothing", command(&python).args(["-c", about]));
    assert!(about.lines().any(|line| line == format!("Tag: cp39-abi3-{tag}")), "{about}");

    // Outside of the sources, so that the installed package is the one that is imported.
    let place = scratch().join("run");
    let _ = fs::remove_dir_all(&place);
    copy(&sources().join("tests"), &place.join("tests"), &["py"]);
    copy(&sources().join("notebooks"), &place.join("notebooks"), &["ipynb"]);
    let mut pytest = command(&python);
    pytest
        .args(["-m", "pytest", "-q", "-rs", "--color=no", "-p", "no:cacheprovider", "tests"])
        .current_dir(&place);
    let output = pytest.output().unwrap();
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", said(&output));
    let closing: Vec<&str> = lines.lines().rev().take(5).collect();
    for line in closing.iter().rev() {
        println!("{line}");
    }
}

#[test]
fn the_same_library_gives_the_same_wheel() {
    let place = scratch().join("packed");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    // A stand-in: what is in the library does not matter here.
    let library = place.join("libkintsugi_python.so");
    fs::write(&library, b"a library").unwrap();
    let packer = sources().join("../tools/wheel.py");
    let wheels = ["one", "two"].map(|name| {
        let mut packing = command(system_python());
        packing.arg(&packer).arg("--library").arg(&library).arg("--out").arg(place.join(name));
        PathBuf::from(must("the wheel cannot be packed", &mut packing).trim())
    });
    assert_eq!(fs::read(&wheels[0]).unwrap(), fs::read(&wheels[1]).unwrap());
    let name = wheels[0].file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with(&format!("kintsugi-{}-cp39-abi3-", env!("CARGO_PKG_VERSION"))), "{name}");
    assert!(!name.contains("manylinux"), "a file that is no library promises nothing: {name}");
    let missing =
        command(system_python()).arg(&packer).args(["--library", "none.so", "--out"]).arg(&place).output();
    let missing = missing.unwrap();
    assert!(!missing.status.success() && said(&missing).contains("cargo build"), "{}", said(&missing));
}
