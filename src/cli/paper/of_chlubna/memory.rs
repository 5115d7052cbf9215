//! Figure 11: the vertices and indices of one fragment in a buffer for graphics devices.
//!
//! In: the paper's icosphere, broken by box cutting into a GLB file. Out: a drawing to scale of the file's buffer and of
//! the bytes of one fragment in it, and a table with offsets and lengths.

use serde_json::Value;

use super::{
    super::{
        entry::{Made, Table, number},
        svg::{Anchor, COLORS, Drawing, FAINT, INK, Pen},
        work::Work,
    },
    meshes::icosphere,
};
use crate::cli::CliError;

/// The file that box cutting leaves, and which of its fragments is drawn.
const FILE: &str = "pieces/pieces.glb";
const FRAGMENT: usize = 3;
/// Width of the drawing, pixels.
const WIDE: f64 = 1056.0;

/// A run of bytes in the file's buffer.
#[derive(Debug, PartialEq)]
struct Part {
    /// The attribute of glTF, or `indices`.
    holds: String,
    /// The material of its surface.
    surface: String,
    from: u64,
    bytes: u64,
    items: u64,
}

impl Part {
    /// Bytes of an item in the paper's buffers, and the colour of the part.
    fn published(&self) -> (Option<f64>, &'static str) {
        match self.holds.as_str() {
            "POSITION" | "NORMAL" => (Some(12.0), COLORS[5]),
            "TEXCOORD_0" => (Some(8.0), COLORS[5]),
            "indices" => (Some(4.0), COLORS[1]),
            _ => (None, FAINT),
        }
    }
}

/// From the first byte of parts to behind the last one.
fn span(parts: &[Part]) -> [f64; 2] {
    let from = parts.first().map_or(0, |part| part.from);
    [from, parts.last().map_or(from, |part| part.from + part.bytes)].map(|at| at as f64)
}

/// The parts of each mesh of a GLB file by ascending offset; nothing where the bytes are no such file.
fn fragments(glb: &[u8]) -> Option<Vec<Vec<Part>>> {
    let length = u32::from_le_bytes(glb.get(12..16)?.try_into().ok()?);
    let document: Value = serde_json::from_slice(glb.get(20..)?.get(..length as usize)?).ok()?;
    let item = |list: &str, at: &Value| document.get(list)?.get(usize::try_from(at.as_u64()?).ok()?);
    let part = |holds: &str, surface: &Value, accessor: &Value| {
        let accessor = item("accessors", accessor)?;
        let view = item("bufferViews", accessor.get("bufferView")?)?;
        let [from, bytes] = ["byteOffset", "byteLength"].map(|name| view.get(name).and_then(Value::as_u64));
        let items = accessor.get("count")?.as_u64()?;
        let surface = item("materials", surface.get("material")?)?.get("name")?.as_str()?.to_owned();
        Some(Part { holds: holds.to_owned(), surface, from: from?, bytes: bytes?, items })
    };
    let fragment = |mesh: &Value| {
        let mut parts = Vec::new();
        for surface in mesh.get("primitives")?.as_array()? {
            for (holds, accessor) in surface.get("attributes")?.as_object()? {
                parts.push(part(holds, surface, accessor)?);
            }
            parts.push(part("indices", surface, surface.get("indices")?)?);
        }
        parts.sort_by_key(|part| part.from);
        Some(parts)
    };
    document.get("meshes")?.as_array()?.iter().map(fragment).collect()
}

/// All fragments, and below them the parts of one, each as wide as the drawing.
fn drawn(all: &[Vec<Part>], parts: &[Part]) -> Drawing {
    let mut drawing = Drawing::new([0.0, 0.0], [WIDE, 190.0], WIDE + 24.0);
    let whole = all.last().map_or(1.0, |last| span(last)[1]);
    let [from, end] = span(parts);
    let mut bar = |[left, right]: [f64; 2], [low, high]: [f64; 2], area: &str, number: usize| {
        drawing.rectangle([left, low], [right, high], &Pen { area, ..Pen::default() });
        let middle = [0.5 * (left + right), 0.5 * (low + high)];
        drawing.text(middle, &number.to_string(), 11.0, Anchor::Middle, INK);
    };
    for (k, other) in all.iter().enumerate() {
        let area = if k == FRAGMENT { "#ffffff" } else { "#f1efea" };
        bar(span(other).map(|at| at / whole * WIDE), [140.0, 180.0], area, k);
    }
    for (part, number) in parts.iter().zip(1..) {
        let own = span(std::slice::from_ref(part)).map(|at| (at - from) / (end - from) * WIDE);
        bar(own, [30.0, 70.0], part.published().1, number);
    }
    for (at, edge, anchor) in [(from, 0.0, Anchor::Start), (end, WIDE, Anchor::End)] {
        let pen = Pen { dashed: true, ..Pen::line(FAINT, 1.2) };
        drawing.line([at / whole * WIDE, 140.0], [edge, 70.0], &pen);
        drawing.text([edge, 14.0], &format!("byte {at}"), 12.0, anchor, INK);
    }
    drawing
}

/// Figure 11.
pub fn fragment(work: &mut Work<'_>) -> Result<Made, CliError> {
    work.write("icosphere.obj", &icosphere())?;
    work.run_line(
        "fracture icosphere.obj --level 5 --method box-cut --pattern inward --seeds 10 --format glb --out pieces",
    )?;
    let glb = std::fs::read(work.folder().join(FILE))
        .map_err(|e| CliError::Outcome(format!("{FILE}: the command left no such file: {e}")))?;
    let all = fragments(&glb).unwrap_or_default();
    let parts = all.get(FRAGMENT).filter(|parts| !parts.is_empty());
    let parts = parts.ok_or_else(|| CliError::Outcome(format!("{FILE} has no fragment {FRAGMENT}")))?;
    work.write("fragment.svg", &drawn(&all, parts).svg())?;
    let mut table = Table::new(
        "The bytes of the fragment",
        &["part", "surface", "holds", "from byte", "bytes", "items", "bytes an item", "in the paper"],
    );
    for (part, k) in parts.iter().zip(1..) {
        let each = part.bytes as f64 / part.items.max(1) as f64;
        let counts = [k, part.from, part.bytes, part.items].map(|count| count.to_string());
        let [k, from, bytes, items] = counts;
        let (each, published) = (number(Some(each), 0), number(part.published().0, 0));
        table.row([k, part.surface.clone(), part.holds.clone(), from, bytes, items, each, published]);
    }
    let caption = "Above the ten fragments in the buffer of a GLB file, below the bytes of one of them with the parts of the \
                   table, both to scale. Blue: what a vertex of the paper has, too; grey: further attributes; orange: indices.";
    let note = "In the paper a vertex is a record of 32 bytes in one buffer of the device, and indices are in a second one. A \
                GLB file, made to be copied to a device as it is, has one buffer with an array for each attribute: those of \
                the outside with their indices, then those of the cracks. The program's own pictures are drawn by rays, from \
                another form of these triangles.";
    Ok(Made::picture("fragment.svg", caption).table(table).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A GLB file with two meshes, of which one has its accessors in another order than their bytes.
    fn file() -> Vec<u8> {
        let document = serde_json::json!({
            "bufferViews": [
                { "byteOffset": 96, "byteLength": 12 }, { "byteOffset": 0, "byteLength": 48 },
                { "byteOffset": 48, "byteLength": 48 }, { "byteOffset": 108, "byteLength": 16 },
            ],
            "accessors": [
                { "bufferView": 0, "count": 3 }, { "bufferView": 1, "count": 4 },
                { "bufferView": 2, "count": 4 }, { "bufferView": 3, "count": 4 },
            ],
            "materials": [{ "name": "outside" }],
            "meshes": [
                { "primitives": [{ "material": 0, "attributes": { "NORMAL": 2, "POSITION": 1, "_PIECE": 3 }, "indices": 0 }] },
                { "primitives": [] },
            ],
        });
        let text = document.to_string().into_bytes();
        let mut file = vec![0u8; 12];
        file.extend((text.len() as u32).to_le_bytes());
        file.extend([0; 4]);
        file.extend(text);
        file
    }

    #[test]
    fn parts_are_read_with_their_bytes_in_order() {
        let all = fragments(&file()).unwrap();
        assert_eq!((all.len(), all[1].len()), (2, 0));
        let found: Vec<(&str, u64, u64)> =
            all[0].iter().map(|part| (part.holds.as_str(), part.from, part.bytes)).collect();
        // Planted error to see this fail: leave out the sort.
        assert_eq!(
            found,
            [("POSITION", 0, 48), ("NORMAL", 48, 48), ("indices", 96, 12), ("_PIECE", 108, 16)]
        );
        assert_eq!(span(&all[0]), [0.0, 124.0]);
        // What has its own size in the paper has it here.
        for part in &all[0] {
            let each = part.bytes as f64 / part.items as f64;
            assert!(part.published().0.is_none_or(|published| published == each), "{part:?}");
        }
        // One fragment above, four parts below, two offsets.
        assert_eq!(drawn(&all[..1], &all[0]).svg().matches("<text").count(), 1 + 4 + 2);
    }

    #[test]
    fn a_file_that_ends_early_has_no_parts() {
        let whole = file();
        for end in [0, 13, 20, whole.len() - 1] {
            assert_eq!(fragments(&whole[..end]), None);
        }
    }
}
