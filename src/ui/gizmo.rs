//! The handles of the tool Move: arrows that move what is selected, rings that turn it, a cube that sizes one whole object.
//!
//! In: the mouse over a view, the selected bodies. Out: poses of these bodies while a handle is dragged, a size when it is
//! released. All of a drag is measured from where it began, so nothing drifts.

use egui::{Align2, Color32, CursorIcon, FontId, PointerButton, Pos2, Rect, Shape, Stroke, Vec2};
use glam::DVec3;

use super::{
    Command, Tool, UiInput, UiOutput,
    axes::AXES,
    handle_drag::{KeptDrag, Mouse},
    theme, turns,
};
use crate::{
    render::Camera,
    scene::{Pose, Sandbox},
};

/// Length of an arrow, points.
const ARROW: f32 = 84.0;
/// Radius of a ring, points.
const RING: f32 = 62.0;
/// Distance of the cube from the middle, points, to the upper right.
const CUBE: f32 = 58.0;
/// Half the edge of the cube, points.
const CUBE_HALF: f32 = 5.5;
/// Radius of the disc in the middle, points.
const DISC: f32 = 8.0;
/// How far from a handle the pointer takes it, points.
const REACH: f32 = 7.0;
/// Corners of a ring that is drawn.
const CORNERS: usize = 64;
/// Least share of a view direction along an arrow's axis at which the arrow is a dot, and cannot be dragged.
const ALONG: f64 = 0.97;
/// Steps of moves and sizes with Ctrl, as a share of the object's size, and of turns, degrees.
const STEP: f64 = 0.05;
const STEP_DEGREES: f64 = 15.0;
/// Greatest factor by which one drag sizes an object.
const MOST_TIMES: f64 = 20.0;

/// A handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handle {
    /// Moves along an axis.
    Arrow(usize),
    /// Turns about an axis.
    Ring(usize),
    /// Moves in the plane of the picture.
    Disc,
    /// Sizes the object.
    Cube,
}

/// A drag in progress.
#[derive(Clone)]
struct Begun {
    handle: Handle,
    view: Rect,
    /// Where the drag began.
    from: Pos2,
    /// The middle of what is moved at that time, m.
    middle: DVec3,
    /// Longest side of what is moved, m.
    size: f64,
    poses: Vec<Pose>,
    /// The object that the cube sizes, with its longest side at that time, m.
    sized: Option<(usize, f64)>,
    camera: Camera,
}

/// What the handles act on.
struct Target {
    middle: DVec3,
    size: f64,
    poses: Vec<Pose>,
    sized: Option<(usize, f64)>,
}

/// The selected bodies. One whole object of the scene can be sized, too.
fn target(sandbox: &Sandbox) -> Option<Target> {
    let of = |body: &crate::bodies::Body| Pose {
        body: body.id,
        position: body.state.position,
        rotation: body.state.rotation,
    };
    let poses: Vec<Pose> = sandbox.selected().map(of).collect();
    let middle = poses.iter().map(|pose| pose.position).sum::<DVec3>() / poses.len().max(1) as f64;
    let feet = poses.iter().filter_map(|pose| sandbox.foot(pose.body));
    let size = feet.map(|foot| foot.size.max_element()).fold(0.0, f64::max);
    let whole = poses.first().filter(|_| poses.len() == 1).and_then(|pose| {
        let info = sandbox.info(pose.body).filter(|info| info.is_intact())?;
        let is_in_scene = info.object < sandbox.bodies_of_scene();
        is_in_scene.then(|| (info.object, sandbox.object_size(pose.body)))
    });
    (!poses.is_empty()).then_some(Target { middle, size, poses, sized: whole })
}

/// The gizmo as it is seen in a view.
struct Seen {
    view: Rect,
    camera: Camera,
    middle: DVec3,
    centre: Pos2,
    /// Metres of a point of the window at the middle.
    metres: f64,
}

impl Seen {
    fn of(camera: Camera, view: Rect, middle: DVec3) -> Option<Self> {
        let at = camera.project(middle.as_vec3(), view.width() / view.height())?;
        let depth = (middle.as_vec3() - camera.eye()).dot(camera.axes().forward);
        let metres = f64::from(2.0 * depth * libm::tanf(camera.fov_y / 2.0) / view.height());
        let centre = view.min + view.size() * Vec2::from(at);
        (metres > 0.0).then_some(Self { view, camera, middle, centre, metres })
    }

    fn project(&self, point: DVec3) -> Option<Pos2> {
        let at = self.camera.project(point.as_vec3(), self.view.width() / self.view.height())?;
        Some(self.view.min + self.view.size() * Vec2::from(at))
    }

    /// Eye and direction through a point of the window.
    fn ray(&self, at: Pos2) -> (DVec3, DVec3) {
        let [x, y] =
            [(at.x - self.view.left()) / self.view.width(), (at.y - self.view.top()) / self.view.height()];
        let (eye, direction) = self.camera.ray(x, y, self.view.width() / self.view.height());
        (eye.as_dvec3(), direction.as_dvec3())
    }

    fn forward(&self) -> DVec3 {
        (self.middle - self.camera.eye().as_dvec3()).normalize_or(DVec3::NEG_Z)
    }

    /// Whether an axis points so far into the picture that its arrow is a dot.
    fn is_dot(&self, axis: usize) -> bool {
        self.forward()[axis].abs() > ALONG
    }

    fn arrow(&self, axis: usize) -> Option<Pos2> {
        self.project(self.middle + DVec3::AXES[axis] * (self.metres * f64::from(ARROW)))
    }

    fn ring(&self, axis: usize) -> Vec<Pos2> {
        let [u, v] = [1, 2].map(|k| DVec3::AXES[(axis + k) % 3]);
        let radius = self.metres * f64::from(RING);
        let corner = |k: usize| {
            let angle = std::f64::consts::TAU * k as f64 / CORNERS as f64;
            self.project(self.middle + (u * libm::cos(angle) + v * libm::sin(angle)) * radius)
        };
        (0..=CORNERS).filter_map(corner).collect()
    }

    fn cube(&self) -> Pos2 {
        self.centre + Vec2::new(CUBE, -CUBE)
    }

    /// The handle at a point of the window.
    fn handle_at(&self, at: Pos2, is_sized: bool) -> Option<Handle> {
        let near = |a: Pos2, b: Pos2| distance(at, a, b);
        if at.distance(self.centre) < DISC + 2.0 {
            return Some(Handle::Disc);
        }
        if is_sized && (at - self.cube()).abs().max_elem() < CUBE_HALF + 4.0 {
            return Some(Handle::Cube);
        }
        let arrows = (0..3).filter(|axis| !self.is_dot(*axis)).filter_map(|axis| {
            let end = self.arrow(axis)?;
            Some((near(self.centre + (end - self.centre) * 0.3, end), Handle::Arrow(axis)))
        });
        let rings = (0..3).map(|axis| {
            let corners = self.ring(axis);
            let nearest = corners.windows(2).map(|pair| near(pair[0], pair[1])).fold(f32::INFINITY, f32::min);
            // Where an arrow crosses a ring the arrow is taken.
            (nearest + 2.0, Handle::Ring(axis))
        });
        let nearest = arrows.chain(rings).min_by(|a, b| a.0.total_cmp(&b.0))?;
        (nearest.0 < REACH).then_some(nearest.1)
    }

    /// Where on an axis through the middle the ray through a point of the window comes nearest to it, m.
    fn along(&self, axis: usize, at: Pos2) -> f64 {
        let (eye, direction) = self.ray(at);
        let axis = DVec3::AXES[axis];
        let (from, slant) = (eye - self.middle, direction.dot(axis));
        (from.dot(axis) - slant * from.dot(direction)) / (1.0 - slant * slant).max(1e-6)
    }

    /// Where the ray meets the plane through the middle that is normal to `normal`.
    fn on_plane(&self, normal: DVec3, at: Pos2) -> Option<DVec3> {
        let (eye, direction) = self.ray(at);
        let slant = direction.dot(normal);
        let along = (self.middle - eye).dot(normal) / slant;
        (slant.abs() > 0.15 && along > 0.0).then(|| eye + direction * along)
    }

    /// Angle of a point of the window about an axis through the middle, radians. A ring that is seen from its edge turns by
    /// the angle in the window.
    fn angle(&self, axis: usize, at: Pos2) -> f64 {
        let normal = DVec3::AXES[axis];
        let [u, v] = [1, 2].map(|k| DVec3::AXES[(axis + k) % 3]);
        match self.on_plane(normal, at) {
            Some(point) => {
                let arm = point - self.middle;
                libm::atan2(arm.dot(v), arm.dot(u))
            }
            None => {
                let arm = at - self.centre;
                let faces = if normal.dot(self.forward()) > 0.0 { 1.0 } else { -1.0 };
                faces * f64::from(libm::atan2f(arm.y, arm.x))
            }
        }
    }
}

/// Distance of a point from a line between two others.
fn distance(p: Pos2, a: Pos2, b: Pos2) -> f32 {
    let line = b - a;
    let share = ((p - a).dot(line) / line.length_sq().max(1e-6)).clamp(0.0, 1.0);
    p.distance(a + line * share)
}

/// A number in whole steps if `in_steps`.
fn stepped(value: f64, step: f64, in_steps: bool) -> f64 {
    if in_steps && step > 0.0 { libm::round(value / step) * step } else { value }
}

/// A length that is a round number of 1, 2 or 5 times a power of ten, near `length`.
fn round_length(length: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(length.max(1e-9))));
    match length / power {
        ..1.5 => power,
        ..3.5 => 2.0 * power,
        ..7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}

/// What a drag amounts to.
enum Change {
    Poses(Vec<Pose>),
    Size(f64),
}

/// A number with its sign, unless it is rounded to zero.
fn signed(value: f64, decimals: usize) -> String {
    theme::unsigned_zero(format!("{value:+.decimals$}"))
}

impl Begun {
    /// The change when the pointer is at `to`, and how it is said.
    fn change(&self, to: Pos2, in_steps: bool) -> Option<(Change, String)> {
        let seen = Seen::of(self.camera, self.view, self.middle)?;
        let step = round_length(STEP * self.size);
        let moved = |by: DVec3| {
            let poses = self.poses.iter().map(|pose| Pose { position: pose.position + by, ..*pose });
            Change::Poses(poses.collect())
        };
        Some(match self.handle {
            Handle::Arrow(axis) => {
                let by = stepped(seen.along(axis, to) - seen.along(axis, self.from), step, in_steps);
                let by = DVec3::AXES[axis] * by;
                (moved(by), format!("{} {} m", AXES[axis].0, signed(by[axis], 3)))
            }
            Handle::Disc => {
                let normal = seen.forward();
                let by = seen.on_plane(normal, to)? - seen.on_plane(normal, self.from)?;
                let by = by.to_array().map(|along| stepped(along, step, in_steps));
                let by = DVec3::from_array(by);
                (moved(by), format!("{} m", by.to_array().map(|along| signed(along, 3)).join("  ")))
            }
            Handle::Ring(axis) => {
                let turn = seen.angle(axis, to) - seen.angle(axis, self.from);
                // The short way round.
                let turn = libm::remainder(turn, std::f64::consts::TAU);
                let turn = stepped(turn.to_degrees(), STEP_DEGREES, in_steps).to_radians();
                let by = turns::about(axis, turn);
                let poses = self.poses.iter().map(|pose| Pose {
                    position: self.middle + by * (pose.position - self.middle),
                    rotation: (by * pose.rotation).normalize(),
                    ..*pose
                });
                let turned = format!("{} {}°", AXES[axis].0, signed(turn.to_degrees(), 1));
                (Change::Poses(poses.collect()), turned)
            }
            Handle::Cube => {
                let (_, size) = self.sized?;
                let reach =
                    f64::from((to - seen.centre).length() / (self.from - seen.centre).length().max(1.0));
                let times = reach.clamp(1.0 / MOST_TIMES, MOST_TIMES);
                let size = stepped(size * times, round_length(STEP * size), in_steps);
                let size = size.clamp(1e-3, 1e3);
                (Change::Size(size), format!("{size:.3} m"))
            }
        })
    }
}

/// Draws the handles, and moves what is selected while one is dragged. Returns whether the mouse belongs to a handle, so that
/// neither the eye moves nor anything else is picked.
pub(super) fn show(
    ui: &egui::Ui,
    response: &egui::Response,
    view: Rect,
    input: &UiInput<'_>,
    out: &mut UiOutput,
) -> bool {
    let sandbox =
        input.sandbox.filter(|s| input.tool == Tool::Move && !s.is_breaking() && input.pin.is_none());
    let there = sandbox.and_then(|sandbox| Some((sandbox, target(sandbox)?)));
    let Some((drag, (sandbox, target))) = KeptDrag::<Begun>::on(ui, "gizmo", there) else { return false };
    if let Some(begun) = &drag.begun {
        let (pointer, in_steps) = ui.input(|i| (i.pointer.latest_pos(), i.modifiers.command));
        let change = pointer.and_then(|to| begun.change(to, in_steps));
        let ends = !response.dragged_by(PointerButton::Primary);
        let middle = match &change {
            Some((Change::Poses(poses), _)) => {
                poses.iter().map(|pose| pose.position).sum::<DVec3>() / poses.len().max(1) as f64
            }
            _ => begun.middle,
        };
        if let Some(seen) = Seen::of(input.camera, begun.view, middle) {
            let says = change.as_ref().map(|(_, says)| says.as_str());
            paint(&ui.painter_at(begun.view), &seen, begun.sized.is_some(), Some(begun.handle), says);
        }
        match change {
            Some((Change::Poses(poses), _)) if poses != target.poses => out.push(Command::Place(poses)),
            Some((Change::Size(size), _)) if ends => {
                if let Some((object, before)) = begun.sized.filter(|(_, before)| *before != size)
                    && let Some(up) = sandbox.objects().get(object).map(|object| object.scene.up)
                    && (size / before - 1.0).abs() > 1e-3
                {
                    out.push(Command::SetImport { object, up, size });
                }
            }
            _ => {}
        }
        if ends {
            drag.keep(None);
        }
        return true;
    }
    let Some(seen) = Seen::of(input.camera, view, target.middle) else { return false };
    let is_sized = target.sized.is_some();
    let mouse = Mouse::over(ui, response, (view, input), |at| seen.handle_at(at, is_sized));
    let starts = response.drag_started_by(PointerButton::Primary);
    if let (Some(handle), Some(from), true) = (mouse.takes, mouse.from, starts) {
        let Target { middle, size, poses, sized } = target;
        let camera = input.camera;
        drag.keep(Some(Begun { handle, view, from, middle, size, poses, sized, camera }));
        paint(&ui.painter_at(view), &seen, is_sized, Some(handle), None);
        return true;
    }
    if mouse.hovered.is_some() {
        ui.ctx().set_cursor_icon(CursorIcon::Grab);
    }
    paint(&ui.painter_at(view), &seen, is_sized, mouse.hovered, None);
    for (name, at) in [("gizmo", Some(seen.centre)), ("gizmo_x", seen.arrow(0)), ("gizmo_y", seen.arrow(1))] {
        out.rects.extend(at.map(|at| (name.into(), Rect::from_center_size(at, Vec2::splat(4.0)))));
    }
    // Where no arrow crosses the ring.
    let on_ring = seen.ring(1).get(CORNERS / 8).copied();
    out.rects.extend(on_ring.map(|at| ("gizmo_turn".into(), Rect::from_center_size(at, Vec2::splat(4.0)))));
    let cube = is_sized.then(|| Rect::from_center_size(seen.cube(), Vec2::splat(4.0)));
    out.rects.extend(cube.map(|rect| ("gizmo_size".into(), rect)));
    mouse.is_taken(ui, response)
}

fn paint(painter: &egui::Painter, seen: &Seen, is_sized: bool, chosen: Option<Handle>, says: Option<&str>) {
    let shade = |color: Color32, handle: Handle| match chosen {
        Some(one) if one == handle => Color32::WHITE,
        Some(_) => color.gamma_multiply(0.6),
        None => color,
    };
    let (forward, dark) = (seen.forward(), Stroke::new(4.0, Color32::from_black_alpha(90)));
    for (axis, (_, _, color)) in AXES.into_iter().enumerate() {
        let color = shade(color, Handle::Ring(axis));
        let corners = seen.ring(axis);
        let [u, v] = [1, 2].map(|k| DVec3::AXES[(axis + k) % 3]);
        for (k, pair) in corners.windows(2).enumerate() {
            let angle = std::f64::consts::TAU * (k as f64 + 0.5) / CORNERS as f64;
            let out = u * libm::cos(angle) + v * libm::sin(angle);
            // The far half is fainter, which tells how a ring lies.
            let color = if out.dot(forward) > 0.05 { color.gamma_multiply(0.35) } else { color };
            painter.line_segment([pair[0], pair[1]], Stroke::new(2.0, color));
        }
    }
    for (axis, (name, _, color)) in AXES.into_iter().enumerate() {
        let color = shade(color, Handle::Arrow(axis));
        let Some(end) = seen.arrow(axis).filter(|_| !seen.is_dot(axis)) else { continue };
        let along = (end - seen.centre).normalized();
        let aside = Vec2::new(-along.y, along.x) * 5.0;
        let start = seen.centre + along * DISC;
        painter.line_segment([start, end], dark);
        painter.line_segment([start, end], Stroke::new(2.4, color));
        let tip = vec![end + along * 13.0, end + aside, end - aside];
        painter.add(Shape::convex_polygon(tip, color, Stroke::NONE));
        let font = FontId::proportional(11.0);
        painter.text(end + along * 22.0, Align2::CENTER_CENTER, name, font, color);
    }
    painter.circle(
        seen.centre,
        DISC - 2.0,
        shade(theme::GOLD, Handle::Disc),
        Stroke::new(1.5, Color32::BLACK),
    );
    if is_sized {
        let color = shade(theme::TEXT, Handle::Cube);
        let cube = Rect::from_center_size(seen.cube(), Vec2::splat(2.0 * CUBE_HALF));
        let line = Stroke::new(1.2, color.gamma_multiply(0.7));
        painter.line_segment([seen.centre + Vec2::new(8.0, -8.0), seen.cube()], line);
        painter.rect(cube, 1.0, color, Stroke::new(1.0, Color32::BLACK), egui::StrokeKind::Outside);
    }
    if let Some(says) = says {
        let font = FontId::monospace(13.0);
        let galley = painter.layout_no_wrap(says.to_owned(), font, theme::TEXT);
        let at = seen.centre + Vec2::new(-0.5 * galley.size().x, ARROW + 22.0);
        let back = Rect::from_min_size(at, galley.size()).expand2(Vec2::new(7.0, 4.0));
        painter.rect_filled(back, 4.0, Color32::from_black_alpha(190));
        painter.galley(at, galley, theme::TEXT);
    }
}
