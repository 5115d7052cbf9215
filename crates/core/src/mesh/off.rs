//! OFF with its prefixes (ST, C, N): polygons, vertex and face colours, comments. In: bytes. Out: triangles.

use super::unchecked::{FaceColors, MISSING, Problem, UncheckedMesh, byte, number};

/// Lines without comments and blank lines, with their byte offsets.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    fn next_words(&mut self) -> Option<(usize, Vec<&'a [u8]>)> {
        while self.at < self.bytes.len() {
            let start = self.at;
            let rest = &self.bytes[start..];
            let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
            self.at += length + 1;
            let line = rest[..length].split(|&b| b == b'#').next().unwrap_or_default();
            let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
            if !words.is_empty() {
                return Some((start, words));
            }
        }
        None
    }
}

/// Reads an OFF file into `unchecked`.
pub(super) fn read(bytes: &[u8], unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    let mut lines = Lines { bytes, at: 0 };
    let cut_short = || Problem::at_text(bytes.len(), "ends too early; export it again");
    let (at, mut words) = lines.next_words().ok_or_else(cut_short)?;
    let mut prefix: &[u8] = b"";
    if let Some(kind) = words[0].strip_suffix(b"OFF") {
        prefix = kind;
        words.remove(0);
        if words.first().is_some_and(|w| w.eq_ignore_ascii_case(b"BINARY")) {
            return Err(Problem::at_text(at, "binary OFF is not read; convert it to text OFF or to PLY"));
        }
    } else if number(words[0]).is_none() {
        return Err(Problem::at_text(at, "does not start with OFF; check what kind of file it is"));
    }
    if prefix.iter().any(|c| c.is_ascii_digit() || *c == b'n') {
        return Err(Problem::at_text(at, "only three dimensions are read; convert it to plain OFF"));
    }
    let has = |letter: u8| prefix.contains(&letter);
    let (colored, normals, textured) = (has(b'C'), has(b'N'), prefix.starts_with(b"ST"));
    let (at, words) = if words.is_empty() { lines.next_words().ok_or_else(cut_short)? } else { (at, words) };
    let count = |k: usize| {
        words
            .get(k)
            .and_then(|w| std::str::from_utf8(w).ok())
            .and_then(|w| w.parse::<usize>().ok())
            .ok_or_else(|| {
                Problem::at_text(at, "the counts of vertices and faces are missing; export it again")
            })
    };
    let (vertices, faces) = (count(0)?, count(1)?);
    // "0 0 0" and its line break are six bytes, "1 0" four; the last line may lack its break.
    let left = bytes.len() + 1 - lines.at.min(bytes.len());
    if vertices > left / 6 || faces > left / 2 {
        let what = format!(
            "the header promises {vertices} vertices and {faces} faces, more than {left} bytes can hold; the file is damaged"
        );
        return Err(Problem::at_text(at, what));
    }
    let (mut clear, mut behind) = (0usize, 0usize);
    for _ in 0..vertices {
        unchecked.pace.go_on()?;
        let (at, words) = lines.next_words().ok_or_else(cut_short)?;
        let value = |k: usize| words.get(k).copied().and_then(number);
        let [Some(x), Some(y), Some(z)] = [value(0), value(1), value(2)] else {
            return Err(Problem::at_text(at, "a vertex needs three numbers; repair or export it again"));
        };
        unchecked.push_position([x, y, z]);
        if normals {
            unchecked.mesh.normals.push([3, 4, 5].map(|k| value(k).unwrap_or(0.0) as f32));
        }
        let after_normal = if normals { 6 } else { 3 };
        let (most, uvs) = (if colored { 4 } else { 0 }, if textured { 2 } else { 0 });
        let rest = words.get(after_normal..).unwrap_or_default();
        let own = &rest[..rest.len().saturating_sub(uvs)];
        behind += usize::from(own.len() > most);
        if colored {
            unchecked.mesh.colors.push(color(rest).unwrap_or([255; 3]));
            clear += usize::from(is_clear(own));
        }
        if textured && words.len() >= after_normal + 2 {
            let uv = [words.len() - 2, words.len() - 1].map(|k| value(k).unwrap_or(0.0) as f32);
            unchecked.mesh.uvs.push(uv);
        }
    }
    for (what, count) in [("opacity of the colours", clear), ("other numbers", behind)] {
        if count > 0 {
            unchecked.warn(format!("the {what} of {count} vertices left out"));
        }
    }
    read_faces(&mut lines, faces, unchecked, bytes)?;
    unchecked.settle_positions();
    Ok(())
}

fn read_faces(
    lines: &mut Lines,
    faces: usize,
    unchecked: &mut UncheckedMesh,
    bytes: &[u8],
) -> Result<(), Problem> {
    let mut palette = FaceColors::default();
    let mut corners = Vec::new();
    let (mut clear, mut numbered) = (0usize, 0usize);
    for face in 0..faces {
        unchecked.pace.go_on()?;
        let Some((at, words)) = lines.next_words() else {
            let what = format!("ends after {face} of {faces} faces; export it again");
            return Err(Problem::at_text(bytes.len(), what));
        };
        let size = number(words[0]).unwrap_or(-1.0);
        if size < 0.0 || size as usize >= words.len() {
            return Err(Problem::at_text(
                at,
                "a face needs its size and as many indices; repair or export it again",
            ));
        }
        let size = size as usize;
        corners.clear();
        corners.extend(words[1..=size].iter().map(|w| {
            let index = std::str::from_utf8(w).ok().and_then(|w| w.parse::<u32>().ok());
            index.unwrap_or(MISSING)
        }));
        let behind = &words[size + 1..];
        let painted = color(behind);
        clear += usize::from(is_clear(behind));
        numbered += usize::from(painted.is_none() && !behind.is_empty());
        let material = palette.material(painted, unchecked);
        unchecked.push_polygon(&corners, Some(material));
    }
    if palette.are_none() {
        unchecked.mesh.materials.clear();
    }
    for (what, count) in [("opacity of the colours", clear), ("colours by number", numbered)] {
        if count > 0 {
            unchecked.warn(format!("the {what} of {count} faces left out"));
        }
    }
    Ok(())
}

/// Whether a colour has a fourth number that says less than opaque.
fn is_clear(words: &[&[u8]]) -> bool {
    let Some([channels @ .., opacity]) = words.first_chunk::<4>() else { return false };
    let full = if are_whole(channels) { 255.0 } else { 1.0 };
    number(opacity).is_some_and(|x| x < full)
}

/// Whether the channels of a colour are bytes.
fn are_whole(channels: &[&[u8]]) -> bool {
    channels.iter().all(|w| !w.contains(&b'.') && !w.contains(&b'e'))
}

/// A colour of three or four numbers: integers are bytes, others fractions. A single number is a colour map index and
/// ignored.
fn color(words: &[&[u8]]) -> Option<[u8; 3]> {
    let channels = words.get(..3)?;
    let whole = are_whole(channels);
    let values: Option<Vec<f32>> = channels.iter().map(|w| number(w).map(|x| x as f32)).collect();
    let [r, g, b] = *values?.as_slice() else { return None };
    Some([r, g, b].map(|x| byte(if whole { x / 255.0 } else { x })))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::load_bytes;

    pub const COLORED: &str = concat!(
        "COFF # with colours\n\n4 2 0\n0 0 0 255 0 0 255\r\n1 0 0 0 255 0 255\n# a comment\n",
        "1 1 0 0 0 255 255\n0 1 0 9 9 9 255\n4 0 1 2 3\n3 0 1 2 0.5 0.25 0.0\n",
    );

    #[test]
    fn normals_come_before_colours() {
        let text = "CNOFF\n3 1 0\n0 0 0 0 0 3 255 0 0\n1 0 0 0 0 0 0 255 0\n0 1 0 1 0 1 0 0 255\n3 0 1 2\n";
        let (mesh, _) = load_bytes(text.as_bytes(), "off").unwrap();
        let half = 0.5_f32.sqrt();
        assert_eq!(mesh.normals, [[0.0, 0.0, 1.0], [0.0; 3], [half, 0.0, half]]);
        assert_eq!(mesh.colors, [[255, 0, 0], [0, 255, 0], [0, 0, 255]]);
    }

    #[test]
    fn polygons_colours_and_comments() {
        let (mesh, warnings) = load_bytes(COLORED.as_bytes(), "off").unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
        assert_eq!(mesh.colors, [[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]]);
        assert_eq!(mesh.triangle_material, [0, 0, 1]);
        assert_eq!(mesh.materials[1].color, [128, 64, 0]);
        assert!(warnings.is_empty());
    }

    #[test]
    fn opacity_and_numbers_that_stand_for_nothing_are_named() {
        let said = |text: &str| {
            let warnings = load_bytes(text.as_bytes(), "off").unwrap().1;
            warnings.into_iter().map(|warning| warning.0).collect::<Vec<_>>()
        };
        let clear = COLORED
            .replace("0 0 0 255 0 0 255", "0 0 0 255 0 0 254")
            .replace("0.0\n", "0.0 0.5\n")
            .replace("9 9 9 255", "9.0 9 9 1");
        let wanted = [
            "the opacity of the colours of 1 vertices left out",
            "the opacity of the colours of 1 faces left out",
        ];
        assert_eq!(said(&clear), wanted);
        let plain = "OFF\n3 1 0\n0 0 0 9\n1 0 0\n0 1 0\n3 0 1 2 7\n";
        let wanted =
            ["the other numbers of 1 vertices left out", "the colours by number of 1 faces left out"];
        assert_eq!(said(plain), wanted);
        // Coordinates stand last.
        assert_eq!(
            said("STCOFF\n3 1 0\n0 0 0 1 2 3 255 0 0\n1 0 0 1 2 3 1 0\n0 1 0 1 2 3 0 1\n3 0 1 2\n"),
            [""; 0]
        );
    }

    #[test]
    fn the_counts_may_follow_on_the_first_line() {
        let (mesh, _) = load_bytes(b"OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", "off").unwrap();
        assert_eq!((mesh.triangles.len(), mesh.materials.len()), (1, 0));
    }

    #[test]
    fn promises_beyond_the_file_and_bad_faces_name_their_line() {
        for (text, expected) in [
            ("OFF\n4000000000 4000000000 0\n0 0 0\n", "line 2: the header promises 4000000000"),
            ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n7 0 1 2\n", "line 6: a face"),
            ("OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n", "line 4: a vertex"),
            ("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "ends after 1 of 2"),
            ("OFF BINARY\n", "convert"),
        ] {
            let message = load_bytes(text.as_bytes(), "off").unwrap_err().message;
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn indices_out_of_range_and_nan_are_dropped_with_a_warning() {
        let text = "OFF\n5 4 0\n0 0 0\n1 0 0\n0 1 0\nnan 0 0\ninf 1 1\n3 0 1 2\n3 0 1 9\n3 0 1 -1\n3 1 2 3\n";
        let (mesh, warnings) = load_bytes(text.as_bytes(), "off").unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        assert!(warnings[0].0.starts_with("2 triangles dropped: vertex index"), "{warnings:?}");
        assert!(warnings[1].0.starts_with("1 triangle dropped: NaN"), "{warnings:?}");
        assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
        let none = load_bytes(text.replace("3 0 1 2\n", "3 0 0 1\n").as_bytes(), "off").unwrap_err().message;
        assert!(none.contains("no usable triangle"), "{none}");
    }
}
