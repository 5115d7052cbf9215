//! What must hold of pieces, checked without knowledge of how they were made.

use super::shapes::Random;
use crate::fracture::box_cut::complex::Complex;
use crate::fracture::box_cut::split::{FineMesh, SplitFace, SplitPiece};
use glam::DVec3;
use std::collections::HashMap;
use std::f64::consts::TAU;

pub fn volume(positions: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let origin = positions.first().copied().unwrap_or_default();
    let six: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| positions[i as usize] - origin);
            a.dot(b.cross(c))
        })
        .sum();
    six / 6.0
}

pub fn winding(positions: &[DVec3], triangles: &[[u32; 3]], point: DVec3) -> i32 {
    let half: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| positions[i as usize] - point);
            let (la, lb, lc) = (a.length(), b.length(), c.length());
            libm::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
        })
        .sum();
    (half / TAU).round() as i32
}

/// Closed, every edge walked once in each direction, every vertex with one fan of triangles.
pub fn is_closed(piece: &SplitPiece) -> Result<(), String> {
    let mut next: HashMap<(u32, u32), u32> = HashMap::new();
    let mut corners_at = vec![0; piece.positions.len()];
    for t in &piece.triangles {
        for k in 0..3 {
            let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            if a == b {
                return Err("a triangle with two equal corners".into());
            }
            corners_at[a as usize] += 1;
            if next.insert((a, b), c).is_some() {
                let with = |t: &[u32; 3]| t.contains(&a) && t.contains(&b);
                let round = piece.triangles.iter().zip(&piece.faces).filter(|(t, _)| with(t));
                let round: Vec<_> = round.map(|(t, f)| (f, t.map(|i| piece.positions[i as usize]))).collect();
                return Err(format!("edge {a} {b} walked twice: {round:?}"));
            }
        }
    }
    if let Some((a, b)) = next.keys().find(|&&(a, b)| !next.contains_key(&(b, a))) {
        return Err(format!("edge {a} {b} is open"));
    }
    let mut start = HashMap::new();
    for &(a, b) in next.keys() {
        start.entry(a).or_insert(b);
    }
    for (vertex, &count) in corners_at.iter().enumerate() {
        let vertex = vertex as u32;
        let Some(&first) = start.get(&vertex) else { return Err(format!("vertex {vertex} has no triangle")) };
        let (mut at, mut fan) = (first, 0);
        loop {
            fan += 1;
            at = next[&(vertex, at)];
            if at == first {
                break;
            }
        }
        if fan != count {
            return Err(format!("vertex {vertex} has a fan of {fan} of its {count} triangles"));
        }
    }
    Ok(())
}

fn of_each_piece(mesh: &FineMesh, piece: &SplitPiece) -> Result<(), String> {
    is_closed(piece)?;
    let volume = volume(&piece.positions, &piece.triangles);
    if volume <= 0.0 || volume.is_nan() {
        return Err(format!("volume {volume}"));
    }
    if piece.faces.len() != piece.triangles.len() || piece.weights.len() != piece.triangles.len() {
        return Err("lists of different lengths".into());
    }
    for ((t, face), weights) in piece.triangles.iter().zip(&piece.faces).zip(&piece.weights) {
        let SplitFace::Outside(source) = face else { continue };
        let source = mesh.triangles[*source as usize].map(|c| mesh.corners[c as usize]);
        for (&corner, w) in t.iter().zip(weights) {
            let at = source[0] * f64::from(w[0]) + source[1] * f64::from(w[1]) + source[2] * f64::from(w[2]);
            if at.distance(piece.positions[corner as usize]) > 0.01 {
                return Err("weights do not give the position".into());
            }
        }
    }
    Ok(())
}

fn area(p: [DVec3; 3]) -> f64 {
    0.5 * (p[1] - p[0]).cross(p[2] - p[0]).length()
}

/// All checks that take no sampling.
pub fn check(mesh: &FineMesh, complex: &Complex, pieces: &[SplitPiece]) -> Result<(), String> {
    let whole = volume(&mesh.corners, &mesh.triangles);
    let mut sum = 0.0;
    let mut outside = vec![0.0; mesh.triangles.len()];
    let mut mirrored: HashMap<(u32, [[u64; 3]; 3]), i32> = HashMap::new();
    for piece in pieces {
        of_each_piece(mesh, piece).map_err(|e| format!("cell {}: {e}", piece.cell))?;
        sum += volume(&piece.positions, &piece.triangles);
        for (t, face) in piece.triangles.iter().zip(&piece.faces) {
            let at = t.map(|i| piece.positions[i as usize]);
            match *face {
                SplitFace::Outside(source) => outside[source as usize] += area(at),
                SplitFace::Cap(facet) => {
                    let plane = super::naive::plane(complex, facet);
                    let normal = DVec3::from_array(plane.normal.map(|n| n as f64));
                    let off = at.map(|p| (normal.dot(p) - plane.limit as f64).abs() / normal.length());
                    if off.iter().any(|&d| d > 0.02) {
                        return Err(format!("cell {}: a cap is {off:?} off its plane", piece.cell));
                    }
                    let mut bits = at.map(|p| p.to_array().map(f64::to_bits));
                    let turned =
                        (bits[0] < bits[1]) as i32 + (bits[1] < bits[2]) as i32 + (bits[2] < bits[0]) as i32;
                    bits.sort_unstable();
                    let degenerate = bits[0] == bits[1] || bits[1] == bits[2];
                    if !degenerate {
                        *mirrored.entry((facet, bits)).or_default() += if turned == 2 { 1 } else { -1 };
                    }
                }
            }
        }
    }
    if let Some(((facet, _), _)) = mirrored.iter().find(|(_, n)| **n != 0) {
        return Err(format!("a triangle of the cap on facet {facet} is not mirrored"));
    }
    if (sum - whole).abs() > 1e-9 * whole.abs() {
        return Err(format!("volumes add up to {sum} instead of {whole}"));
    }
    for (index, covered) in outside.iter().enumerate() {
        let own = area(mesh.triangles[index].map(|c| mesh.corners[c as usize]));
        if (covered - own).abs() > 1e-9 * own + 1e-6 {
            return Err(format!("triangle {index} is covered by {covered} instead of {own}"));
        }
    }
    Ok(())
}

/// Random points: inside a piece of the nearest site's cell exactly where inside the solid.
pub fn sample(mesh: &FineMesh, complex: &Complex, pieces: &[SplitPiece], count: usize) -> Result<(), String> {
    let (low, high) = mesh.corners.iter().fold((DVec3::MAX, DVec3::MIN), |(l, h), &c| (l.min(c), h.max(c)));
    let mut random = Random(count as u64);
    for _ in 0..count {
        let at = DVec3::new(random.unit(), random.unit(), random.unit());
        let point = low + (high - low) * (at * 1.1 - 0.05);
        let mut far: Vec<(f64, u32)> = complex
            .sites
            .iter()
            .enumerate()
            .map(|(k, s)| (point.distance(DVec3::from_array(s.map(f64::from))), k as u32))
            .collect();
        far.sort_by(|a, b| a.0.total_cmp(&b.0));
        if far.len() > 1 && far[1].0 - far[0].0 < 0.1 {
            continue;
        }
        let inside = winding(&mesh.corners, &mesh.triangles, point);
        for piece in pieces {
            let (l, h) =
                piece.positions.iter().fold((DVec3::MAX, DVec3::MIN), |(l, h), &c| (l.min(c), h.max(c)));
            let near = point.cmpge(l).all() && point.cmple(h).all();
            let in_piece = if near { winding(&piece.positions, &piece.triangles, point) } else { 0 };
            if piece.cell != far[0].1 && in_piece != 0 {
                return Err(format!("{point} of cell {} is in a piece of cell {}", far[0].1, piece.cell));
            }
        }
        let own: i32 = pieces
            .iter()
            .filter(|p| p.cell == far[0].1)
            .map(|p| winding(&p.positions, &p.triangles, point))
            .sum();
        if own != inside {
            return Err(format!(
                "{point} of cell {}: in {own} pieces, but {inside} times in the solid",
                far[0].1
            ));
        }
    }
    Ok(())
}
