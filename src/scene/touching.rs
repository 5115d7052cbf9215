//! Draws over the picture what bodies bear: the contact points of the solver, the overlap of each pair (2016, sec. 5.1), loads of
//! bonds, stress; and marked places.
//!
//! In: the world after a step. Out: an overlay, updated when bodies have moved, which includes that of fracture
//! internals.

use glam::{DVec3, Vec3};

use super::{Touching, layer::Layer, stage::Stage, stress::StressView};
use crate::{
    bodies::{Contact, Overlap},
    gpu::GpuError,
    render::{Line, Overlay, Point},
};

/// Colours by depth in cells: touching, a quarter, half a cell and more.
const DEPTHS: [[f64; 3]; 3] = [[86.0, 180.0, 233.0], [240.0, 228.0, 66.0], [213.0, 94.0, 0.0]];
/// Colour of contacts that are near but do not press.
const APART: [u8; 4] = [150, 150, 150, 130];
/// Colours of the first and the second body's surfaces.
const OWNERS: [[u8; 4]; 2] = [[90, 150, 240, 255], [240, 150, 60, 255]];
/// Colours of columns along x, y and z of the lattice.
const AXES: [[u8; 4]; 3] = [[230, 90, 90, 230], [110, 210, 110, 230], [110, 140, 240, 230]];
/// Colour and width of the gradient of the volume that two bodies share, pixels.
const GRADIENT: ([u8; 4], f32) = ([250, 250, 245, 255], 3.0);
/// Opacity factor of hidden parts: contacts lie between bodies.
const THROUGH: f32 = 0.7;

/// The overlay, and what it was made from.
#[derive(Default)]
pub(super) struct Touched {
    pub layer: Layer<(Touching, Vec<DVec3>, u64, u64, u64)>,
}

impl Touched {
    /// Updates the overlay, on top of that of the `inside` with its revision. `marks` are places (world, m) that are marked
    /// whatever else is drawn.
    ///
    /// # Errors
    /// [`GpuError`]; the previous overlay stays.
    pub fn update(
        &mut self,
        mode: Touching,
        (stage, stress): (&mut Stage, &StressView),
        marks: Vec<DVec3>,
        inside: (Option<&Overlay>, u64),
    ) -> Result<(), GpuError> {
        if mode == Touching::Off && marks.is_empty() {
            self.layer.hide();
            return Ok(());
        }
        let (inside, inside_revision) = inside;
        // Noted before drawing, so that an error is not repeated in each frame.
        let wanted = (mode, marks.clone(), stage.revision(), stress.revision(), inside_revision);
        if !self.layer.begin(wanted) {
            return Ok(());
        }
        let mut made = match mode {
            Touching::Off => nothing(),
            Touching::Contacts => pressing(&stage.contacts()),
            Touching::Columns => shared(&stage.pair_data()?),
            Touching::Bonds => bonds(stage),
            Touching::Stress | Touching::Weakness => {
                let mut made = Overlay { through: 0.0, ..Overlay::default() };
                stress.draw(stage, &mut made);
                made
            }
        };
        for mark in marks {
            made.points.extend(ring(mark));
        }
        if let Some(inside) = inside {
            made.lines.extend_from_slice(&inside.lines);
            made.points.extend_from_slice(&inside.points);
            made.triangles.extend_from_slice(&inside.triangles);
            (made.lift, made.through) = (inside.lift.max(made.lift), inside.through);
        }
        self.layer.show(made);
        Ok(())
    }
}

fn nothing() -> Overlay {
    Overlay { through: THROUGH, ..Overlay::default() }
}

fn line(from: DVec3, to: DVec3, color: [u8; 4], width: f32) -> Line {
    Line { start: from.as_vec3(), color, end: to.as_vec3(), width }
}

fn disc(at: Vec3, color: [u8; 4], cell: f64) -> Point {
    Point { at, color, radius_pixels: 2.0, radius_m: 0.1 * cell as f32, back_pixels: 0.0 }
}

/// A red disc with a white rim, as large from everywhere.
fn ring(at: DVec3) -> [Point; 2] {
    let disc = |color, radius_pixels, back_pixels| Point {
        at: at.as_vec3(),
        color,
        radius_pixels,
        radius_m: 0.0,
        back_pixels,
    };
    [disc([240, 66, 48, 255], 5.0, 0.0), disc([255, 255, 255, 255], 7.5, 4.5)]
}

/// Contacts as discs with normals.
fn pressing(contacts: &[Contact]) -> Overlay {
    let mut overlay = nothing();
    for contact in contacts {
        let presses = contact.impulse > 0.0;
        let color = if presses { depth_color(-contact.separation / contact.cell) } else { APART };
        overlay.lift = overlay.lift.max(0.25 * contact.cell as f32);
        overlay.points.push(disc(contact.position.as_vec3(), color, contact.cell));
        if presses {
            let tip = contact.position + contact.normal * (1.5 * contact.cell);
            overlay.lines.push(line(contact.position, tip, color, 1.6));
        }
    }
    overlay
}

/// Colours of bonds by the share of their strength that they bear: nothing, half, all of it.
const LOADS: [[f64; 3]; 3] = [[86.0, 104.0, 122.0], [255.0, 196.0, 60.0], [240.0, 66.0, 48.0]];

/// Bonds that hold, as discs in the middle of their cracks, by their loads.
fn bonds(stage: &Stage) -> Overlay {
    let mut overlay = nothing();
    for body in stage.bodies() {
        let Some(structure) = &body.def.structure else { continue };
        let (shape, state) = (&body.def.shape, &body.state);
        let loads = stage.world().bond_loads(body.id).unwrap_or_default();
        for (at, bond) in structure.bonds.iter().enumerate().filter(|(_, bond)| bond.damage < 1.0) {
            let load = loads.get(at).map_or(0.0, |load| load.share);
            let local = shape.local_from_shape(bond.section.centre);
            let place = shape.to_world(state.position, state.rotation, local);
            let color = mixed(&LOADS, load);
            overlay.points.push(disc(place.as_vec3(), color, 1.5 * bond.section.area.sqrt()));
        }
    }
    overlay
}

/// Averaged collision points with normals, columns from entry to exit, and the gradient of the volume.
fn shared(pairs: &[Overlap]) -> Overlay {
    let mut overlay = nothing();
    for pair in pairs {
        overlay.lift = overlay.lift.max(0.25 * pair.cell as f32);
        for point in &pair.points {
            let color = OWNERS[usize::from(point.owner != 0)];
            overlay.points.push(disc(point.position.as_vec3(), color, pair.cell));
            overlay.lines.push(line(
                point.position,
                point.position + point.normal * (0.8 * pair.cell),
                color,
                1.2,
            ));
        }
        for column in &pair.columns {
            let half = column.direction * (0.5 * column.length);
            let color = AXES[(column.axis % 3) as usize];
            overlay.lines.push(line(column.middle - half, column.middle + half, color, 2.4));
        }
        overlay.lines.extend(gradient(pair));
    }
    overlay
}

/// The gradient of the volume of a pair, from the middle of its columns: as long as the side of a square of that area.
fn gradient(pair: &Overlap) -> Option<Line> {
    let length: f64 = pair.columns.iter().map(|column| column.length).sum();
    let way = pair.gradient.try_normalize().filter(|_| length > 0.0)? * pair.gradient.length().sqrt();
    let middle = pair.columns.iter().map(|column| column.middle * column.length).sum::<DVec3>() / length;
    Some(line(middle, middle + way, GRADIENT.0, GRADIENT.1))
}

fn depth_color(cells: f64) -> [u8; 4] {
    mixed(&DEPTHS, cells * 2.0)
}

/// A colour between three, for a share from 0 to 1.
fn mixed(colors: &[[f64; 3]; 3], share: f64) -> [u8; 4] {
    let at = (share.clamp(0.0, 1.0) * 2.0).min(1.999);
    let (k, share) = (at as usize, at.fract());
    let mix = |c: usize| (colors[k][c] + share * (colors[k + 1][c] - colors[k][c])).round() as u8;
    [mix(0), mix(1), mix(2), 255]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        gpu::Gpu,
        scene::{Scene, SceneBody, sandbox::testing},
    };

    #[test]
    fn depth_goes_from_blue_by_yellow_to_orange() {
        assert_eq!(depth_color(-1.0), [86, 180, 233, 255]);
        assert_eq!(depth_color(0.25), [240, 228, 66, 255]);
        let deep = depth_color(9.0);
        assert!(deep[0] >= 212 && deep[2] < 2 && deep == depth_color(0.5));
    }

    #[test]
    fn a_box_shows_where_it_stands() {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut body = SceneBody { size: Some(0.5), ..SceneBody::standing("builtin:box", 5) };
        (body.on_floor, body.position) = (false, DVec3::new(0.0, 0.26, 0.0));
        let mut sandbox = testing::shown(&gpu, Scene { bodies: vec![body], ..Scene::default() });
        for _ in 0..30 {
            sandbox.step().unwrap();
        }
        sandbox.update_touching().unwrap();
        assert!(sandbox.inside_overlay().is_none(), "nobody asked");

        let mut tuning = sandbox.tuning().clone();
        tuning.view.touching = Touching::Contacts;
        sandbox.tune("touching", tuning.clone());
        sandbox.update_touching().unwrap();
        let (shown, first) = (Arc::clone(sandbox.inside_overlay().unwrap()), sandbox.looking_revision());
        assert!(shown.points.len() >= 4 && shown.lines.len() >= 4, "{shown:?}");
        assert!(shown.points.iter().all(|p| p.at.y.abs() < 0.01 && p.at.x.abs() < 0.3));
        assert!(shown.lines.iter().all(|l| l.end.y > l.start.y), "normals point up");
        sandbox.update_touching().unwrap();
        assert_eq!(sandbox.looking_revision(), first, "nothing has moved");

        tuning.view.touching = Touching::Columns;
        sandbox.tune("touching", tuning.clone());
        sandbox.update_touching().unwrap();
        let pairs = sandbox.pair_data().unwrap();
        let columns: usize = pairs.iter().map(|p| p.columns.len()).sum();
        let points: usize = pairs.iter().map(|p| p.points.len()).sum();
        let shown = sandbox.inside_overlay().unwrap();
        let grows = pairs.iter().filter(|pair| pair.gradient != DVec3::ZERO && !pair.columns.is_empty());
        let grows: Vec<&Overlap> = grows.collect();
        assert_eq!((shown.points.len(), shown.lines.len()), (points, points + columns + grows.len()));
        // The box stands on the floor: the volume grows as the box goes down.
        let arrows: Vec<&Line> = shown.lines.iter().filter(|line| line.width == GRADIENT.1).collect();
        assert_eq!(arrows.len(), grows.len());
        for (arrow, pair) in arrows.iter().zip(&grows) {
            let way = (arrow.end - arrow.start).as_dvec3();
            assert!(way.y < 0.0 && (way.length_squared() / pair.gradient.length() - 1.0).abs() < 1e-3);
        }
        assert!(sandbox.looking_revision() > first);

        tuning.view.explode = 0.3;
        sandbox.tune("explode", tuning);
        sandbox.update_touching().unwrap();
        assert!(sandbox.inside_overlay().is_none(), "pieces are not where their contacts are");
    }
}
