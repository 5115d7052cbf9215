//! Files as a walker of its own reads them, against a ball's distances, the octree's own volume, and fixed first bytes.

use std::{collections::BTreeMap, sync::Arc};

use super::*;
use crate::{ExportPiece, Placing, import::import, voxelize::Progress};

/// A grid as it is read back: the values of active voxels, of voxels in blocks that are not active, and of the rest.
struct Read {
    name: String,
    class: String,
    numbers: Vec<f64>,
    background: f32,
    active: BTreeMap<[i32; 3], f32>,
    passive: BTreeMap<[i32; 3], f32>,
}

/// Reads from bytes, by what the format says and not by what wrote them.
struct Walker<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Bits = Vec<bool>;

impl Walker<'_> {
    fn take(&mut self, count: usize) -> &[u8] {
        self.at += count;
        &self.bytes[self.at - count..self.at]
    }
    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }
    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }
    fn float(&mut self) -> f32 {
        f32::from_bits(self.word())
    }
    fn text(&mut self) -> String {
        let count = self.word() as usize;
        String::from_utf8(self.take(count).to_vec()).unwrap()
    }
    fn notes(&mut self) -> BTreeMap<String, String> {
        let count = self.word();
        (0..count)
            .map(|_| {
                let name = self.text();
                assert_eq!(self.text(), "string");
                (name, self.text())
            })
            .collect()
    }
    fn bits(&mut self, count: usize) -> Bits {
        let bytes = self.take(count / 8).to_vec();
        (0..count).map(|k| bytes[k / 8] >> (k % 8) & 1 == 1).collect()
    }
    /// All values of a node whose active ones are those of `mask`.
    fn values(&mut self, mask: &[bool], background: f32) -> Vec<f32> {
        let kind = self.take(1)[0];
        let outside = match kind {
            0 => vec![true; mask.len()],
            3 => self.bits(mask.len()),
            _ => panic!("a kind of compression that is not written: {kind}"),
        };
        let value = |(on, out): (&bool, bool)| match (on, out) {
            (true, _) => self.float(),
            (false, true) => background,
            (false, false) => -background,
        };
        mask.iter().zip(outside).map(value).collect()
    }

    fn grid(&mut self) -> Read {
        let (name, tree, of) = (self.text(), self.text(), self.text());
        assert_eq!((tree.as_str(), of.as_str()), ("Tree_float_5_4_3", ""));
        let [begin, blocks, end] = [(); 3].map(|()| self.long() as usize);
        assert_eq!((begin, self.word()), (self.at - 4, 2));
        let notes = self.notes();
        assert_eq!((&notes["name"], self.text().as_str()), (&name, "UniformScaleTranslateMap"));
        let numbers = (0..18).map(|_| f64::from_bits(self.long())).collect();
        assert_eq!(self.word(), 1);
        let background = self.float();
        assert_eq!(self.word(), 0);
        let (mut active, mut passive, mut leaves) =
            (BTreeMap::<[i32; 3], f32>::new(), BTreeMap::<[i32; 3], f32>::new(), Vec::new());
        let child = |low: [i32; 3], k: usize, log: u32, size: i32| -> [i32; 3] {
            let mask = (1 << log) - 1;
            let at = [k >> (2 * log), k >> log & mask, k & mask];
            std::array::from_fn(|axis| low[axis] + at[axis] as i32 * size)
        };
        for _ in 0..self.word() {
            let root: [i32; 3] = std::array::from_fn(|_| self.word() as i32);
            let (upper, tiles) = (self.bits(32768), self.bits(32768));
            assert!(!tiles.contains(&true) && self.take(1) == [0]);
            for node in (0..32768).filter(|k| upper[*k]) {
                let node = child(root, node, 5, 128);
                let (lower, tiles) = (self.bits(4096), self.bits(4096));
                let values = self.values(&tiles, background);
                for (k, ((is_leaf, is_tile), value)) in lower.into_iter().zip(tiles).zip(values).enumerate() {
                    let low = child(node, k, 4, 8);
                    if is_leaf {
                        leaves.push((low, self.bits(512)));
                    } else if is_tile || value != background {
                        let into = if is_tile { &mut active } else { &mut passive };
                        into.extend((0..512).map(|v| (child(low, v, 3, 1), value)));
                    }
                }
            }
        }
        assert_eq!(self.at, blocks);
        for (low, mask) in leaves {
            assert_eq!(self.bits(512), mask);
            for (k, value) in self.values(&mask, background).into_iter().enumerate() {
                let into = if mask[k] { &mut active } else { &mut passive };
                into.insert(child(low, k, 3, 1), value);
            }
        }
        assert_eq!(self.at, end);
        Read { name, class: notes["class"].clone(), numbers, background, active, passive }
    }
}

/// Pieces, each a whole built-in shape, as a format writes them.
fn written(format: &FormatEntry, shapes: &[(&str, u32)], target: Option<Target>) -> (Vec<u8>, Assembly) {
    let pieces = shapes.iter().enumerate().map(|(id, (name, level))| ExportPiece {
        id,
        shape: Arc::clone(&import(&format!("builtin:{name}"), *level, &Progress::default()).unwrap().shape),
        placing: Placing::UNMOVED,
        object: None,
        cell: None,
        parent: None,
        generation: 0,
        insides: Default::default(),
        called: None,
    });
    let mut what = Assembly { pieces: pieces.collect(), ..Assembly::default() };
    what.handover.target = target;
    let path =
        std::env::temp_dir().join(format!("kintsugi-{}-{}-{target:?}.vdb", format.name, std::process::id()));
    assert!((format.write)(&path, &what, &Watch::whole(&Progress::default())).unwrap().is_empty());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    (bytes, what)
}

fn read(bytes: &[u8]) -> Vec<Read> {
    let mut walker = Walker { bytes, at: 0 };
    assert_eq!(walker.take(8), b" BDV\0\0\0\0");
    assert_eq!([(); 3].map(|()| walker.word()), [224, 10, 0]);
    assert_eq!(walker.take(37), b"\x016b696e74-7375-6769-8000-766f78656c73");
    assert!(walker.notes()["creator"].starts_with("kintsugi "));
    let count = walker.word();
    let grids = (0..count).map(|_| walker.grid()).collect();
    assert_eq!(walker.at, bytes.len());
    grids
}

#[test]
fn a_level_set_has_the_distances_to_a_ball() {
    for target in [None, Some(Target::Blender)] {
        let (bytes, what) = written(&FORMAT, &[("sphere", 6), ("box", 4)], target);
        let grids = read(&bytes);
        assert_eq!(
            grids.iter().map(|grid| grid.name.as_str()).collect::<Vec<_>>(),
            ["piece_000", "piece_001"]
        );
        let ball = &grids[0];
        let octree = what.pieces[0].octree().unwrap();
        let (voxel, origin) = (ball.numbers[3], DVec3::from_slice(&ball.numbers[..3]));
        assert_eq!(
            (ball.class.as_str(), voxel, ball.background),
            ("level set", octree.grid.h, 3.0 * voxel as f32)
        );
        let middle = what.handover.space(&FORMAT).point(what.pieces[0].shape.mass().centre);
        let radius = octree.grid.h * (octree.mass.volume * 0.75 / std::f64::consts::PI).cbrt();
        let exact = |cell: &[i32; 3]| {
            let place = origin + DVec3::from_array(cell.map(f64::from)) * voxel;
            place.distance(middle) - radius
        };
        assert!(ball.active.len() > 10_000);
        for (cell, value) in &ball.active {
            let off = (f64::from(*value) - exact(cell)) / voxel;
            assert!(off.abs() < 0.3, "{cell:?}: {value} is off by {off} voxels");
        }
        for (cell, value) in &ball.passive {
            let exact = exact(cell);
            assert!(value.abs() == ball.background && exact.abs() > 2.6 * voxel);
            assert_eq!(exact < 0.0, *value < 0.0, "{cell:?}");
        }
        // All around the surface, and deep inside, no voxel is missing.
        let reach = (radius / voxel) as i32 + 1;
        let inside = (-reach..=reach).map(|x| ((middle.x - origin.x) / voxel) as i32 + x);
        for x in inside {
            let cell = [x, ((middle.y - origin.y) / voxel) as i32, ((middle.z - origin.z) / voxel) as i32];
            let held = ball.active.contains_key(&cell) || ball.passive.contains_key(&cell);
            assert!(held, "{cell:?}");
        }
    }
}

#[test]
fn a_fog_volume_has_the_octrees_volume() {
    let (bytes, what) = written(&FOG, &[("vase", 6)], None);
    let (fog, octree) = (&read(&bytes)[0], what.pieces[0].octree().unwrap());
    assert_eq!((fog.class.as_str(), fog.background), ("fog volume", 0.0));
    let sum: f64 = fog.active.values().map(|value| f64::from(*value)).sum();
    assert!((sum - octree.mass.volume).abs() < 1e-3 * sum, "{sum} for {}", octree.mass.volume);
    assert!(fog.active.values().all(|value| *value > 0.0 && *value <= 1.0));
    assert!(fog.passive.values().all(|value| *value == 0.0));
    // Every leaf is where the octree has it.
    let leaves = &octree.forest.leaves;
    for leaf in octree.leaves() {
        let cell = decode(leaves.keys.at(leaf)).map(|v| v as i32);
        assert_eq!(fog.active.get(&cell).copied().unwrap_or(0.0), leaves.coverage[leaf], "{cell:?}");
    }
}

#[test]
fn what_is_turned_is_refused() {
    let (_, mut what) = written(&FORMAT, &[("box", 3)], None);
    what.pieces[0].placing.rotation = glam::DQuat::from_xyzw(0.0, 0.6, 0.0, 0.8);
    let path = std::env::temp_dir().join(format!("kintsugi-turned-{}.vdb", std::process::id()));
    let error = (FORMAT.write)(&path, &what, &Watch::whole(&Progress::default())).unwrap_err();
    assert!(error.to_string().contains("cannot be turned"), "{error}");
    std::fs::remove_file(path).unwrap();
}
