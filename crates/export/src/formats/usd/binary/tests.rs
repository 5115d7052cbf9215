//! Binary layers: the fields of each path, read back by the reader of meshes; and pieces against the text of the same.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3, Vec3};

use super::super::tests::piece;
use super::*;
use crate::{
    Format, PieceOrigin,
    debris::{Debris, Grain, GrainKind, Surroundings},
    mesh::{UsdField, load, usd_fields},
    motion::{Motion, MotionKey, MotionTrack},
    voxelize::Progress,
};

const TEXT: &str = r#"#usda 1.0
(
    defaultPrim = "a"
    doc = "say \"it\""
    metersPerUnit = 0.1
    timeCodesPerSecond = 24
)

def Xform "a" (
    kind = "component"
    prepend apiSchemas = ["One", "Two"]
    customData = {
        int number = 3
        string[] names = ["x\\y", "z"]
    }
)
{
    bool on = 1
    int64 long = -5
    quatf turn = (1, 2, 3, 4)
    double moved.timeSamples = {
        2: 4,
        0: 0.25,
        0: 0.5,
    }
    uniform token[] order = ["one", "two"]

    def Mesh "b"
    {
        rel material:binding = </a/c>
        color3f inputs:x.connect = </a/c.outputs:y>
        asset file = @./a b.png@
"#;

/// A layer of [`TEXT`] with two lists: bytes, and the fields of each path by name.
fn layer(name: &str) -> (Vec<u8>, BTreeMap<String, Vec<UsdField>>) {
    let path = std::env::temp_dir().join(format!("kintsugi-usdc-{name}-{}.usdc", std::process::id()));
    let mut out = Binary::create(&path).unwrap();
    // Where a buffer cuts the text in two says nothing.
    TEXT.as_bytes().chunks(7).for_each(|part| out.write_all(part).unwrap());
    out.list("point3f[] points", [Vec3::X, Vec3::new(-0.5, 2.0, 1e9)].into_iter()).unwrap();
    out.write_all(b" (\n interpolation = \"vertex\"\n )\n").unwrap();
    out.list("int[] numbers", (0..100u32).map(|i| i * i)).unwrap();
    out.write_all(b"\n    }\n\n    def Scope \"c\"\n    {\n        token outputs:y\n    }\n}\n").unwrap();
    out.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let fields = usd_fields(&bytes).unwrap();
    assert!(
        fields.iter().enumerate().all(|(k, (path, _))| fields[..k].iter().all(|(other, _)| other != path))
    );
    (bytes, fields.into_iter().collect())
}

/// Fails where a statement, a value or metadata of the text is lost, or comes to another path.
#[test]
fn what_the_text_says_stands_at_its_paths() {
    let (bytes, fields) = layer("fields");
    assert!(bytes == layer("again").0, "the same bytes twice");
    let field = |path: &str, name: &str| {
        let found = fields[path].iter().find(|(of, ..)| of == name);
        found.unwrap_or_else(|| panic!("{path} has no {name}: {:?}", fields[path])).clone()
    };
    for (path, name, wanted) in [
        ("", "defaultPrim", "a"),
        ("", "documentation", "say \"it\""),
        ("/a", "kind", "component"),
        ("/a/b", "typeName", "Mesh"),
        ("/a/b.points", "typeName", "point3f[]"),
        ("/a/b.points", "interpolation", "vertex"),
        ("/a/b.inputs:x", "typeName", "color3f"),
        ("/a/c.outputs:y", "typeName", "token"),
        ("/a.order", "typeName", "token[]"),
    ] {
        assert_eq!(field(path, name).2, wanted, "{path} {name}");
    }
    // Kinds: bool, int64 and float in their words, and whether an attribute is uniform.
    let inside = |kind: u64, value: u32| 1 << 62 | kind << 48 | u64::from(value);
    assert_eq!(field("", "timeCodesPerSecond").1, inside(9, 24f32.to_bits()));
    assert_eq!(field("/a.on", "default").1, inside(1, 1));
    assert_eq!(field("/a.order", "variability").1, inside(44, 1));
    assert!(fields["/a.on"].iter().all(|(name, ..)| name != "variability"));
    // Others are at their places: kind, and the bytes there.
    let there = |path: &str, name: &str, kind: u64, count: usize| {
        let word = field(path, name).1;
        assert_eq!(word >> 48, kind, "{path} {name}: {word:x}");
        bytes[(word & ((1 << 48) - 1)) as usize..][..count].to_vec()
    };
    let eight = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    assert_eq!(there("", "metersPerUnit", 9, 8), 0.1f64.to_le_bytes());
    assert_eq!(there("/a.long", "default", 5, 8), (-5i64).to_le_bytes());
    assert_eq!(there("/a.turn", "default", 17, 16), [2f32, 3.0, 4.0, 1.0].map(f32::to_le_bytes).concat());
    assert_eq!(there("/a", "apiSchemas", 32, 9)[..], [&[1u8 << 5][..], &2u64.to_le_bytes()].concat());
    assert_eq!(eight(&there("/a", "customData", 31, 8)), 2);
    assert_eq!(eight(&there("/a", "primChildren", 41, 8)), 2);
    assert_eq!(eight(&there("/a", "properties", 41, 8)), 5);
    for (path, name) in [("/a/b.material:binding", "targetPaths"), ("/a/b.inputs:x", "connectionPaths")] {
        assert_eq!(there(path, name, 34, 9)[..], [&[3u8][..], &1u64.to_le_bytes()].concat(), "{path}");
    }
    let points = [1f32, 0.0, 0.0, -0.5, 2.0, 1e9].map(f32::to_le_bytes).concat();
    assert_eq!(
        there("/a/b.points", "default", 1 << 15 | 24, 32),
        [&2u64.to_le_bytes()[..], &points].concat()
    );
    assert_eq!(eight(&there("/a/b.numbers", "default", 1 << 15 | 1 << 13 | 3, 8)), 100);
    // Two times, ascending; of two values at one time the later one.
    let samples = there("/a.moved", "timeSamples", 46, 40);
    let times = eight(&samples[8..16]) & ((1 << 48) - 1);
    let times: Vec<f64> =
        bytes[times as usize..][..24].as_chunks::<8>().0.iter().map(|t| f64::from_bits(eight(t))).collect();
    assert!(times[0].to_bits() == 2 && times[1..] == [0.0, 2.0], "{times:?}");
    assert_eq!((eight(&samples[..8]), eight(&samples[16..24]), eight(&samples[24..32])), (8, 8, 2));
    assert_eq!(eight(&samples[32..]), inside(9, 0.5f32.to_bits()));
}

/// Planted error to see this fail: allow 2^32 entries, whose numbers are read as ones below 0.
#[test]
fn tables_end_where_their_numbers_do() {
    assert_eq!(tables::number((1 << 31) - 1).unwrap(), i32::MAX as u32);
    for length in [1 << 31, u32::MAX as usize, usize::MAX] {
        assert!(tables::number(length).unwrap_err().to_string().contains("lower --level"));
    }
}

/// Text that this exporter does not write is an error, and no file that says something else.
#[test]
fn what_is_not_known_is_refused() {
    let path = std::env::temp_dir().join(format!("kintsugi-usdc-refused-{}.usdc", std::process::id()));
    for (text, says) in [
        ("def Xform \"a\"\n{\n    matrix4d m = ((1))\n}\n", "matrix4d"),
        ("def Xform \"a\"\n{\n    float m = (1, 2)\n}\n", "length"),
        ("def Xform \"a\"\n{\n    float m.other = 2\n}\n", "other"),
        ("over \"a\"\n{\n}\n", "over"),
        ("def Xform \"a\n{\n}\n", "without an end"),
    ] {
        let mut out = Binary::create(&path).unwrap();
        out.write_all(text.as_bytes()).unwrap();
        let error = out.finish().unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("--format usda"), "{text}: {error}");
    }
    std::fs::remove_file(path).unwrap();
}

/// Fails where debris, samples of time or what pieces came of stop the binary layer, or where it opens as another one.
#[test]
fn what_moves_opens_as_its_text_does() {
    let key = |time, x| MotionKey { time, position: DVec3::X * x, rotation: DQuat::IDENTITY };
    let track = MotionTrack { keys: vec![key(0.0, 1.0), key(1.5, 0.25)], born: None, died: Some(1.5) };
    let around = Surroundings { gravity: DVec3::NEG_Y * 10.0, floor: Some(0.0) };
    let (position, velocity) = (DVec3::ONE, DVec3::X);
    let grain = Grain { born: 0.5, position, velocity, radius: 0.25, kind: GrainKind::Crumb };
    let nodes = vec!["a/\"b\"".to_owned(), "c\\d".to_owned()];
    let origin =
        PieceOrigin { object: "one, \"two\"".into(), instance: Some(3), nodes, ..PieceOrigin::default() };
    let what = Assembly {
        pieces: vec![piece()],
        motion: Some(Motion { tracks: vec![track], fps: 24.0, end: 2.0 }),
        debris: Some(Debris { grains: vec![grain], around }),
        origins: BTreeMap::from([(0, origin)]),
        ..Assembly::default()
    };
    let folder = std::env::temp_dir().join(format!("kintsugi-usdc-moving-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [binary, text] = [Format::Usdc, Format::Usda].map(|format| {
        crate::write(&what, format, &folder, &Watch::whole(&Progress::default())).unwrap();
        load(&folder.join(format.file)).unwrap()
    });
    assert_eq!(binary.1, text.1);
    assert!(binary.0.triangles == text.0.triangles && !text.0.triangles.is_empty());
    let places = binary.0.positions.iter().zip(&text.0.positions);
    assert!(places.into_iter().all(|(a, b)| Vec3::from(*a).distance(Vec3::from(*b)) < 1e-6));
    let fields = usd_fields(&std::fs::read(folder.join("pieces.usdc")).unwrap()).unwrap();
    let sampled = fields.iter().filter(|(_, own)| own.iter().any(|(name, ..)| name == "timeSamples"));
    // Three of the piece, six of the debris.
    assert_eq!(sampled.count(), 9, "{fields:?}");
    std::fs::remove_dir_all(folder).unwrap();
}
