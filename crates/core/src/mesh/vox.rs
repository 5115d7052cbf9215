//! MagicaVoxel files: the exposed faces of all voxels. In: bytes. Out: triangles in the palette's colours, one unit per
//! voxel, z up rotated to y up.
//!
//! The file's scene graph places the models; the first frame of animated ones is used, hidden ones are skipped, and
//! where models overlap the later one is visible.

use std::collections::HashMap;

use dot_vox::{Dict, DotVoxData, Model, SceneNode, Voxel};
use rayon::prelude::*;

use super::unchecked::{CORNER_LIMIT, Pace, Problem, UncheckedMesh};

/// Limit of voxels over all placed models: 5 times a full model of the largest size.
const MOST_VOXELS: usize = 80 << 20;
/// Limit of exposed faces: two triangles each.
const MOST_FACES: usize = CORNER_LIMIT / 6;
/// Limit of the depth of nodes.
const MOST_DEPTH: usize = 64;
/// Limit of visited nodes: a graph may refer to the same node from many places.
const MOST_VISITS: usize = 1 << 16;
/// Limit of a voxel's coordinate: three of these fit into a [`key`], and 32-bit floats can represent its corners.
const FARTHEST: i64 = 1 << 20;
/// Bits of a [`key`] per axis.
const BITS: u32 = 21;

type Cell = [i32; 3];

/// A cell as a number; adjacent cells along an axis differ by a constant.
fn key(cell: Cell) -> u64 {
    cell.iter().fold(0, |key, v| key << BITS | (i64::from(*v) + FARTHEST) as u64)
}

/// The cell of a [`key`].
fn cell_of(key: u64) -> Cell {
    [2, 1, 0].map(|k| ((key >> (k * BITS) & ((1 << BITS) - 1)) as i64 - FARTHEST) as i32)
}

/// Whether the bytes are the start of a file.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(b"VOX ")
}

/// Reads a file into `unchecked`.
pub(super) fn read(bytes: &[u8], unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    check_chunks(bytes, unchecked)?;
    unchecked.pace.go_on_now()?;
    let data = dot_vox::load_bytes(bytes).map_err(|_| Problem::whole("is damaged; export it again"))?;
    if data.models.iter().all(|model| model.voxels.is_empty()) {
        return Err(Problem::whole("holds no voxels; export a model that has some"));
    }
    let voxels = placed(&data, unchecked)?;
    if voxels.is_empty() {
        return Err(Problem::whole("shows no voxels: every model is hidden; show one and export it again"));
    }
    look_at_materials(&voxels, &data, unchecked);
    build(&voxels, &data, unchecked)
}

/// Notes the kinds of materials, other than plain colours, that shown voxels have.
fn look_at_materials(voxels: &[(u64, u8)], data: &DotVoxData, unchecked: &mut UncheckedMesh) {
    let mut is_shown = [false; 256];
    voxels.iter().for_each(|(_, color)| is_shown[usize::from(*color)] = true);
    for material in &data.materials {
        // The file counts colours from 1.
        let color = (material.id as usize).wrapping_sub(1);
        let kind = material.material_type().unwrap_or_default().trim_start_matches('_');
        if !matches!(kind, "" | "diffuse") && is_shown.get(color) == Some(&true) {
            unchecked.left_out.note("materials of voxels", kind);
        }
    }
}

/// Chunks that are read, and those that say how the program shows a model (its cameras, its light, names of colours).
const KNOWN: [&[u8; 4]; 13] = [
    b"SIZE", b"XYZI", b"RGBA", b"MATL", b"nTRN", b"nGRP", b"nSHP", b"LAYR", b"IMAP", b"PACK", b"rOBJ",
    b"rCAM", b"NOTE",
];

/// The parser crate recurses into nested chunks as deep as a file has them, so only the outermost chunk may have
/// children.
fn check_chunks(bytes: &[u8], unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    let word = |at: usize| {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(word) as usize)
    };
    let short = || Problem::at_byte(bytes.len(), "ends too early; export it again");
    let contents = word(12).ok_or_else(short)?;
    let mut at = contents.checked_add(20).ok_or_else(short)?;
    while at + 12 <= bytes.len() {
        let (Some(contents), Some(children)) = (word(at + 4), word(at + 8)) else { return Err(short()) };
        if children > 0 {
            return Err(Problem::at_byte(at, "a chunk has chunks of its own; export it again"));
        }
        let name = &bytes[at..at + 4];
        if KNOWN.iter().all(|known| known.as_slice() != name) {
            unchecked.left_out.note("chunks", &String::from_utf8_lossy(name));
        }
        at = at.saturating_add(12).saturating_add(contents);
    }
    Ok(())
}

/// A rotation by right angles, then a translation: from a model's cells to the file's.
#[derive(Clone, Copy)]
struct Place {
    /// For each axis of the result its source axis and sign.
    rows: [(usize, i64); 3],
    shift: [i64; 3],
}

impl Place {
    const HERE: Self = Self { rows: [(0, 1), (1, 1), (2, 1)], shift: [0; 3] };

    /// The transform of a node's first frame: `_r` packs the first two rows' axes and all signs in a byte, `_t` is
    /// three numbers.
    fn of_frame(attributes: &Dict) -> Option<Self> {
        let mut place = Self::HERE;
        if let Some(byte) = attributes.get("_r") {
            let byte: u8 = byte.trim().parse().ok()?;
            let (first, second) = (usize::from(byte & 3), usize::from(byte >> 2 & 3));
            if first > 2 || second > 2 || first == second {
                return None;
            }
            let sign = |bit: u8| if byte >> bit & 1 == 1 { -1 } else { 1 };
            place.rows = [(first, sign(4)), (second, sign(5)), (3 - first - second, sign(6))];
        }
        if let Some(text) = attributes.get("_t") {
            let mut words = text.split_whitespace().map(|word| word.parse::<i32>().ok());
            for shift in &mut place.shift {
                *shift = i64::from(words.next()??);
            }
        }
        Some(place)
    }

    fn turned(&self, v: [i64; 3]) -> [i64; 3] {
        self.rows.map(|(axis, sign)| v[axis] * sign)
    }

    /// The composition: first `inner`, then this one.
    fn after(&self, inner: &Self) -> Self {
        let turned = self.turned(inner.shift);
        Self {
            rows: self.rows.map(|(axis, sign)| (inner.rows[axis].0, inner.rows[axis].1 * sign)),
            shift: [0, 1, 2].map(|k| turned[k].saturating_add(self.shift[k])),
        }
    }

    /// The cell of a model's voxel; models rotate about their centre, rounded down.
    fn cell(&self, voxel: [u8; 3], size: [u32; 3]) -> Option<Cell> {
        // Cells' centres in units of half a cell, so that rotations map cells to cells.
        let middle = [0, 1, 2].map(|k| 2 * (i64::from(voxel[k]) - i64::from(size[k] / 2)) + 1);
        let turned = self.turned(middle);
        let at = [0, 1, 2].map(|k| (turned[k] - 1) / 2 + self.shift[k]);
        at.iter().all(|v| v.abs() < FARTHEST - 1).then(|| at.map(|v| v as i32))
    }
}

/// Every voxel's [`key`], ascending, and palette index.
fn placed(data: &DotVoxData, unchecked: &mut UncheckedMesh) -> Result<Vec<(u64, u8)>, Problem> {
    let mut voxels = Vec::new();
    let (mut count, mut faces) = (0usize, 0usize);
    // Faces of each model by itself, counted where it is placed first: before a model is placed any number of times.
    let mut known: HashMap<usize, usize> = HashMap::new();
    let mut pace = unchecked.pace.clone();
    let mut add = |number: usize, place: &Place| -> Result<bool, Problem> {
        let Some(model) = data.models.get(number) else { return Ok(false) };
        faces += match known.get(&number) {
            Some(faces) => *faces,
            None => *known.entry(number).or_insert(faces_of(model, &mut pace)?),
        };
        if faces > MOST_FACES {
            return Err(too_many_faces());
        }
        count += model.voxels.len();
        if count > MOST_VOXELS {
            return Err(Problem::whole(format!(
                "places more than {MOST_VOXELS} voxels; export fewer models"
            )));
        }
        let size = [model.size.x, model.size.y, model.size.z].map(|v| v.min(256));
        for v in &model.voxels {
            pace.go_on()?;
            let Some(cell) = place.cell([v.x, v.y, v.z], size) else {
                return Err(Problem::whole("a model lies too far away; move it to the origin"));
            };
            voxels.push((key(cell), v.i));
        }
        Ok(true)
    };
    if data.scenes.is_empty() {
        for model in 0..data.models.len() {
            add(model, &Place::HERE)?;
        }
        return Ok(once(voxels));
    }
    let (mut missing, mut visits, mut hidden_nodes, mut is_animated) = (0usize, 0usize, 0usize, false);
    let hidden_layer = |layer: u32| data.layers.get(layer as usize).is_some_and(dot_vox::Layer::hidden);
    let mut open = vec![(0u32, Place::HERE, 0usize)];
    while let Some((node, place, depth)) = open.pop() {
        visits += 1;
        if depth > MOST_DEPTH || visits > MOST_VISITS {
            return Err(Problem::whole("its scene goes in circles; export it again"));
        }
        match data.scenes.get(node as usize) {
            None => missing += 1,
            Some(SceneNode::Transform { attributes, frames, child, layer_id }) => {
                let hidden = attributes.get("_hidden").is_some_and(|v| v == "1") || hidden_layer(*layer_id);
                let frame = frames.first().map_or(Some(Place::HERE), |f| Place::of_frame(&f.attributes));
                let own = frame.unwrap_or_else(|| {
                    unchecked.warn("a node's place could not be read; it stays where it is");
                    Place::HERE
                });
                is_animated |= frames.len() > 1 && !hidden;
                if hidden {
                    hidden_nodes += 1;
                } else {
                    open.push((*child, place.after(&own), depth + 1));
                }
            }
            // Pushed in reverse, so that they are popped in the file's order.
            Some(SceneNode::Group { children, .. }) => {
                open.extend(children.iter().rev().map(|child| (*child, place, depth + 1)));
            }
            Some(SceneNode::Shape { models, .. }) => {
                is_animated |= models.len() > 1;
                let there = models.first().map(|model| add(model.model_id as usize, &place)).transpose()?;
                missing += usize::from(there != Some(true));
            }
        }
    }
    if hidden_nodes > 0 {
        unchecked.warn(format!("the hidden models of the file left out ({hidden_nodes})"));
    }
    if is_animated {
        unchecked.warn("the animation of the file left out: its models stand as in the first frame");
    }
    if missing > 0 {
        unchecked.warn(format!("{missing} parts of its scene are missing from the file; they are left out"));
    }
    Ok(once(voxels))
}

/// The exposed faces of a model that stands alone.
fn faces_of(model: &Model, pace: &mut Pace) -> Result<usize, Problem> {
    let key_of = |v: &Voxel| key([v.x, v.y, v.z].map(i32::from));
    let voxels = once(model.voxels.iter().map(|v| (key_of(v), v.i)).collect());
    let mut faces = 0;
    each_face(&voxels, pace, |_, _, _, _| {
        faces += 1;
        Ok(())
    })?;
    Ok(faces)
}

fn too_many_faces() -> Problem {
    Problem::whole(format!("its voxels show more than {MOST_FACES} faces; export fewer models"))
}

/// Sorts voxels; of several in one cell the last one stays.
fn once(mut voxels: Vec<(u64, u8)>) -> Vec<(u64, u8)> {
    voxels.par_sort_by_key(|(key, _)| *key);
    voxels.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            *kept = *next;
        }
        same
    });
    voxels
}

/// Visits every exposed face of sorted voxels: the cell and colour, the axis, and whether the face is on its low side.
fn each_face(
    voxels: &[(u64, u8)],
    pace: &mut Pace,
    mut visit: impl FnMut(Cell, u8, usize, bool) -> Result<(), Problem>,
) -> Result<(), Problem> {
    // For each side, the first voxel not before the neighbour's cell; it only ever advances.
    let mut beside = [0usize; 6];
    for (own, color) in voxels.iter().copied() {
        pace.go_on()?;
        for axis in 0..3 {
            for (side, turn) in [(0, false), (1, true)] {
                let step = 1u64 << ((2 - axis as u32) * BITS);
                let beyond = if turn { own - step } else { own + step };
                let at = &mut beside[2 * axis + side];
                while voxels.get(*at).is_some_and(|(key, _)| *key < beyond) {
                    *at += 1;
                }
                if voxels.get(*at).is_none_or(|(key, _)| *key != beyond) {
                    visit(cell_of(own), color, axis, turn)?;
                }
            }
        }
    }
    Ok(())
}

/// Builds exposed faces, two triangles each; corners of the same colour are shared.
fn build(voxels: &[(u64, u8)], data: &DotVoxData, unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    let mut known: HashMap<(Cell, u8), u32> = HashMap::new();
    let UncheckedMesh { mesh, pace, .. } = unchecked;
    let mut transparent = false;
    each_face(voxels, pace, |cell, color, axis, turn| {
        if mesh.triangles.len() >= 2 * MOST_FACES {
            return Err(too_many_faces());
        }
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[a, b]| {
            let mut corner = cell;
            corner[axis] += i32::from(!turn);
            corner[u] += a;
            corner[v] += b;
            *known.entry((corner, color)).or_insert_with(|| {
                let [x, y, z] = corner.map(|c| c as f32);
                let shown = data.palette.get(usize::from(color)).copied();
                mesh.positions.push([x, z, -y]);
                mesh.colors.push(shown.map_or([255; 3], |c| [c.r, c.g, c.b]));
                transparent |= shown.is_some_and(|c| c.a < 255);
                mesh.positions.len() as u32 - 1
            })
        });
        if turn {
            quad.reverse();
        }
        mesh.triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
        Ok(())
    })?;
    if transparent {
        unchecked.warn("transparent colours are read as opaque ones");
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::{
        super::{check, load_bytes},
        *,
    };
    use dot_vox::{Color, Frame, ShapeModel, Size};

    fn model(size: [u32; 3], voxels: &[[u8; 4]]) -> Model {
        let voxels = voxels.iter().map(|[x, y, z, i]| Voxel { x: *x, y: *y, z: *z, i: *i }).collect();
        Model { size: Size { x: size[0], y: size[1], z: size[2] }, voxels }
    }

    fn transform(child: u32, attributes: &[(&str, &str)], frame: &[(&str, &str)]) -> SceneNode {
        let dict =
            |all: &[(&str, &str)]| all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        SceneNode::Transform {
            attributes: dict(attributes),
            frames: vec![Frame::new(dict(frame))],
            child,
            layer_id: 0,
        }
    }

    fn shape(model_id: u32) -> SceneNode {
        let models = vec![ShapeModel { model_id, attributes: Dict::default() }];
        SceneNode::Shape { attributes: Dict::default(), models }
    }

    fn file(models: Vec<Model>, scenes: Vec<SceneNode>) -> Vec<u8> {
        let mut palette = vec![Color { r: 0, g: 0, b: 0, a: 255 }; 256];
        palette[1] = Color { r: 200, g: 10, b: 20, a: 255 };
        palette[2] = Color { r: 30, g: 220, b: 40, a: 128 };
        let data = DotVoxData {
            version: 150,
            index_map: Vec::new(),
            models,
            palette,
            materials: Vec::new(),
            scenes,
            layers: Vec::new(),
        };
        let mut bytes = Vec::new();
        data.write_vox(&mut bytes).unwrap();
        bytes
    }

    /// Two models, one of them turned, in a group; for the tests of damaged files.
    pub fn scene() -> Vec<u8> {
        let group = SceneNode::Group { attributes: Dict::default(), children: vec![2, 4] };
        file(
            vec![model([2, 1, 1], &[[0, 0, 0, 1], [1, 0, 0, 1]]), model([1, 1, 3], &[[0, 0, 2, 2]])],
            vec![
                transform(1, &[], &[]),
                group,
                // x to y, y to -x.
                transform(3, &[], &[("_r", "17"), ("_t", "10 0 0")]),
                shape(0),
                transform(5, &[], &[("_t", "0 0 5")]),
                shape(1),
            ],
        )
    }

    fn bounds(mesh: &super::super::Mesh) -> ([f32; 3], [f32; 3]) {
        let of = |pick: fn(f32, f32) -> f32, from: f32| {
            mesh.positions.iter().fold([from; 3], |all, p| [0, 1, 2].map(|k| pick(all[k], p[k])))
        };
        (of(f32::min, f32::INFINITY), of(f32::max, f32::NEG_INFINITY))
    }

    #[test]
    fn voxels_are_closed_solids_in_their_colours() {
        let bytes = file(vec![model([2, 3, 4], &[[0, 0, 0, 1], [1, 0, 0, 2], [1, 2, 3, 1]])], Vec::new());
        let (mesh, warnings) = load_bytes(&bytes, "vox").unwrap();
        let health = check(&mesh).1;
        assert!(
            health.closed && health.flipped_triangles == 0 && (health.volume - 3.0).abs() < 1e-6,
            "{health:?}"
        );
        assert_eq!(mesh.triangles.len(), 2 * (10 + 6));
        assert!(warnings.iter().any(|w| w.0.contains("transparent")));
        assert!(mesh.colors.contains(&[200, 10, 20]) && mesh.colors.contains(&[30, 220, 40]));
        // z of the file is up, so the file's topmost voxel is at the top.
        assert_eq!(bounds(&mesh), ([-1.0, -2.0, -2.0], [1.0, 2.0, 1.0]));
    }

    #[test]
    fn faces_are_those_that_no_voxel_lies_against() {
        let mut random = 1u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8 % 13
        };
        let voxels: Vec<[u8; 4]> = (0..900).map(|_| [next(), next(), next(), 1]).collect();
        let (mesh, _) = load_bytes(&file(vec![model([13; 3], &voxels)], Vec::new()), "vox").unwrap();
        let there: std::collections::HashSet<[i16; 3]> =
            voxels.iter().map(|v| [0, 1, 2].map(|k| i16::from(v[k]))).collect();
        let bare = |v: &[i16; 3]| {
            let beside = |(axis, step): &(usize, i16)| {
                let mut at = *v;
                at[*axis] += step;
                !there.contains(&at)
            };
            (0..3).flat_map(|axis| [(axis, 1), (axis, -1)]).filter(beside).count()
        };
        assert!(there.len() > 500);
        assert_eq!(mesh.triangles.len(), 2 * there.iter().map(bare).sum::<usize>());
        assert!((check(&mesh).1.volume - there.len() as f64).abs() < 1e-3);
    }

    #[test]
    fn models_lie_where_the_scene_puts_them() {
        let (mesh, _) = load_bytes(&scene(), "vox").unwrap();
        // The first model: 2 voxels along x, rotated to lie along y, about x = 10. The second: one voxel at z = 6.
        let first: Vec<[f32; 3]> =
            mesh.positions.iter().zip(&mesh.colors).filter(|(_, c)| c[0] == 200).map(|(p, _)| *p).collect();
        let low = [0, 1, 2].map(|k| first.iter().map(|p| p[k]).fold(f32::INFINITY, f32::min));
        let high = [0, 1, 2].map(|k| first.iter().map(|p| p[k]).fold(f32::NEG_INFINITY, f32::max));
        assert_eq!([high[0] - low[0], high[1] - low[1], high[2] - low[2]], [1.0, 1.0, 2.0]);
        assert!((9.0..=10.0).contains(&low[0]));
        assert_eq!(bounds(&mesh).1[1], 7.0);
        assert!((check(&mesh).1.volume - 3.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_hidden_or_lies_under_another_is_left_out() {
        let one = || model([1, 1, 1], &[[0, 0, 0, 1]]);
        let other = || model([1, 1, 1], &[[0, 0, 0, 2]]);
        let group = || SceneNode::Group { attributes: Dict::default(), children: vec![2, 4] };
        let scenes = |hidden: &[(&str, &str)]| {
            vec![
                transform(1, &[], &[]),
                group(),
                transform(3, hidden, &[]),
                shape(0),
                transform(5, &[], &[]),
                shape(1),
            ]
        };
        for hidden in [&[][..], &[("_hidden", "1")]] {
            let (mesh, _) = load_bytes(&file(vec![one(), other()], scenes(hidden)), "vox").unwrap();
            assert!(mesh.triangles.len() == 12 && mesh.colors.iter().all(|c| *c == [30, 220, 40]));
        }
    }

    #[test]
    fn materials_that_shown_voxels_have_and_other_frames_are_named() {
        let of = |id: u32, kind: &str| {
            let properties = [("_type".to_owned(), kind.to_owned())].into_iter().collect();
            dot_vox::Material { id, properties }
        };
        let frames = vec![Frame::new(Dict::default()), Frame::new(Dict::default())];
        let moving = SceneNode::Transform { attributes: Dict::default(), frames, child: 3, layer_id: 0 };
        let group = SceneNode::Group { attributes: Dict::default(), children: vec![2, 4] };
        let data = DotVoxData {
            version: 150,
            index_map: Vec::new(),
            models: vec![model([2, 1, 1], &[[0, 0, 0, 1], [1, 0, 0, 4]])],
            palette: vec![Color { r: 9, g: 9, b: 9, a: 255 }; 256],
            materials: vec![of(1, "_diffuse"), of(2, "_emit"), of(3, "_glass"), of(5, "_metal")],
            scenes: vec![
                transform(1, &[], &[]),
                group,
                moving,
                shape(0),
                transform(5, &[("_hidden", "1")], &[]),
                shape(0),
            ],
            layers: Vec::new(),
        };
        let mut bytes = Vec::new();
        data.write_vox(&mut bytes).unwrap();
        // What shows a model is no loss, and an unknown chunk is one.
        bytes.extend(b"rCAM\0\0\0\0\0\0\0\0WIND\0\0\0\0\0\0\0\0");
        let (_, warnings) = load_bytes(&bytes, "vox").unwrap();
        let said: Vec<&str> = warnings.iter().map(|warning| warning.0.as_str()).collect();
        let wanted = [
            "the hidden models of the file left out (1)",
            "the animation of the file left out: its models stand as in the first frame",
            "chunks left out: WIND",
            "materials of voxels left out: emit, metal",
        ];
        assert_eq!(said, wanted);
    }

    #[test]
    fn damage_is_refused_in_one_line() {
        let one = || model([1, 1, 1], &[[0, 0, 0, 1]]);
        let circle = vec![transform(0, &[], &[])];
        let far = vec![transform(1, &[], &[("_t", "2147483647 0 0")]), shape(0)];
        let mut nested = b"VOX \x96\0\0\0MAIN\0\0\0\0\x18\0\0\0".to_vec();
        nested.extend(b"PACK\0\0\0\0\x0c\0\0\0PACK\0\0\0\0\0\0\0\0");
        for (bytes, wanted) in [
            (file(vec![one()], circle), "circles"),
            (file(vec![one()], far), "too far"),
            (file(vec![model([1, 1, 1], &[])], Vec::new()), "no voxels"),
            (file(vec![one()], vec![transform(1, &[("_hidden", "1")], &[]), shape(0)]), "hidden"),
            (nested, "chunks of its own"),
            (b"VOX \x96\0\0\0".to_vec(), "too early"),
        ] {
            let message = load_bytes(&bytes, "vox").unwrap_err().message;
            assert!(message.contains(wanted) && !message.contains('\n'), "{message}");
        }
        let absent = file(vec![one()], vec![transform(1, &[], &[]), shape(7)]);
        assert!(load_bytes(&absent, "vox").is_err());
    }
}
