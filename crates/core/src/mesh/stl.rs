//! STL, text and binary (also binary that starts with "solid"), with colours of facets. In: bytes. Out: triangles with
//! shared vertices.

use super::{
    Mesh, topology,
    unchecked::{FaceColors, Problem, UncheckedMesh, number},
};

const HEADER: usize = 84;
const RECORD: usize = 50;

fn promised(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(80..HEADER)?.try_into().ok()?;
    Some(u32::from_le_bytes(count) as usize)
}

/// Whether the file's length matches the count of a binary file exactly.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    promised(bytes)
        .is_some_and(|n| n > 0 && n.checked_mul(RECORD).is_some_and(|size| size + HEADER == bytes.len()))
}

/// Whether the bytes hold at least as many records as they promise. Text never does: letters would promise more than a
/// hundred million.
fn holds_its_records(bytes: &[u8]) -> bool {
    promised(bytes).is_some_and(|n| n > 0 && n.saturating_mul(RECORD) <= bytes.len() - HEADER)
}

/// Whether the bytes start like a text file.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(2048)];
    start.starts_with(b"solid") && start.windows(5).any(|w| w == b"facet") && !start.contains(&0)
}

/// Reads either kind into `unchecked`.
pub(super) fn read(bytes: &[u8], unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    let binary = holds_its_records(bytes) || !(bytes.trim_ascii_start().starts_with(b"solid"));
    let mut corners = if binary { read_binary(bytes, unchecked)? } else { read_text(bytes, unchecked)? };
    let whole = corners.len() - corners.len() % 3;
    if let Some((origin, warning)) = unchecked.doubles.settle(&mut corners) {
        unchecked.mesh.origin = origin;
        unchecked.warn(warning);
    }
    let mut soup = Mesh { positions: corners, ..Mesh::default() };
    soup.positions.truncate(whole);
    unchecked.pace.go_on_now()?;
    // Corners of neighbours are repeated bit by bit, so equal positions are one vertex.
    let weld = topology(&soup);
    unchecked.pace.go_on_now()?;
    let mut positions = vec![[0.0; 3]; weld.welded_count as usize];
    for (corner, &id) in weld.welded.iter().enumerate() {
        positions[id as usize] = soup.positions[corner];
    }
    unchecked.mesh.positions = positions;
    unchecked.mesh.triangles = weld.welded.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    Ok(())
}

fn read_binary(bytes: &[u8], unchecked: &mut UncheckedMesh) -> Result<Vec<[f32; 3]>, Problem> {
    let Some(count) = promised(bytes) else {
        return Err(Problem::at_byte(bytes.len(), "ends inside the header; export it again"));
    };
    let records = &bytes[HEADER..];
    let there = records.len() / RECORD;
    if count > there {
        unchecked
            .warn(format!("the header promises {count} triangles, the file holds {there}: those are read"));
    }
    let behind = records.len().saturating_sub(count.saturating_mul(RECORD));
    if behind > 0 && count > 0 {
        unchecked.warn(format!("{behind} bytes behind its {count} triangles are left out"));
    }
    let float = |record: &[u8], k: usize| {
        record.get(k..k + 4).and_then(|b| b.try_into().ok()).map_or(f32::NAN, f32::from_le_bytes)
    };
    let corner = |record: &[u8], k: usize| std::array::from_fn(|axis| float(record, 12 + 12 * k + 4 * axis));
    let triangles = records.chunks_exact(RECORD).take(count);
    let mut corners = Vec::with_capacity(3 * count.min(there));
    let mut words: Vec<u16> = Vec::with_capacity(count.min(there));
    for r in triangles {
        unchecked.pace.go_on()?;
        corners.extend([corner(r, 0), corner(r, 1), corner(r, 2)]);
        words.push(r.get(48..RECORD).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes));
    }
    paint(&bytes[..80], &words, unchecked);
    Ok(corners)
}

/// Bit of a facet's word by which `VisCAM` and `SolidView` say that it has a colour, and Magics that it has that of the
/// part.
const FLAG: u16 = 1 << 15;

/// Colours of facets from the words behind them. Magics writes the part's colour into the header, and red into a word's
/// lowest bits; `VisCAM` and `SolidView` have blue there.
fn paint(header: &[u8], words: &[u16], unchecked: &mut UncheckedMesh) {
    let part = header.windows(10).find_map(|at| at.strip_prefix(b"COLOR=")).map(|at| [at[0], at[1], at[2]]);
    let channel = |word: u16, at: u32| ((u32::from(word >> at & 31) * 255 + 15) / 31) as u8;
    // Some programs write a part's colour, and the words of the others.
    let is_magics = part.is_some() && words.iter().any(|word| *word != 0 && word & FLAG == 0);
    let has_words = words.iter().any(|word| word & FLAG != 0 && word & !FLAG != 0 && word & !FLAG != !FLAG);
    let color = |word: u16| match (is_magics, word & FLAG == 0) {
        (true, true) => Some([0, 5, 10].map(|at| channel(word, at))),
        (false, false) if has_words || part.is_none() => Some([10, 5, 0].map(|at| channel(word, at))),
        _ => part,
    };
    let others = words.iter().filter(|word| **word != 0 && color(**word).is_none()).count();
    if others > 0 {
        unchecked.warn(format!("the attribute bytes of {others} facets left out: they are no colours"));
    }
    if part.is_none() && words.iter().all(|word| color(*word).is_none()) {
        return;
    }
    let mut materials = FaceColors::default();
    for word in words {
        let material = materials.material(color(*word), unchecked);
        unchecked.mesh.triangle_material.push(material);
    }
}

fn read_text(bytes: &[u8], unchecked: &mut UncheckedMesh) -> Result<Vec<[f32; 3]>, Problem> {
    let mut corners: Vec<[f32; 3]> = Vec::new();
    let mut loop_start = 0;
    let mut skipped = 0;
    let mut offset = 0;
    for line in bytes.split(|&b| b == b'\n' || b == b'\r') {
        unchecked.pace.go_on()?;
        let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        // A line may contain several keywords; only "vertex" has relevant numbers.
        while let Some(word) = words.next() {
            if word.eq_ignore_ascii_case(b"vertex") {
                let mut next = || words.next().and_then(number);
                let (Some(x), Some(y), Some(z)) = (next(), next(), next()) else {
                    return Err(Problem::at_text(
                        offset,
                        "a vertex needs three numbers; repair or export it again",
                    ));
                };
                corners.push(unchecked.doubles.rounded(corners.len(), [x, y, z]));
            } else if word.eq_ignore_ascii_case(b"endloop") || word.eq_ignore_ascii_case(b"outer") {
                if corners.len() != loop_start && corners.len() != loop_start + 3 {
                    skipped += 1;
                    corners.truncate(loop_start);
                }
                loop_start = corners.len();
            } else if word.eq_ignore_ascii_case(b"solid") || word.eq_ignore_ascii_case(b"endsolid") {
                break; // the rest of the line is a name
            }
        }
        offset += line.len() + 1;
    }
    if corners.len() != loop_start && corners.len() != loop_start + 3 {
        skipped += 1;
        corners.truncate(loop_start);
    }
    if skipped > 0 {
        unchecked.warn(format!("{skipped} facets without exactly three vertices left out"));
    }
    Ok(corners)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::load_bytes;

    pub const TEXT: &str = concat!(
        "solid part one\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n",
        "   vertex 0 1e0 0\n  endloop\n endfacet\n facet normal 0 0 1\r\n outer loop\r\n",
        " vertex 1 0 0\r\n vertex 1 1 0\r\n vertex 0 1 0\r\n endloop\r\n endfacet\n",
        "endsolid part one\n",
    );

    /// A binary file whose header starts like a text file's.
    pub fn binary(count: u32) -> Vec<u8> {
        let mut bytes = b"solid looks like text".to_vec();
        bytes.resize(80, b' ');
        bytes.extend(count.to_le_bytes());
        for triangle in [
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0f32]],
            [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
        ] {
            bytes.extend([0; 12]);
            bytes.extend(triangle.iter().flatten().flat_map(|x: &f32| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn text_and_binary_give_the_same_shared_vertices() {
        let (text, warnings) = load_bytes(TEXT.as_bytes(), "stl").unwrap();
        assert_eq!((text.triangles.len(), text.positions.len(), warnings.len()), (2, 4, 0));
        let (binary, warnings) = load_bytes(&binary(2), "stl").unwrap();
        assert_eq!((&binary, warnings.len()), (&text, 0));
    }

    #[test]
    fn a_count_beyond_the_file_reads_what_is_there() {
        let mut bytes = binary(u32::MAX);
        bytes[0] = b'x';
        let (mesh, warnings) = load_bytes(&bytes, "stl").unwrap();
        assert_eq!(mesh.triangles.len(), 2);
        assert!(warnings[0].0.contains("promises 4294967295"));
        assert!(load_bytes(&bytes[..60], "stl").unwrap_err().message.contains("byte 60"));
    }

    #[test]
    fn bytes_behind_the_triangles_are_told_of() {
        let (whole, _) = load_bytes(&binary(2), "stl").unwrap();
        let (longer, warnings) = load_bytes(&[&binary(2)[..], b"\r\n\x1a"].concat(), "stl").unwrap();
        assert_eq!(longer, whole);
        assert!(
            warnings.len() == 1 && warnings[0].0.contains("3 bytes behind its 2 triangles"),
            "{warnings:?}"
        );
    }

    #[test]
    fn colours_of_facets_become_materials() {
        let read = |header: &[u8], words: [u16; 2]| {
            let mut bytes = binary(2);
            bytes[..header.len()].copy_from_slice(header);
            for (k, word) in words.iter().enumerate() {
                let end = 84 + 50 * (k + 1);
                bytes[end - 2..end].copy_from_slice(&word.to_le_bytes());
            }
            load_bytes(&bytes, "stl").unwrap()
        };
        let colors = |header: &[u8], words: [u16; 2]| {
            let (mesh, warnings) = read(header, words);
            assert!(warnings.is_empty(), "{warnings:?}");
            mesh.triangle_material.iter().map(|m| mesh.materials[*m as usize].color).collect::<Vec<_>>()
        };
        let (flag, low, high) = (1 << 15, 31, 31 << 10);
        let [red, blue, part] = [[255, 0, 0], [0, 0, 255], [10, 20, 30]];
        assert!(colors(b"solid", [0, 0]).is_empty());
        // What no program means as colours is named.
        for (words, count) in [([low, 7], 2), ([flag | low, 7], 1)] {
            let (mesh, warnings) = read(b"x", words);
            let said = format!("the attribute bytes of {count} facets left out: they are no colours");
            assert!(warnings.len() == 1 && warnings[0].0 == said, "{warnings:?}");
            assert_eq!(mesh.triangle_material.is_empty(), count == 2);
        }
        assert_eq!(colors(b"x", [flag | low, flag | high]), [blue, red]);
        assert_eq!(colors(b"x", [flag | low, 0]), [blue, [255; 3]]);
        let magics = b"x COLOR=\x0a\x14\x1e\xff,MATERIAL=";
        assert_eq!(colors(magics, [low, flag]), [red, part]);
        assert_eq!(colors(magics, [high, 0x7fff]), [blue, [255; 3]]);
        assert_eq!(colors(magics, [u16::MAX, flag]), [part, part]);
        assert_eq!(colors(magics, [0, 0]), [part, part]);
        // The words of VisCAM below a header of Magics.
        assert_eq!(colors(magics, [flag | high, flag | low]), [red, blue]);
    }

    #[test]
    fn a_bad_number_names_its_line() {
        let message = load_bytes(TEXT.replace("1e0", "one").as_bytes(), "stl").unwrap_err().message;
        assert!(message.contains("line 6"), "{message}");
    }
}
