//! STL, text and binary (also binary that starts with "solid"). In: bytes. Out: triangles with shared vertices.

use super::{
    Mesh, topology,
    unchecked::{Problem, UncheckedMesh, number},
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

/// Whether the bytes start like a text file.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(2048)];
    start.starts_with(b"solid") && start.windows(5).any(|w| w == b"facet") && !start.contains(&0)
}

/// Reads either kind into `unchecked`.
pub(super) fn read(bytes: &[u8], unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    let binary = is_binary(bytes) || !(bytes.trim_ascii_start().starts_with(b"solid"));
    let corners = if binary { read_binary(bytes, unchecked)? } else { read_text(bytes, unchecked)? };
    let whole = corners.len() - corners.len() % 3;
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
    let float = |record: &[u8], k: usize| {
        record.get(k..k + 4).and_then(|b| b.try_into().ok()).map_or(f32::NAN, f32::from_le_bytes)
    };
    let corner = |record: &[u8], k: usize| std::array::from_fn(|axis| float(record, 12 + 12 * k + 4 * axis));
    let triangles = records.chunks_exact(RECORD).take(count);
    let mut corners = Vec::with_capacity(3 * count.min(there));
    for r in triangles {
        unchecked.pace.go_on()?;
        corners.extend([corner(r, 0), corner(r, 1), corner(r, 2)]);
    }
    Ok(corners)
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
                let mut next = || words.next().and_then(number).map(|x| x as f32);
                let (Some(x), Some(y), Some(z)) = (next(), next(), next()) else {
                    return Err(Problem::at_text(
                        offset,
                        "a vertex needs three numbers; repair or export it again",
                    ));
                };
                corners.push([x, y, z]);
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
    fn a_bad_number_names_its_line() {
        let message = load_bytes(TEXT.replace("1e0", "one").as_bytes(), "stl").unwrap_err().message;
        assert!(message.contains("line 6"), "{message}");
    }
}
