//! Reads what the program wrote.

use std::{collections::BTreeMap, io::Read, path::Path};

use serde_json::Value;

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
pub fn read_report(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap()
}

/// The same of a break whose checks must all hold.
pub fn checked_report(folder: &Path) -> Value {
    let report = read_report(folder);
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.len() >= 8, "{} checks", checks.len());
    for check in checks {
        assert_eq!(check["ok"], true, "{check}");
    }
    report
}

/// FNV-1a of some bytes: equal for equal bytes, and for hardly any others.
pub fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
