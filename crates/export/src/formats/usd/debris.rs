//! Debris as a `Points` prim with time samples.
//!
//! In: grains, the motion that they go with. Out: `/kintsugi/debris`, whose arrays have an entry for each grain that is
//! there at a frame; a grain keeps its id, which is its line in `debris.csv`, from frame to frame.

use super::{FileSpace, Motion, layer::Layer};
use crate::debris::Debris;

/// A grain in a frame as the file has it: its id; place, velocity, width and opacity.
type Shown = (usize, [f32; 8]);

/// Writes the prim.
pub(super) fn write(
    out: &mut impl Layer,
    debris: &Debris,
    motion: &Motion,
    space: &FileSpace,
) -> std::io::Result<()> {
    let kept = kept(debris, motion, space);
    let mut attribute = |head: &str, note: &str, one: &dyn Fn(&Shown) -> String| -> std::io::Result<()> {
        if !note.is_empty() {
            writeln!(out, "        {head} (\n            {note}\n        )")?;
        }
        let sample = |frame: &f64| {
            let values: Vec<String> = shown(debris, frame / motion.fps, space).iter().map(one).collect();
            (*frame, format!("[{}]", values.join(", ")))
        };
        out.samples(head, kept.iter().map(sample))
    };
    let triple = |[x, y, z]: [f32; 3]| format!("({x}, {y}, {z})");
    attribute("int64[] ids", "", &|(id, _)| id.to_string())?;
    attribute("point3f[] points", "", &|(_, [x, y, z, ..])| triple([*x, *y, *z]))?;
    attribute("vector3f[] velocities", "", &|(_, [_, _, _, x, y, z, ..])| triple([*x, *y, *z]))?;
    attribute("float[] widths", "", &|(_, values)| values[6].to_string())?;
    attribute("float[] primvars:displayOpacity", "interpolation = \"vertex\"", &|(_, values)| {
        values[7].to_string()
    })?;
    let extents = kept.iter().map(|frame| {
        let [low, high] = extent(&shown(debris, frame / motion.fps, space));
        (*frame, format!("[{}, {}]", triple(low), triple(high)))
    });
    out.samples("float3[] extent", extents)
}

/// The frames that get samples: those in the middle of a rest are left out.
fn kept(debris: &Debris, motion: &Motion, space: &FileSpace) -> Vec<f64> {
    let end = motion.end * motion.fps;
    let mut frames: Vec<f64> = (0..=(end + 1e-6).max(0.0) as u64).map(|frame| frame as f64).collect();
    frames.extend((end - end.floor() > 1e-6 && end.ceil() - end > 1e-6).then_some(end));
    let mut kept = Vec::new();
    let mut before = None;
    let mut now = shown(debris, 0.0, space);
    for (at, frame) in frames.iter().enumerate() {
        let next = frames.get(at + 1).map(|frame| shown(debris, frame / motion.fps, space));
        let rests = |other: &Option<Vec<Shown>>| other.as_ref() == Some(&now);
        if !rests(&before) || (next.is_some() && !rests(&next)) {
            kept.push(*frame);
        }
        before = Some(std::mem::take(&mut now));
        now = next.unwrap_or_default();
    }
    kept
}

/// The grains at `time`, s, in the units and axes of the file.
fn shown(debris: &Debris, time: f64, space: &FileSpace) -> Vec<Shown> {
    let all = debris.at(time).map(|(id, grain)| {
        let (p, v) = (space.point(grain.position).as_vec3(), space.point(grain.velocity).as_vec3());
        let width = (2.0 * grain.radius * space.per_metre) as f32;
        // Adding 0 makes -0 a 0.
        (id, [p.x, p.y, p.z, v.x, v.y, v.z, width, grain.opacity as f32].map(|value| value + 0.0))
    });
    all.collect()
}

/// Low and high corner of all grains; zeros where there are none.
fn extent(grains: &[Shown]) -> [[f32; 3]; 2] {
    if grains.is_empty() {
        return [[0.0; 3]; 2];
    }
    let mut corners = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for (_, values) in grains {
        for axis in 0..3 {
            corners[0][axis] = corners[0][axis].min(values[axis] - 0.5 * values[6]);
            corners[1][axis] = corners[1][axis].max(values[axis] + 0.5 * values[6]);
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::{
        Axes,
        debris::{Grain, GrainKind, Surroundings},
    };

    /// Fails where a frame has the grains of another, where ids change, or where a rest is written frame by frame.
    #[test]
    fn grains_have_samples_from_their_birth_to_their_rest() {
        let around = Surroundings { gravity: DVec3::NEG_Y * 10.0, floor: Some(0.0) };
        let grain = |born, kind| {
            let (position, velocity) = (DVec3::new(1.0, 1.25, 3.0), DVec3::X);
            Grain { born, position, velocity, radius: 0.25, kind }
        };
        let grains = vec![grain(0.5, GrainKind::Crumb), grain(1.0, GrainKind::Dust)];
        let debris = Debris { grains, around };
        let motion = Motion { tracks: Vec::new(), fps: 10.0, end: 20.0 };
        let space = FileSpace { axes: Axes::ZUp, per_metre: 100.0 };
        let mut text = std::io::BufWriter::new(Vec::new());
        write(&mut text, &debris, &motion, &space).unwrap();
        let text = String::from_utf8(text.into_inner().unwrap()).unwrap();
        let of = |name: &str| {
            let from = text.split(&format!("{name}.timeSamples = {{")).nth(1).unwrap();
            from.split('}').next().unwrap().trim().lines().map(str::trim).collect::<Vec<_>>()
        };
        let ids = of("ids");
        assert_eq!(&ids[..3], ["0: [],", "4: [],", "5: [0],"]);
        assert!(ids.contains(&"10: [0, 1],") && ids.contains(&"35: [0],"), "{ids:?}");
        assert!(ids.len() < 40, "nothing moves after 3.5 s: {}", ids.len());
        for name in ["points", "velocities", "widths", "primvars:displayOpacity", "extent"] {
            assert_eq!(of(name).len(), ids.len(), "{name}");
        }
        // Up is z, and a metre is 100 units.
        assert!(of("points").contains(&"5: [(100, -300, 125)],"), "{:?}", of("points"));
        assert!(of("velocities").contains(&"5: [(100, 0, 0)],"), "{:?}", of("velocities"));
        assert!(of("widths").contains(&"5: [50],"));
        assert!(of("extent").contains(&"5: [(75, -325, 100), (125, -275, 150)],"), "{:?}", of("extent"));
        let last = of("points").last().unwrap().to_string();
        assert!(last.starts_with("35: [(") && last.contains(", -300, 25)"), "{last}");
    }
}
