//! Buffer views that `EXT_meshopt_compression` packs.
//!
//! In: the JSON and the buffers of a file. Out: by buffer view the bytes that it has unpacked, or a warning. The streams
//! are those of the extension: attributes (version 0), triangles and indices (version 1), with the filters for unit
//! vectors, rotations and shared exponents.
//!
//! Every byte of a stream is checked to be there. Attributes unpack to at most 64 times their bytes, and all views of a
//! file to at most [`UNPACKED_LIMIT`].

use std::borrow::Cow;

use super::{
    gltf_json::{Packed, Root},
    unchecked::{Problem, UncheckedMesh},
};

/// Limit of the bytes of all unpacked views: a small file can pack the same bytes any number of times.
pub(super) const UNPACKED_LIMIT: usize = 1 << 30;

/// Why a stream cannot be read.
type Why = &'static str;

const CUT: Why = "it is cut short";
const LONGER: Why = "it goes on behind its end";
const OTHER: Why = "its first byte is that of another version";

/// The unpacked bytes of each buffer view; `None` for one that is not packed. What cannot be unpacked is empty, since packed
/// bytes are no positions.
pub(super) fn unpacked(
    root: &Root,
    buffers: &[Cow<[u8]>],
    unchecked: &mut UncheckedMesh,
) -> Result<Vec<Option<Vec<u8>>>, Problem> {
    let mut left = UNPACKED_LIMIT;
    let mut all = Vec::with_capacity(root.buffer_views.len());
    for (number, view) in root.buffer_views.iter().enumerate() {
        let Some(packed) = &view.extensions.packed else {
            all.push(None);
            continue;
        };
        unchecked.pace.go_on_now()?;
        let end = packed.byte_offset.checked_add(packed.byte_length);
        let data =
            buffers.get(packed.buffer).zip(end).and_then(|(data, end)| data.get(packed.byte_offset..end));
        let bytes = data.ok_or(CUT).and_then(|data| unpack(data, packed, left));
        // What fails near its end takes as long as what does not.
        let size = packed.count.saturating_mul(packed.byte_stride);
        left -= if size <= left { size } else { 0 };
        if let Err(why) = &bytes {
            unchecked.warn(format!(
                "the packed data of buffer view {number} left out (EXT_meshopt_compression): {why}; export it plain"
            ));
        }
        all.push(Some(bytes.unwrap_or_default()));
    }
    Ok(all)
}

/// The bytes of a packed view, of which there may be `most`.
fn unpack(data: &[u8], packed: &Packed, most: usize) -> Result<Vec<u8>, Why> {
    let (count, stride) = (packed.count, packed.byte_stride);
    if count.checked_mul(stride).is_none_or(|size| size > most) {
        return Err("it is larger than all packed data may be");
    }
    let indices = |all: Vec<u32>| -> Result<Vec<u8>, Why> {
        match stride {
            2 => Ok(all.iter().flat_map(|i| (*i as u16).to_le_bytes()).collect()),
            4 => Ok(all.iter().flat_map(|i| i.to_le_bytes()).collect()),
            _ => Err("its indices have neither 2 nor 4 bytes"),
        }
    };
    match packed.mode.as_str() {
        "ATTRIBUTES" => {
            let mut bytes = attributes(data, count, stride)?;
            match (packed.filter.as_str(), stride) {
                ("" | "NONE", _) => {}
                ("OCTAHEDRAL", 4 | 8) => bytes.chunks_exact_mut(stride).for_each(octahedral),
                ("QUATERNION", 8) => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(rotation),
                ("EXPONENTIAL", _) => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(exponential),
                _ => return Err("its filter is not one of the extension's"),
            }
            Ok(bytes)
        }
        "TRIANGLES" => triangles(data, count).and_then(indices),
        "INDICES" => sequence(data, count).and_then(indices),
        _ => Err("its mode is not one of the extension's"),
    }
}

/// Bytes that are read in order.
struct Stream<'a> {
    left: &'a [u8],
}

impl<'a> Stream<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Why> {
        let (taken, left) = self.left.split_at_checked(count).ok_or(CUT)?;
        self.left = left;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Why> {
        Ok(self.take(1)?[0])
    }

    /// A number in groups of seven bits, the lowest first.
    fn number(&mut self) -> Result<u32, Why> {
        let mut number = 0;
        for group in 0..5 {
            let byte = self.byte()?;
            number |= u32::from(byte & 127) << (7 * group);
            if byte < 128 {
                break;
            }
        }
        Ok(number)
    }

    fn end(&self) -> Result<(), Why> {
        if self.left.is_empty() { Ok(()) } else { Err(LONGER) }
    }
}

/// The signed difference that an unsigned number stands for: 0, -1, 1, -2 and so on.
fn difference(number: u32) -> u32 {
    number >> 1 ^ 0u32.wrapping_sub(number & 1)
}

/// Elements of `stride` bytes: each byte as its difference from the same byte of the element before, in blocks.
fn attributes(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, Why> {
    if !(4..=256).contains(&stride) || !stride.is_multiple_of(4) {
        return Err("its elements have no multiple of 4 bytes up to 256");
    }
    let Some((0xa0, rest)) = data.split_first() else { return Err(OTHER) };
    // The stream ends with the element before the first one, behind zeros if it is short.
    let end = rest.len().checked_sub(stride.max(32)).ok_or(CUT)?;
    let mut before = rest[rest.len() - stride..].to_vec();
    let mut stream = Stream { left: &rest[..end] };
    let most = ((8192 / stride) & !15).min(256);
    let (mut out, mut lane) = (Vec::new(), [0; 256]);
    let mut done = 0;
    while done < count {
        let here = (count - done).min(most);
        out.resize((done + here) * stride, 0);
        for (at, value) in before.iter_mut().enumerate() {
            lane_of(&mut stream, &mut lane[..here.next_multiple_of(16)])?;
            for (k, number) in lane[..here].iter().enumerate() {
                *value = value.wrapping_add(difference(u32::from(*number)) as u8);
                out[(done + k) * stride + at] = *value;
            }
        }
        done += here;
    }
    stream.end().map(|()| out)
}

/// One byte of each element of a block, in groups of 16 with 0, 2, 4 or 8 bits each.
fn lane_of(stream: &mut Stream<'_>, lane: &mut [u8]) -> Result<(), Why> {
    let (groups, _) = lane.as_chunks_mut::<16>();
    let widths = stream.take(groups.len().div_ceil(4))?;
    for (number, group) in groups.iter_mut().enumerate() {
        match widths[number / 4] >> (2 * (number % 4)) & 3 {
            0 => group.fill(0),
            1 => narrow(stream, group, 2)?,
            2 => narrow(stream, group, 4)?,
            _ => group.copy_from_slice(stream.take(16)?),
        }
    }
    Ok(())
}

/// A group of numbers of this many bits, the highest bits of a byte first. The largest one stands for a byte behind the group.
fn narrow(stream: &mut Stream<'_>, group: &mut [u8; 16], bits: usize) -> Result<(), Why> {
    let packed = stream.take(2 * bits)?;
    let largest = (1u8 << bits) - 1;
    for (k, number) in group.iter_mut().enumerate() {
        let at = k * bits;
        *number = packed[at / 8] >> (8 - bits - at % 8) & largest;
        if *number == largest {
            *number = stream.byte()?;
        }
    }
    Ok(())
}

/// The edges and vertices that triangles had last, by which others are told.
struct Recent {
    edges: [[u32; 2]; 16],
    next_edge: usize,
    vertices: [u32; 16],
    next_vertex: usize,
    /// The vertex that no triangle had yet.
    fresh: u32,
    /// The last vertex that was written in full.
    full: u32,
}

impl Recent {
    fn edge(&self, back: usize) -> [u32; 2] {
        self.edges[self.next_edge.wrapping_sub(back) % 16]
    }

    fn vertex(&self, back: usize) -> u32 {
        self.vertices[self.next_vertex.wrapping_sub(back) % 16]
    }

    fn push_edge(&mut self, edge: [u32; 2]) {
        self.edges[self.next_edge % 16] = edge;
        self.next_edge = self.next_edge.wrapping_add(1);
    }

    fn push_vertex(&mut self, vertex: u32) -> u32 {
        self.vertices[self.next_vertex % 16] = vertex;
        self.next_vertex = self.next_vertex.wrapping_add(1);
        vertex
    }

    fn take_fresh(&mut self) -> u32 {
        self.fresh = self.fresh.wrapping_add(1);
        self.fresh.wrapping_sub(1)
    }

    fn moved(&mut self, by: u32) -> u32 {
        self.full = self.full.wrapping_add(by);
        self.full
    }
}

/// Corners of triangles: a code for each, by which they share edges and vertices with those before.
fn triangles(data: &[u8], count: usize) -> Result<Vec<u32>, Why> {
    let Some((0xe1, rest)) = data.split_first() else { return Err(OTHER) };
    let end = rest.len().checked_sub(16).filter(|_| count.is_multiple_of(3)).ok_or(CUT)?;
    let (rest, table) = rest.split_at(end);
    let (codes, rest) = rest.split_at_checked(count / 3).ok_or(CUT)?;
    let mut stream = Stream { left: rest };
    let mut recent = Recent {
        edges: [[u32::MAX; 2]; 16],
        next_edge: 0,
        vertices: [u32::MAX; 16],
        next_vertex: 0,
        fresh: 0,
        full: 0,
    };
    let mut out = Vec::with_capacity(count);
    for code in codes {
        let low = usize::from(code & 15);
        if *code < 0xf0 {
            let [a, b] = recent.edge(usize::from(code >> 4) + 1);
            let c = match low {
                1..13 => recent.vertex(low + 1),
                _ => {
                    let vertex = match low {
                        0 => recent.take_fresh(),
                        13 => recent.moved(u32::MAX),
                        14 => recent.moved(1),
                        _ => recent.moved(difference(stream.number()?)),
                    };
                    recent.push_vertex(vertex)
                }
            };
            recent.push_edge([c, b]);
            recent.push_edge([a, c]);
            out.extend([a, b, c]);
            continue;
        }
        let others = if *code < 0xfe { table[low] } else { stream.byte()? };
        if *code >= 0xfe && others == 0 {
            recent.fresh = 0;
        }
        let of = [if *code == 0xff { 15 } else { 0 }, usize::from(others >> 4), usize::from(others & 15)];
        // Fresh vertices are counted before those are read that are written in full.
        let mut corners = of.map(|back| match back {
            0 => recent.take_fresh(),
            _ => recent.vertex(back),
        });
        for (corner, _) in corners.iter_mut().zip(of).filter(|(_, back)| *back == 15) {
            *corner = recent.moved(difference(stream.number()?));
        }
        for (corner, _) in corners.iter().zip(of).filter(|(_, back)| [0, 15].contains(back)) {
            recent.push_vertex(*corner);
        }
        let [a, b, c] = corners;
        [[b, a], [c, b], [a, c]].into_iter().for_each(|edge| recent.push_edge(edge));
        out.extend(corners);
    }
    stream.end().map(|()| out)
}

/// Indices in any order: each as its difference from one of two before.
fn sequence(data: &[u8], count: usize) -> Result<Vec<u32>, Why> {
    let Some((0xd1, rest)) = data.split_first() else { return Err(OTHER) };
    // Four bytes of zeros end the stream.
    let end = rest.len().checked_sub(4).filter(|end| *end >= count).ok_or(CUT)?;
    let mut stream = Stream { left: &rest[..end] };
    let (mut last, mut out) = ([0u32; 2], Vec::with_capacity(count));
    for _ in 0..count {
        let number = stream.number()?;
        let last = &mut last[(number & 1) as usize];
        *last = last.wrapping_add(difference(number >> 1));
        out.push(*last);
    }
    stream.end().map(|()| out)
}

/// The nearest whole number, of a half the one farther from 0.
fn rounded(value: f32) -> i16 {
    (value + 0.5f32.copysign(value)) as i16
}

/// A unit vector from its place on an octahedron: x, y, and what 1 is. A fourth number stays. Of 4 or 8 bytes.
fn octahedral(element: &mut [u8]) {
    let size = element.len() / 4;
    let part = |k: usize| match element[k * size..][..size] {
        [low, high] => f32::from(i16::from_le_bytes([low, high])),
        _ => f32::from(element[k] as i8),
    };
    let [x, y, one] = [0, 1, 2].map(part);
    let z = one - x.abs() - y.abs();
    // The lower half of the octahedron is folded out.
    let fold = |v: f32| if v >= 0.0 { v + z.min(0.0) } else { v - z.min(0.0) };
    let vector = [fold(x), fold(y), z];
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    let whole = if size == 2 { 32767.0 } else { 127.0 };
    let scale = whole / length.max(f32::MIN_POSITIVE);
    for (part, v) in element.chunks_exact_mut(size).zip(vector) {
        part.copy_from_slice(&rounded(v * scale).to_le_bytes()[..size]);
    }
}

/// A rotation from three of its numbers, and the place of the largest, which follows from them.
fn rotation(element: &mut [u8; 8]) {
    let part = |k: usize| i16::from_le_bytes([element[2 * k], element[2 * k + 1]]);
    let largest = part(3);
    let scale = std::f32::consts::FRAC_1_SQRT_2 / f32::from(largest | 3);
    let three = [0, 1, 2].map(|k| f32::from(part(k)) * scale);
    let rest = 1.0 - three.iter().map(|v| v * v).sum::<f32>();
    let all = [rest.max(0.0).sqrt(), three[0], three[1], three[2]];
    for (k, v) in all.into_iter().enumerate() {
        let at = 2 * ((usize::from(largest as u16 & 3) + k) % 4);
        element[at..at + 2].copy_from_slice(&rounded(v * 32767.0).to_le_bytes());
    }
}

/// A number from 24 bits and the power of two that they are multiplied by.
fn exponential(element: &mut [u8; 4]) {
    let whole = i32::from_le_bytes(*element);
    let (power, value) = (whole >> 24, whole << 8 >> 8);
    // From -128 to 127, which doubles have exactly.
    let factor = f64::from_bits(((1023 + power) as u64) << 52);
    *element = ((f64::from(value) * factor) as f32).to_le_bytes();
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn packed(mode: &str, filter: &str, count: usize, byte_stride: usize) -> Packed {
        Packed { mode: mode.into(), filter: filter.into(), count, byte_stride, ..Packed::default() }
    }

    fn zigzag(difference: i64) -> u32 {
        ((difference << 1) ^ (difference >> 63)) as u32
    }

    /// Attributes with groups of the widths that are `wanted` in turn (0 to 3), where a group fits into its width.
    pub fn pack_attributes(bytes: &[u8], stride: usize, wanted: &[u8]) -> Vec<u8> {
        let (mut out, mut turn) = (vec![0xa0], 0);
        let most = ((8192 / stride) & !15).min(256);
        let mut before = vec![3u8; stride];
        let first = before.clone();
        for block in bytes.chunks(most * stride) {
            let count = block.len() / stride;
            for (at, before) in before.iter_mut().enumerate() {
                let mut lane: Vec<u8> = Vec::new();
                for k in 0..count {
                    let value = block[k * stride + at];
                    lane.push(zigzag(i64::from(value.wrapping_sub(*before) as i8)) as u8);
                    *before = value;
                }
                lane.resize(count.next_multiple_of(16), 0);
                let (mut widths, mut data) = (vec![0u8; lane.len().div_ceil(64)], Vec::new());
                for (number, group) in lane.chunks(16).enumerate() {
                    turn += 1;
                    let mut width = wanted[turn % wanted.len()];
                    if width == 0 && group.iter().any(|v| *v > 0) {
                        width = 3;
                    }
                    widths[number / 4] |= width << (2 * (number % 4));
                    let bits = [0, 2, 4, 8][usize::from(width)];
                    let largest = ((1u32 << bits) - 1) as u8;
                    match width {
                        0 => {}
                        3 => data.extend(group),
                        _ => {
                            for some in group.chunks(8 / bits) {
                                data.push(
                                    some.iter().fold(0, |byte: u8, v| byte << bits | (*v).min(largest)),
                                );
                            }
                            data.extend(group.iter().filter(|v| **v >= largest));
                        }
                    }
                }
                out.extend(widths);
                out.extend(data);
            }
        }
        out.resize(out.len() + stride.max(32) - stride, 0);
        out.extend(first);
        out
    }

    fn noise(count: usize) -> Vec<u8> {
        (0..count as u32)
            .map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8 & [1, 7, 255][k as usize % 3])
            .collect()
    }

    #[test]
    fn attributes_of_every_width_and_number_of_blocks_come_back() {
        for stride in [4, 12, 20, 256] {
            for count in [0, 1, 15, 16, 17, 64, 255, 256, 257, 700] {
                for wanted in [&[3][..], &[1], &[2], &[0, 1, 2, 3, 1]] {
                    let bytes = noise(count * stride);
                    let stream = pack_attributes(&bytes, stride, wanted);
                    assert_eq!(
                        unpack(&stream, &packed("ATTRIBUTES", "", count, stride), 1 << 20),
                        Ok(bytes.clone())
                    );
                    for end in (0..stream.len()).step_by(1 + stream.len() / 60) {
                        assert!(
                            attributes(&stream[..end], count, stride).is_err(),
                            "{count} of {stride} to {end}"
                        );
                    }
                }
            }
        }
        let whole = pack_attributes(&noise(16), 4, &[3]);
        let limited = unpack(&whole, &packed("ATTRIBUTES", "NONE", 4, 4), 15);
        assert!(limited.is_err());
        for (count, stride) in [(4, 0), (4, 6), (4, 260), (usize::MAX, 4), (5000, 4)] {
            assert!(unpack(&whole, &packed("ATTRIBUTES", "NONE", count, stride), usize::MAX).is_err());
        }
    }

    /// By hand, after the codes of the extension's text.
    #[test]
    fn triangles_by_hand() {
        // Table: entry 0 has three fresh vertices.
        let table = [0u8; 16];
        let stream = |codes: &[u8], data: &[u8]| [&[0xe1][..], codes, data, &table].concat();
        let of = |codes: &[u8], data: &[u8]| triangles(&stream(codes, data), 3 * codes.len());
        // Three fresh ones; then across the last edge (c, a): a fresh one.
        assert_eq!(of(&[0xf0, 0x00], &[]), Ok(vec![0, 1, 2, 0, 2, 3]));
        // Across the edge before that, b and c turned round.
        assert_eq!(of(&[0xf0, 0x10], &[]), Ok(vec![0, 1, 2, 2, 1, 3]));
        // The third corner is the one before the last: vertex 1.
        assert_eq!(of(&[0xf0, 0x01], &[]), Ok(vec![0, 1, 2, 0, 2, 1]));
        // All in full: +7, -2, +1; then the one behind the last in full.
        assert_eq!(of(&[0xff, 0x0e], &[0xff, 14, 3, 2]), Ok(vec![7, 5, 6, 7, 6, 7]));
        // One in full of two bytes, across an edge.
        assert_eq!(of(&[0xf0, 0x0f], &[0xd0, 0x0f]), Ok(vec![0, 1, 2, 0, 2, 1000]));
        // A code without any other starts to count anew.
        assert_eq!(of(&[0xf0, 0xfe], &[0]), Ok(vec![0, 1, 2, 0, 1, 2]));
        assert_eq!(of(&[0xf0, 0x0f], &[0x80]), Err(CUT));
        assert_eq!(of(&[0xf0], &[1]), Err(LONGER));
        assert_eq!(triangles(&stream(&[0xf0], &[]), 4), Err(CUT));
        assert_eq!(triangles(&stream(&[], &[])[1..], 0), Err(OTHER));
        let short = unpack(&stream(&[0xf0], &[]), &packed("TRIANGLES", "", 3, 2), 6);
        assert_eq!(short, Ok(vec![0, 0, 1, 0, 2, 0]));
        assert!(unpack(&stream(&[0xf0], &[]), &packed("TRIANGLES", "", 3, 3), 99).is_err());
    }

    #[test]
    fn indices_come_back_by_either_of_two_before() {
        let wanted = [5u32, 1000, 6, 999, 7, 4_000_000_000, 0];
        let (mut last, mut stream) = ([0i64; 2], vec![0xd1]);
        for (k, index) in wanted.iter().enumerate() {
            let by = (i64::from(*index) - last[k % 2]) as i32;
            last[k % 2] = i64::from(*index);
            let mut number = u64::from(zigzag(i64::from(by))) << 1 | (k % 2) as u64;
            while number > 127 {
                stream.push(number as u8 | 128);
                number >>= 7;
            }
            stream.push(number as u8);
        }
        stream.extend([0; 4]);
        let found = sequence(&stream, wanted.len()).unwrap();
        assert_eq!(found, wanted);
        for end in 0..stream.len() {
            assert!(sequence(&stream[..end], wanted.len()).is_err());
        }
        assert_eq!(sequence(&stream, 3), Err(LONGER));
    }

    #[test]
    fn filters_give_vectors_rotations_and_numbers() {
        let four = |values: [i16; 4]| values.map(i16::to_le_bytes).concat();
        let back = |bytes: &[u8]| -> Vec<i16> {
            bytes.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect()
        };
        // Above, and folded below: (1, 1, -1) / sqrt 3 lies at (2/3, 2/3).
        for (from, wanted) in [
            ([0, 0, 3000, 9], [0.0, 0.0, 1.0]),
            ([-3000, 0, 3000, 9], [-1.0, 0.0, 0.0]),
            ([1000, 1000, 3000, 9], [1.0, 1.0, 1.0]),
            ([2000, -2000, 3000, 9], [1.0, -1.0, -1.0]),
        ] {
            let mut bytes = four(from);
            octahedral(&mut bytes);
            let length = wanted.iter().map(|v: &f32| v * v).sum::<f32>().sqrt();
            let found = back(&bytes);
            for k in 0..3 {
                assert!(
                    (f32::from(found[k]) / 32767.0 - wanted[k] / length).abs() < 1e-4,
                    "{from:?} {found:?}"
                );
            }
            assert_eq!(found[3], 9);
        }
        let mut bytes = [0, 127, 127, 5];
        octahedral(&mut bytes);
        assert_eq!(bytes, [0, 127, 0, 5]);
        // Two numbers of 1/2 and 1/2: the others are 1/2, too; the largest stands at 2.
        let half = (0.5 * std::f32::consts::SQRT_2 * 2047.0).round() as i16;
        let mut bytes: [u8; 8] = four([half, -half, half, 2044 | 2]).try_into().unwrap();
        rotation(&mut bytes);
        for (found, wanted) in back(&bytes).into_iter().zip([-0.5, 0.5, 0.5, 0.5]) {
            assert!((f32::from(found) / 32767.0 - wanted).abs() < 1e-3, "{found} {wanted}");
        }
        for (power, value, wanted) in [(0, 5, 5.0), (-2, -5, -1.25), (10, 3, 3072.0), (-128, 0, 0.0f32)] {
            let mut bytes = (power << 24 | value & 0xff_ffff_i32).to_le_bytes();
            exponential(&mut bytes);
            assert_eq!(f32::from_le_bytes(bytes), wanted);
        }
    }

    #[test]
    fn damaged_streams_give_data_or_a_reason() {
        let mut random = 7u64;
        let mut roll = |sides: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % sides
        };
        let whole = [
            ("ATTRIBUTES", pack_attributes(&noise(12 * 300), 12, &[0, 1, 2, 3]), 300, 12),
            ("TRIANGLES", [&[0xe1, 0xf0, 0x01, 0x10, 0x0f, 0xfe, 2, 0][..], &[0x21; 16]].concat(), 15, 4),
            ("INDICES", vec![0xd1, 2, 4, 7, 0x81, 3, 1, 0, 0, 0, 0], 5, 2),
        ];
        let filters = ["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "NOTHING"];
        let (mut read, mut refused) = (0, 0);
        for _ in 0..6000 {
            let (mode, stream, count, stride) = &whole[roll(3)];
            let mut bytes = stream.clone();
            for _ in 0..roll(4) {
                let at = roll(bytes.len());
                bytes[at] = roll(256) as u8;
            }
            bytes.truncate(bytes.len() - if roll(4) == 0 { roll(bytes.len()) } else { 0 });
            let count = if roll(4) == 0 { roll(1000) } else { *count };
            let stride = if roll(4) == 0 { 4 * roll(66) } else { *stride };
            match unpack(&bytes, &packed(mode, filters[roll(5)], count, stride), 1 << 20) {
                Ok(data) => {
                    assert_eq!(data.len(), count * stride);
                    read += 1;
                }
                Err(_) => refused += 1,
            }
        }
        assert!(read > 300 && refused > 300, "{read} {refused}");
    }
}
