//! Selecting pieces in the picture and in the list, and editing them.

use std::collections::BTreeSet;

use super::Session;
use crate::{
    bodies::BodyId,
    scene::PieceEdit,
    ui::{Command, NoticeKind, Tool},
};

impl Session {
    /// Executes a command about selected pieces.
    pub(super) fn use_selection(&mut self, command: Command) {
        match command {
            Command::SelectAt { at, joins } => self.select_at(at, joins),
            Command::SelectIn { low, high, joins } => self.select_in(low, high, joins),
            Command::Select(ids) => {
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.select(ids);
                }
            }
            Command::SelectAll => {
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.select_all();
                }
            }
            Command::EditPieces(edit) => self.edit_pieces(edit),
            Command::FrameSelection => self.frame_selection(),
            _ => {}
        }
    }

    /// Probes the voxel at a place in the picture.
    pub(super) fn probe_at(&mut self, at: [f32; 2]) {
        let picked = self.pick_through(at);
        let Some(sandbox) = &mut self.sandbox else { return };
        let Some((pick, direction)) = picked else { return sandbox.forget_probe() };
        if !sandbox.probe_at(&pick, direction) {
            self.say(NoticeKind::Remark, "This body is a surface without voxels".to_owned());
        }
    }

    fn select_at(&mut self, at: [f32; 2], joins: bool) {
        let picked = self.pick_through(at).map(|(pick, _)| pick.body);
        let Some(sandbox) = &mut self.sandbox else { return };
        match picked {
            Some(id) => {
                sandbox.select_picked(id, joins);
                let several = sandbox.objects().len() > 1;
                if let Some(info) = sandbox.info(id).filter(|_| several && self.aiming.tool() == Tool::Move) {
                    let object = info.object;
                    sandbox.focus_on(Some(object));
                }
            }
            // A click beside the objects does not clear a selection that is being extended.
            None if joins => {}
            None => sandbox.select([]),
        }
    }

    /// Selects pieces by their centres, so hidden pieces behind others are included, and large ones only if most of
    /// them is inside.
    fn select_in(&mut self, low: [f32; 2], high: [f32; 2], joins: bool) {
        let (camera, aspect) = (self.camera, self.aspect);
        let Some(sandbox) = &mut self.sandbox else { return };
        let is_in = |at: [f32; 2]| (0..2).all(|axis| (low[axis]..=high[axis]).contains(&at[axis]));
        let shown = sandbox.drawn_centres().into_iter();
        let found = shown.filter(|(_, centre)| camera.project(*centre, aspect).is_some_and(is_in));
        let mut chosen: Vec<BodyId> = found.map(|(id, _)| id).collect();
        if joins {
            chosen.extend(sandbox.selected().map(|body| body.id));
        }
        sandbox.select(chosen);
    }

    fn edit_pieces(&mut self, edit: PieceEdit) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let edited = sandbox.edit(edit);
        match edited {
            Ok(0) if edit != PieceEdit::ShowAll && sandbox.selected().next().is_none() => {
                self.say(
                    NoticeKind::Remark,
                    "Nothing is selected: take the tool Select (S) and click a piece",
                );
            }
            Ok(_) => {}
            Err(error) => self.tell_of(error),
        }
    }

    /// Frames the selection, or else the body under the pointer, or else everything.
    fn frame_selection(&mut self) {
        let selected = self.sandbox.iter().flat_map(|sandbox| sandbox.selected()).map(|body| body.id);
        let mut only: BTreeSet<BodyId> = selected.collect();
        if only.is_empty() {
            only.extend(self.aiming.picked());
        }
        self.frame(Some(&only).filter(|only| !only.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        app::session::testing::session,
        scene::{Arrived, PieceEdit, Scene},
        ui::{Command, Tool},
    };

    const MIDDLE: [f32; 2] = [0.5, 0.5];

    #[test]
    fn a_click_selects_what_is_there_and_one_beside_it_nothing() {
        let mut session = session();
        session.apply(Command::Tool(Tool::Select));
        session.apply(Command::SelectAt { at: MIDDLE, joins: false });
        let count = |session: &super::Session| session.sandbox.as_ref().unwrap().selected().count();
        assert_eq!(count(&session), 1);
        session.apply(Command::SelectAt { at: [0.01, 0.01], joins: true });
        assert_eq!(count(&session), 1, "a click that misses adds nothing and loses nothing");
        session.apply(Command::SelectAt { at: MIDDLE, joins: true });
        assert_eq!(count(&session), 0);
        session.apply(Command::SelectAt { at: MIDDLE, joins: false });
        session.apply(Command::SelectAt { at: [0.01, 0.01], joins: false });
        assert_eq!(count(&session), 0);
    }

    #[test]
    fn a_rubber_band_selects_what_is_drawn_in_it() {
        let mut session = session();
        session.apply(Command::Hit(MIDDLE));
        while session.sandbox.as_mut().unwrap().poll().unwrap() != Some(Arrived::Broke) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        session.apply(Command::FrameAll);
        let all = session.sandbox.as_ref().unwrap().bodies().len();
        let band = |session: &mut super::Session, low: [f32; 2], high: [f32; 2], joins: bool| {
            session.apply(Command::SelectIn { low, high, joins });
            session.sandbox.as_ref().unwrap().selected().map(|body| body.id).collect::<Vec<_>>()
        };
        assert_eq!(band(&mut session, [0.0; 2], [1.0; 2], false).len(), all);
        let left = band(&mut session, [0.0; 2], [0.5, 1.0], false);
        assert!(!left.is_empty() && left.len() < all, "{} of {all}", left.len());
        let right = band(&mut session, [0.5, 0.0], [1.0; 2], false);
        assert_eq!(left.len() + right.len(), all);
        assert!(!right.iter().any(|id| left.contains(id)));
        assert_eq!(band(&mut session, [0.0; 2], [0.5, 1.0], true).len(), all, "with Shift it adds");
        // In an exploded view, the drawn positions count; hidden pieces are not selected.
        let tuning = session.sandbox.as_ref().unwrap().tuning().clone();
        let view = crate::scene::ViewTuning { explode: 3.0, ..tuning.view };
        session.sandbox.as_mut().unwrap().tune("explode", crate::scene::Tuning { view, ..tuning });
        assert!(band(&mut session, [0.3; 2], [0.7; 2], false).len() < all);
        session.apply(Command::Select(left.clone()));
        session.apply(Command::EditPieces(PieceEdit::Hide));
        session.apply(Command::FrameAll);
        assert_eq!(band(&mut session, [0.0; 2], [1.0; 2], false).len(), right.len());
        assert!(band(&mut session, [0.0; 2], [0.001; 2], false).is_empty(), "nothing lies there");
    }

    #[test]
    fn what_is_locked_is_not_broken_and_that_is_told() {
        let mut session = session();
        session.apply(Command::SelectAt { at: MIDDLE, joins: false });
        session.apply(Command::EditPieces(PieceEdit::Lock));
        session.apply(Command::Hit(MIDDLE));
        session.apply(Command::Pin(MIDDLE));
        let sandbox = session.sandbox.as_ref().unwrap();
        assert!(!sandbox.is_breaking() && sandbox.tuning().pin.is_none());
        assert!(session.remarks()[0].contains("locked"), "{:?}", session.remarks());
        session.apply(Command::EditPieces(PieceEdit::Unlock));
        session.apply(Command::Hit(MIDDLE));
        assert!(session.sandbox.as_ref().unwrap().is_breaking());
    }

    #[test]
    fn f_frames_what_is_selected() {
        let mut session = session();
        session.apply(Command::Hit(MIDDLE));
        while session.sandbox.as_mut().unwrap().poll().unwrap() != Some(Arrived::Broke) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        session.apply(Command::FrameAll);
        let whole = session.camera;
        let smallest = session.sandbox.as_ref().unwrap().bodies().last().unwrap().id;
        session.apply(Command::Select(vec![smallest]));
        session.apply(Command::FrameSelection);
        let sandbox = session.sandbox.as_ref().unwrap();
        let (low, high) = sandbox.bounds(Some(smallest)).unwrap();
        assert!(
            session.camera.distance < 0.6 * whole.distance,
            "{} of {}",
            session.camera.distance,
            whole.distance
        );
        assert!(session.camera.target.distance(low.midpoint(high)) < 0.5 * low.distance(high));
    }

    /// Planted error to see this fail: pick bodies where they stood at the start.
    #[test]
    fn a_click_on_a_piece_that_fell_off_tells_why_and_leads_to_the_moment_before() {
        let mut session = session();
        let mut scene = Scene::of_mesh("builtin:box", 4);
        let body = &mut scene.bodies[0];
        (body.hold, body.on_floor, body.position.y, body.linear_velocity.y) = (true, false, 1.0, -20.0);
        body.strength = Some(Box::default());
        let sandbox = session.sandbox.as_mut().unwrap();
        sandbox.open_scene(scene);
        while sandbox.poll().unwrap() != Some(Arrived::Opened) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        for _ in 0..20 {
            while sandbox.is_breaking() {
                sandbox.poll().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            sandbox.step().unwrap();
        }
        while sandbox.is_breaking() {
            sandbox.poll().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(sandbox.bodies().len() > 5, "{} bodies", sandbox.bodies().len());
        let centres = sandbox.drawn_centres();
        session.apply(Command::FrameAll);
        session.apply(Command::Tool(Tool::Select));
        let mut told = 0;
        for (_, centre) in centres {
            let Some(at) = session.camera.project(centre, session.aspect) else { continue };
            session.apply(Command::SelectAt { at, joins: false });
            let sandbox = session.sandbox.as_ref().unwrap();
            // Another piece may lie in front; it is the one that is asked.
            let [id] = sandbox.selected().map(|body| body.id).collect::<Vec<_>>()[..] else { continue };
            let why = sandbox.why_it_fell(id).expect("bonds held every piece");
            let own = sandbox.breaks().parts_of(sandbox.info(id).unwrap());
            let is_own = |part: &&u32| own.contains(&(**part as usize));
            assert_eq!(why.freed.parts.iter().filter(is_own).count(), 1, "a bond at its edge: {why:?}");
            assert!(why.began == sandbox.bond_failures()[0] && why.began.time <= why.freed.time);
            told += 1;
        }
        assert!(told > 3, "{told} clicks met a piece");
        let sandbox = session.sandbox.as_ref().unwrap();
        let (first, now) = (sandbox.bond_failures()[0].time, sandbox.time());
        let frame = sandbox.frame_before(first);
        session.apply(Command::ShowRecorded(frame));
        let there = session.sandbox.as_ref().unwrap().time();
        assert!(there < first && first <= now, "{there} s, {first} s, {now} s");
    }
}
