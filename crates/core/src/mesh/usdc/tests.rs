//! Files of Pixar's library against the text that they were made of, and files made here of what no program writes.

use super::super::{
    Mesh, load_bytes,
    unchecked::Pace,
    usd,
    usda::{Layer, Notes, parse},
};
use super::{
    Binary,
    bytes::{Budget, integers, unpack_all},
};

const KINDS: &str = include_str!("fixtures/kinds.usda");
/// The layer of [`usd::tests::SCENE`].
pub const SCENE: &[u8] = include_bytes!("fixtures/scene.usdc");

/// The notes that readers ask for.
fn noted(notes: &Notes<'_>) -> String {
    let asked = ["metersPerUnit", "upAxis", "active", "displayName", "interpolation"];
    let said = asked.map(|name| notes.get(name).map(|note| (note.texts.concat(), note.numbers)));
    let arcs = ["references", "inherits", "payload", "subLayers"].map(|arc| notes.get(arc).is_some());
    format!("{said:?} {arcs:?}")
}

/// A line for each prim and attribute, without the numbers.
fn described(layer: &Layer<'_>) -> Vec<String> {
    let mut lines = vec![format!("{} {}", layer.has_variants, noted(&layer.notes))];
    for prim in &layer.prims {
        let (parent, kind, name) = (prim.parent, prim.kind, prim.name);
        lines.push(format!("{parent:?} {} {kind} {name} {}", prim.is_defined, noted(&prim.notes)));
        for (name, attribute) in &prim.attributes {
            let (kind, texts) = (attribute.kind, &attribute.texts);
            lines.push(format!("{kind} {name} {texts:?} {}", noted(&attribute.notes)));
        }
    }
    lines
}

fn numbers(layer: &Layer<'_>) -> Vec<(String, Vec<f64>)> {
    let attributes = layer.prims.iter().flat_map(|prim| &prim.attributes);
    attributes.map(|(name, attribute)| (name.to_string(), attribute.numbers.clone())).collect()
}

#[test]
fn values_of_all_kinds_are_those_of_the_text_in_every_version() {
    let text = parse(KINDS, &Pace::default()).unwrap();
    let files = [
        &include_bytes!("fixtures/kinds-0.4.usdc")[..],
        include_bytes!("fixtures/kinds-0.6.usdc"),
        include_bytes!("fixtures/kinds-0.16.usdc"),
    ];
    for file in files {
        let binary = Binary::open(file, &mut Pace::default()).unwrap();
        let layer = binary.layer(&mut Pace::default()).unwrap();
        assert_eq!(layer.left_out, [""; 0]);
        let (found, wanted) = (described(&layer), described(&text));
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted, "version {}", file[9]);
        }
        assert_eq!(found.len(), wanted.len());
        for ((name, found), (same, wanted)) in numbers(&layer).iter().zip(&numbers(&text)) {
            // Text has decimals of single precision.
            let is_close = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 6e-8 * a.abs();
            let is_same = found.len() == wanted.len() && found.iter().zip(wanted).all(is_close);
            assert!(name == same && is_same, "version {}: {name}: {found:?}, not {wanted:?}", file[9]);
        }
    }
}

#[test]
fn a_binary_layer_gives_the_mesh_of_its_text() {
    let (mut text, _) = load_bytes(usd::tests::SCENE.as_bytes(), "usda").unwrap();
    // Text keeps the backslashes of quotation marks.
    text.materials.iter_mut().for_each(|material| material.name = material.name.replace('\\', ""));
    for extension in ["usdc", "usd"] {
        let (mesh, warnings) = load_bytes(SCENE, extension).unwrap();
        assert_eq!(warnings, []);
        assert!(mesh == text, "{mesh:?}\n{text:?}");
    }
    let (_, warnings) = load_bytes(SCENE, "obj").unwrap();
    assert!(warnings.len() == 1 && warnings[0].0.contains("read as USD"), "{warnings:?}");
}

/// A binary file with these properties of the prim `m`: names and words of their values, over values that lie from byte 88 on.
struct File {
    version: u8,
    /// Names of the prims, each in the one before it.
    prims: Vec<String>,
    properties: Vec<(&'static str, u64)>,
    values: Vec<u8>,
}

const LIST: u64 = 1 << 63;
const INSIDE: u64 = 1 << 62;
const PACKED: u64 = 1 << 61;
const INT: u64 = 3 << 48;
const POINTS: u64 = 24 << 48;
const TOKENS: u64 = 41 << 48;
const SPECIFIER: u64 = 42 << 48;
const TOKEN: u64 = 11 << 48;

/// Bytes as one LZ4 block of literals, behind their length.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0];
    match bytes.len().checked_sub(15) {
        None => block.push((bytes.len() as u8) << 4),
        Some(more) => {
            block.push(0xf0);
            block.extend(std::iter::repeat_n(255, more / 255));
            block.push((more % 255) as u8);
        }
    }
    block.extend(bytes);
    [&(block.len() as u64).to_le_bytes()[..], &block].concat()
}

/// Whole numbers, each difference in four bytes.
fn packed_integers(numbers: &[i32]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(vec![0xff; numbers.len().div_ceil(4)]);
    let before = [0].iter().chain(numbers);
    bytes.extend(numbers.iter().zip(before).flat_map(|(b, a)| b.wrapping_sub(*a).to_le_bytes()));
    packed(&bytes)
}

impl File {
    /// A triangle.
    fn triangle() -> Self {
        let mut file =
            Self { version: 8, prims: vec!["m".into()], properties: Vec::new(), values: Vec::new() };
        let list = |count: u64, bytes: Vec<u8>| [&count.to_le_bytes()[..], &bytes].concat();
        let counts = file.place(&list(1, 3i32.to_le_bytes().to_vec()));
        let indices = file.place(&list(3, [0i32, 1, 2].map(i32::to_le_bytes).concat()));
        let points = [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].map(f32::to_le_bytes).concat();
        let points = file.place(&list(3, points));
        file.properties = vec![
            ("faceVertexCounts", LIST | INT | counts),
            ("faceVertexIndices", LIST | INT | indices),
            ("points", LIST | POINTS | points),
        ];
        file
    }

    /// Adds a value, and says where.
    fn place(&mut self, bytes: &[u8]) -> u64 {
        self.values.extend(bytes);
        88 + (self.values.len() - bytes.len()) as u64
    }

    fn bytes(&self) -> Vec<u8> {
        let mut tokens: Vec<&str> = vec!["", "specifier", "typeName", "Mesh", "primChildren", "default"];
        tokens.extend(self.prims.iter().map(String::as_str));
        tokens.extend(self.properties.iter().map(|(name, _)| *name));
        let (prims, properties) = (self.prims.len(), self.properties.len());
        let mut file = [&b"PXR-USDC\0"[..], &[self.version], &[0; 78], &self.values].concat();
        // Of each path: the fields, behind the root those of the prims, then of the properties.
        let (mut fields, mut sets) = (Vec::new(), Vec::new());
        let mut starts = Vec::new();
        let mut add = |own: &[(i32, u64)]| {
            starts.push(sets.len() as i32);
            for field in own {
                sets.push(fields.len() as i32);
                fields.push(*field);
            }
            sets.push(-1);
        };
        for depth in 0..=prims {
            let children = file.len() as u64;
            file.extend(u64::from(depth < prims).to_le_bytes());
            file.extend((6 + depth as u32).to_le_bytes());
            let own = [(1, INSIDE | SPECIFIER), (2, INSIDE | TOKEN | 3), (4, TOKENS | children)];
            add(&own[if depth == 0 { 2 } else { 0 }..]);
        }
        self.properties.iter().for_each(|(_, word)| add(&[(5, *word)]));
        let paths = 1 + prims + properties;
        let mut kinds = vec![7];
        kinds.extend(vec![6; prims]);
        kinds.extend(vec![1; properties]);
        let own: Vec<i32> = (0..paths as i32).collect();
        let steps: Vec<i32> = (0..paths as i32)
            .map(|path| match path {
                0 => 0,
                _ if path as usize <= prims => path + 5,
                _ => -path - 5,
            })
            .collect();
        // Each prim is the only child, the properties are those of the last.
        let jumps: Vec<i32> = (0..paths)
            .map(|path| match path {
                _ if path + 1 == paths => -2,
                _ if path <= prims => -1,
                _ => 0,
            })
            .collect();
        let count = |count: usize| (count as u64).to_le_bytes().to_vec();
        let text: Vec<u8> = tokens.iter().flat_map(|token| [token.as_bytes(), b"\0"].concat()).collect();
        let words: Vec<u8> = fields.iter().flat_map(|(_, word)| word.to_le_bytes()).collect();
        let names: Vec<i32> = fields.iter().map(|(name, _)| *name).collect();
        let tables = [
            ("TOKENS", [count(tokens.len()), count(text.len()), packed(&text)].concat()),
            ("STRINGS", count(0)),
            ("FIELDS", [count(fields.len()), packed_integers(&names), packed(&words)].concat()),
            ("FIELDSETS", [count(sets.len()), packed_integers(&sets)].concat()),
            (
                "PATHS",
                [
                    &count(paths),
                    &count(paths),
                    &packed_integers(&own),
                    &packed_integers(&steps),
                    &packed_integers(&jumps),
                ]
                .map(Vec::as_slice)
                .concat(),
            ),
            (
                "SPECS",
                [&count(paths), &packed_integers(&own), &packed_integers(&starts), &packed_integers(&kinds)]
                    .map(Vec::as_slice)
                    .concat(),
            ),
        ];
        let mut contents = count(tables.len());
        for (name, bytes) in tables {
            contents.extend(name.bytes().chain(std::iter::repeat(0)).take(16));
            contents.extend([count(file.len()), count(bytes.len())].concat());
            file.extend(bytes);
        }
        let place = count(file.len());
        file[16..24].copy_from_slice(&place);
        file.extend(contents);
        file
    }

    fn refusal(&self) -> String {
        load_bytes(&self.bytes(), "usdc").unwrap_err().message
    }
}

#[test]
fn a_file_made_here_is_read() {
    let (mesh, warnings) = load_bytes(&File::triangle().bytes(), "usdc").unwrap();
    assert_eq!((mesh.triangles.len(), mesh.positions.len()), (1, 3));
    assert!(mesh.smoothing == [Mesh::FLAT] && mesh.parts[0].object == "m", "{mesh:?}");
    // Neither a unit nor a scheme of subdivision is named.
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[test]
fn values_of_an_unknown_kind_are_left_out_and_named() {
    let mut file = File::triangle();
    file.properties.push(("st", LIST | 99 << 48 | 88));
    file.properties.push(("edited", LIST | 1 << 60 | INT | 88));
    let (mesh, warnings) = load_bytes(&file.bytes(), "usdc").unwrap();
    assert_eq!(mesh.triangles.len(), 1);
    for name in ["st: a value of a kind", "edited: a value of a kind"] {
        assert!(warnings.iter().any(|warning| warning.0.contains(name)), "{warnings:?}");
    }
}

#[test]
fn other_versions_and_damage_are_refused_in_a_line() {
    let broken = |change: &dyn Fn(&mut File)| {
        let mut file = File::triangle();
        change(&mut file);
        file.refusal()
    };
    let beyond = LIST | INT | 1 << 40;
    for (refusal, says) in [
        (broken(&|file| file.version = 3), "version 0.3"),
        (broken(&|file| file.version = 17), "usdcat"),
        (broken(&|file| file.prims = vec!["m".into(); 300]), "deeper than 256"),
        (broken(&|file| file.properties[0].1 = beyond), "beyond its end"),
        (broken(&|file| file.properties[2].1 |= 1 << 40), "beyond its end"),
        // A text as the type, and a list of names that the file does not have.
        (broken(&|file| file.properties.push(("t", INSIDE | TOKEN | 99))), "a name that it does not have"),
        // A packed list of points, which are never packed.
        (
            broken(&|file| {
                let place = file.place(&[&20u64.to_le_bytes()[..], &packed_integers(&[7; 20])].concat());
                file.properties[2].1 = LIST | PACKED | POINTS | place;
            }),
            "does not unpack",
        ),
        // More numbers than the bytes can hold.
        (
            broken(&|file| {
                let place = file.place(&[&4000u64.to_le_bytes()[..], &packed_integers(&[7; 20])].concat());
                file.properties[0].1 = LIST | PACKED | INT | place;
            }),
            "does not unpack",
        ),
        (
            broken(&|file| {
                let place = file.place(&u64::MAX.to_le_bytes());
                file.properties[0].1 = LIST | PACKED | INT | place;
            }),
            "split it",
        ),
        (
            broken(&|file| {
                let place = file.place(&3000u64.to_le_bytes());
                file.properties[0].1 = LIST | INT | place;
            }),
            "announced",
        ),
    ] {
        assert!(refusal.contains(says) && !refusal.contains('\n'), "{says}: {refusal}");
    }
    // A file without its end has no contents.
    let whole = File::triangle().bytes();
    let cut = load_bytes(&whole[..whole.len() - 40], "usdc").unwrap_err().message;
    assert!(cut.contains("announced"), "{cut}");
}

#[test]
fn lists_that_prims_share_are_counted_before_they_are_copied() {
    let mut file = File::triangle();
    // 100,000 times 7, of which each is the last and 0: 25 KB of codes without a difference.
    let count = 100_000u64;
    let codes = [&7i32.to_le_bytes()[..], &vec![0; 25_000]].concat();
    let place = file.place(&[&count.to_le_bytes()[..], &packed(&codes)].concat());
    let names: Vec<&'static str> = vec!["a"; 40];
    file.properties.extend(names.into_iter().map(|name| (name, LIST | PACKED | INT | place)));
    let refusal = file.refusal();
    assert!(refusal.contains("split it"), "{refusal}");
    file.properties.truncate(8);
    assert!(load_bytes(&file.bytes(), "usdc").is_ok());
}

#[test]
fn paths_that_go_round_are_refused() {
    let mut file = File::triangle().bytes();
    let place = |file: &[u8], wanted: &[u8]| file.windows(wanted.len()).position(|w| w == wanted).unwrap();
    // The numbers of paths stand in differences of 0, 1, 1 and so on; a difference of -1 names one again.
    let section = place(&file, b"PATHS\0");
    let start = u64::from_le_bytes(file[section + 16..section + 24].try_into().unwrap()) as usize;
    let first = [0i32, 1, 1, 1].map(i32::to_le_bytes).concat();
    let at = start + place(&file[start..], &first);
    file[at + 8..at + 12].copy_from_slice(&(-1i32).to_le_bytes());
    let refusal = load_bytes(&file, "usdc").unwrap_err().message;
    assert!(refusal.contains("no tree"), "{refusal}");
}

#[test]
fn counts_beyond_what_the_bytes_can_hold_take_no_memory() {
    assert!(integers(&[0; 40], 1 << 40, false).is_none() && unpack_all(&[0; 40], 1 << 40).is_none());
    assert!(integers(&[], 0, false).is_none() && unpack_all(&[], 0).is_none());
    let mut budget = Budget::of(&[0; 100]);
    assert!(budget.take(1 << 20).is_ok() && budget.take(1 << 20).is_err());
    // What has been refused is not taken.
    assert!(budget.take(64 * 100).is_ok() && budget.take(1).is_err());
}

/// What a file says of its lists is compared with the memory that is free, however small the file is.
#[test]
fn lists_that_would_not_fit_into_the_free_memory_are_refused_by_their_lengths() {
    let refused = |budget: &mut Budget, words: usize| format!("{:?}", budget.take(words).unwrap_err());
    let mut budget = Budget::within(1 << 20, Some(80 << 20));
    assert!(budget.take(10 << 20).is_ok(), "all that is free may be taken");
    let told = refused(&mut budget, 10 << 20);
    assert!(told.contains("about 0.17 GB of memory are needed and 0.08 GB are free"), "{told}");
    // Planted error to see this fail: leave out what is free.
    let told = refused(&mut Budget::within(1 << 20, Some(4 << 30)), 66 << 20);
    assert!(told.contains("far more than its size"), "{told}");
    assert!(Budget::within(1 << 20, None).take(65 << 20).is_ok());
}

#[test]
fn blocks_and_widths_of_integers_are_those_of_the_format() {
    // 1, then 2 by the common difference, 300 by two bytes and -70,000 by four.
    let codes = 0b11_10_00_00u8;
    let mut bytes = [&1i32.to_le_bytes()[..], &[codes]].concat();
    bytes.extend([298i16.to_le_bytes().as_slice(), &(-70_300i32).to_le_bytes()].concat());
    let block = packed(&bytes)[8..].to_vec();
    let numbers = [1, 2, 300, -70_000];
    assert_eq!(integers(&block, 4, false).unwrap(), numbers);
    // The same bytes in two blocks.
    let (first, second) = bytes.split_at(3);
    let mut blocks = vec![2];
    for part in [first, second] {
        let part = packed(part)[9..].to_vec();
        blocks.extend((part.len() as i32).to_le_bytes());
        blocks.extend(part);
    }
    assert_eq!(integers(&blocks, 4, false).unwrap(), numbers);
    // Of eight bytes: the differences have two, four and eight.
    let codes = 0b11_10_01_00u8;
    let mut bytes = [&(-3i64).to_le_bytes()[..], &[codes]].concat();
    bytes.extend(
        [5i16.to_le_bytes().as_slice(), &70_000i32.to_le_bytes(), &(1i64 << 40).to_le_bytes()].concat(),
    );
    let block = packed(&bytes)[8..].to_vec();
    assert_eq!(integers(&block, 4, true).unwrap(), [-3, 2, 70_002, 70_002 + (1 << 40)]);
    // A number short of what is announced.
    assert!(integers(&block, 5, true).is_none());
}
