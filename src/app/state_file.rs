//! Publishes the state as JSON, for tests that drive the window from outside: contents of the scene, and the rectangles
//! of the widgets.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::session::Session;
use crate::{
    scene::{ColumnState, ColumnView, Sandbox},
    ui::UiOutput,
};

/// Longest time between two writes.
const AT_LEAST: Duration = Duration::from_millis(200);
/// Shortest time between two writes while only counters change.
const AT_MOST: Duration = Duration::from_millis(40);

/// Writes the state when it has changed.
pub struct StateFile {
    path: PathBuf,
    last: Value,
    written: Option<Instant>,
}

/// The window's part of the state.
pub struct WindowState {
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Pixels per point.
    pub scale: f32,
    /// Number of frames presented.
    pub frames: u64,
}

impl StateFile {
    /// Publishes the state at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), last: Value::Null, written: None }
    }

    /// When the next write is due.
    pub fn due(&self) -> Instant {
        self.written.map_or_else(Instant::now, |t| t + AT_LEAST)
    }

    /// Writes the state if it has changed or a write is due.
    pub fn update(&mut self, session: &Session, out: &UiOutput, window: &WindowState) {
        let since = self.written.map_or(Duration::MAX, |t| t.elapsed());
        if since < AT_MOST {
            return;
        }
        let state = describe(session, out, window);
        if state == self.last && since < AT_LEAST {
            return;
        }
        // Renamed into place, so that readers never see half a file. Not flushed to disk, since nobody needs it after a
        // crash and a flush would cost part of every frame.
        let temporary = self.path.with_extension("tmp");
        let written = std::fs::write(&temporary, format!("{state:#}\n"));
        if let Err(error) = written.and_then(|()| std::fs::rename(&temporary, &self.path)) {
            tracing::warn!("cannot write {}: {error}", self.path.display());
        }
        self.last = state;
        self.written = Some(Instant::now());
    }
}

/// State of the export panel and its worker.
fn export_state(session: &Session) -> Value {
    let exporting = session.exporting();
    json!({
        "open": exporting.open,
        "kind": exporting.order.kind,
        "folder": exporting.order.folder,
        "placed": exporting.order.lying,
        "formats": exporting.order.formats.iter().map(|format| format.name).collect::<Vec<_>>(),
        "running": exporting.job.as_ref().map(|job| job.progress.get()),
        "done": exporting.last.as_ref().map(|last| {
            json!({ "folder": last.folder, "pieces": last.count, "command": last.command })
        }),
    })
}

/// Captions of the views, if there are several.
fn columns_state(sandbox: &Sandbox) -> Vec<Value> {
    let told = |column: ColumnView| {
        let way = column.way.name();
        let mut said = match column.state {
            ColumnState::Whole => json!({ "way": way, "state": "whole" }),
            ColumnState::Voxelising(level) => json!({ "way": way, "state": "voxelising", "level": level }),
            ColumnState::Breaking => json!({ "way": way, "state": "breaking" }),
            ColumnState::Refused(why) => json!({ "way": way, "state": "refused", "why": why }),
            ColumnState::Broken(broken) => json!({
                "way": way,
                "state": if broken.is_pinned { "pinned" } else { "broken" },
                "ms": broken.seconds * 1e3,
                "pieces": broken.pieces,
                "volume_error": broken.volume_error,
                "triangles": broken.meshes.map(|tally| tally.triangles),
                "closed": broken.meshes.map(|tally| tally.closed),
                "differing": broken.differing,
                "counted_at": broken.counted_at,
            }),
        };
        said["title"] = column.title.into();
        said
    };
    sandbox.columns().into_iter().map(told).collect()
}

fn describe(session: &Session, out: &UiOutput, window: &WindowState) -> Value {
    let pixels = |r: &egui::Rect| {
        let s = window.scale;
        json!([r.left() * s, r.top() * s, r.width() * s, r.height() * s])
    };
    let mut rects = serde_json::Map::new();
    for (name, rect) in &out.rects {
        rects.entry(name.as_ref()).or_insert_with(|| pixels(rect));
    }
    let mut state = json!({
        "window": { "size": window.size, "scale": window.scale, "frames": window.frames },
        "rects": rects,
        "viewport": out.viewport.as_ref().map(pixels),
        "playing": session.playing(),
        "replaying": session.replaying(),
        "keymap": session.keymap(),
        "ready": session.sandbox.is_some() && session.renderer.is_some(),
        "hint": session.hint,
        "picture": session.picture_size(),
        "refined": session.refined(),
        "finest": session.is_finest(),
        "errors": session.errors(),
        "remarks": session.remarks(),
        "export": export_state(session),
        "presets": session.presets().iter().map(|view| view.preset.name.as_str()).collect::<Vec<_>>(),
        "hover": session.hover().is_some(),
        "tool": session.tool(),
        "pinned": session.pin_view().is_some(),
        "shown_bodies": session.counts(),
        "question": session.question().map(|question| question.title.as_str()),
        "unsaved": session.sandbox.as_ref().is_some_and(Sandbox::is_unsaved),
    });
    let Some(sandbox) = &session.sandbox else {
        state["busy"] = json!(true);
        return state;
    };
    let camera = session.camera;
    let centre = out.viewport.and_then(|viewport| {
        let (low, high) = sandbox.bounds(None)?;
        let [x, y] = camera.project(low.midpoint(high), viewport.width() / viewport.height())?;
        let at = viewport.min + viewport.size() * egui::vec2(x, y);
        Some([at.x * window.scale, at.y * window.scale])
    });
    let object = sandbox.objects().first();
    let generations = |b: &crate::bodies::Body| sandbox.info(b.id).map_or(0, |info| info.generation);
    let fields = json!({
        "busy": sandbox.is_busy() || sandbox.is_coloring() || session.is_reading(),
        "bodies": sandbox.bodies().len(),
        "pieces": sandbox.bodies().iter().filter(|b| generations(b) > 0).count(),
        "awake": sandbox.awake(),
        "holding": sandbox.bodies().iter().filter(|b| sandbox.is_held(b.id)).count(),
        "failed_bonds": sandbox.bond_failures().len(),
        "stress": sandbox.stress().map(|stress| stress.greatest),
        "stress_updates": sandbox.stress_updates(),
        "time": sandbox.time(),
        "kept_bytes": sandbox.kept_bytes(),
        "recorded": sandbox.timeline().len(),
        "shown_record": sandbox.timeline().cursor(),
        "take": sandbox.timeline().take(),
        "takes": sandbox.timeline().takes().iter().map(|take| take.number).collect::<Vec<_>>(),
        "compared": sandbox.compared(),
        "held": sandbox.held().is_some(),
        "frozen": sandbox.frozen(),
        "selected": sandbox.selected().count(),
        "hidden": sandbox.hidden(),
        "locked": sandbox.bodies().iter().filter(|body| body.locked).count(),
        "object": object.map(|o| o.name.clone()),
        "file": object.map(|o| o.scene.file.clone()),
        "level": object.map(|o| o.scene.level),
        "objects": (0..sandbox.objects().len()).map(|o| sandbox.object_name(o)).collect::<Vec<_>>(),
        "focus": sandbox.focus(),
        "feet": sandbox.bodies().iter().take(8).filter_map(|b| sandbox.foot(b.id)).map(|foot| foot.at.to_array()).collect::<Vec<_>>(),
        "object_centre": centre,
        "tuning": serde_json::to_value(sandbox.tuning()).unwrap_or_default(),
        "undo": sandbox.history().undo_label(),
        "redo": sandbox.history().redo_label(),
        "camera": serde_json::to_value(camera).unwrap_or_default(),
        "opening": sandbox.opening().map(|(label, fraction)| json!({ "label": label, "fraction": fraction })),
        "highest": sandbox.bodies().iter().map(|b| b.state.position.y).fold(None, |a: Option<f64>, y| Some(a.map_or(y, |a| a.max(y)))),
        "preview": {
            "showing": sandbox.preview().showing,
            "level": sandbox.preview().level,
            "ms": sandbox.preview().ms,
            "recomputed": sandbox.preview().recomputed,
            "per_second": sandbox.preview().per_second,
            "preparing": sandbox.preview().preparing,
        },
        "inside": { "reading": sandbox.looking().is_reading, "drawn": sandbox.looking().drawn },
        "kept": sandbox.kept_cells(),
        "cells": sandbox.preview().kept.map(|(_, all)| all),
        "hovered_cell": sandbox.hovered_cell(),
        "kept_body": sandbox.last_break().and_then(|b| b.kept.as_ref()).map(|kept| {
            json!({ "cells": kept.cells, "pieces": kept.pieces })
        }),
        "columns": columns_state(sandbox),
        "views": out.views.iter().map(&pixels).collect::<Vec<_>>(),
        "break_ms": sandbox.last_break().map(|b| b.seconds * 1000.0),
        "mass_error": sandbox.last_break().map(|b| b.mass_error),
        "conserved": sandbox.last_break().map(|b| json!({
            "all": b.is_checked(),
            "checks": b.checks().collect::<Vec<_>>(),
            "first_wrong": b.checks().find(|check| !check.ok).map(|check| check.name.as_str()),
        })),
        "probe": sandbox.probed().map(|probed| &probed.probe),
        "legends": sandbox.legends().iter().map(|legend| legend.title.clone()).collect::<Vec<_>>(),
        "dust_share": sandbox.last_break().map(|b| b.dust_share),
    });
    if let (Some(all), Value::Object(more)) = (state.as_object_mut(), fields) {
        all.extend(more);
    }
    state
}
