//! Runs the built program and reads what it wrote.

#![allow(dead_code, reason = "each test program uses a part of this")]

pub mod skip;

use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// An empty folder of this test's own, under the target folder.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The program with these arguments, no display and no terminal.
pub fn kintsugi<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kintsugi"));
    command
        .args(arguments)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(std::process::Stdio::null());
    command
}

/// Exit code, stdout, stderr.
pub fn outcome(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Runs to a good end and gives stdout; `None`, where that is allowed, without an adapter.
pub fn run<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Option<String> {
    let (code, out, err) = outcome(&kintsugi(arguments).output().unwrap());
    if code == 3 {
        skip::note(err.trim());
        return None;
    }
    assert_eq!(code, 0, "{err}");
    Some(out)
}

/// One array of a .npz: type, shape, bytes.
#[derive(Debug)]
pub struct Array {
    pub descr: String,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Array {
    pub fn ints(&self) -> Vec<i32> {
        assert_eq!(self.descr, "<i4");
        self.bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    pub fn rows<const N: usize>(&self) -> Vec<[i32; N]> {
        assert_eq!(self.shape[1], N);
        self.ints().chunks_exact(N).map(|r| r.try_into().unwrap()).collect()
    }

    pub fn floats(&self) -> Vec<f64> {
        match self.descr.as_str() {
            "<f4" => self
                .bytes
                .chunks_exact(4)
                .map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())))
                .collect(),
            "<f8" => self.bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            other => panic!("{other} is not a float"),
        }
    }
}

/// All arrays of a .npz by name.
pub fn read_npz(path: &Path) -> BTreeMap<String, Array> {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut arrays = BTreeMap::new();
    for i in 0..zip.len() {
        let mut file = zip.by_index(i).unwrap();
        let name = file.name().unwrap().strip_suffix(".npy").unwrap().to_owned();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00", "{name}");
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8(bytes[10..start].to_vec()).unwrap();
        let between = |a: &str, b: &str| {
            let rest = header.split_once(a).unwrap().1;
            rest.split_once(b).unwrap().0.to_owned()
        };
        assert!(header.contains("'fortran_order': False"));
        let shape = between("'shape': (", ")");
        let shape = shape.split(',').filter_map(|d| d.trim().parse().ok()).collect();
        arrays
            .insert(name, Array { descr: between("'descr': '", "'"), shape, bytes: bytes.split_off(start) });
    }
    arrays
}

/// `report.json` of a folder.
pub fn read_report(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap()
}
