//! A part of the recording that leaves the window: as motion of the pieces, or as a film.
//!
//! In: the current take of the timeline and a span of its time. Out: the bodies, and where they were, at any moment of the
//! span. A shot shares the recorded states, so it stays as it is while the simulation goes on.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    BodyInfo, BreakLog, LeafColors, Legend, Moment, Painter, Place, Quantity, Scale, Slice, Sliced, Timeline,
    ViewTuning,
    body_stress::Stresses,
    coloring::body_place,
    draw_slices,
    exporting::Leaving,
    slices::clips,
    stage::{Motion, Runs, drawn_parts, drawn_shapes},
    timeline::Frame,
};
use crate::{
    bodies::{BodyDef, BodyId, BodyState},
    fracture::Volume,
    render::{Clips, Overlay, RenderBody},
};

/// Recorded states of one take, in order of time; at least one.
#[derive(Clone)]
pub struct Shot {
    states: Vec<Arc<Frame>>,
}

impl Shot {
    /// The states of the current take from the moment `from` to the moment `until` (s): each is the last state up to that
    /// time. `None` if nothing is recorded there.
    #[must_use]
    pub fn of(timeline: &Timeline, [from, until]: [f64; 2]) -> Option<Self> {
        let states = timeline.part([from, until]);
        (!states.is_empty()).then_some(Self { states })
    }

    /// Time of the first and of the last state, s.
    #[must_use]
    pub fn span(&self) -> [f64; 2] {
        let time = |state: Option<&Arc<Frame>>| state.map_or(0.0, |state| state.time);
        [time(self.states.first()), time(self.states.last())]
    }

    /// Number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The times of the states, s, with their bodies and the motions of these, in the same order.
    pub(super) fn each(&self) -> impl Iterator<Item = (f64, &Arc<Moment>, &Runs<Motion>)> {
        self.states.iter().map(|state| (state.time, &state.epoch, &state.motions))
    }

    /// What leaves of the bodies of a state. Structures leave as their parts.
    pub(super) fn leaving<'a>(moment: &'a Moment, motions: &'a Runs<Motion>) -> Vec<Leaving<'a>> {
        let bodies = moment.stage.known().zip(motions.iter());
        bodies.flat_map(|((id, def, info), motion)| Leaving::of(id, def, &motion.state, *info)).collect()
    }

    /// The bodies at `time` (s) and where they are: between two states of the same bodies on the straight way from one to
    /// the other.
    fn at(&self, time: f64) -> Option<(&Moment, Vec<BodyState>)> {
        // Sums of time steps differ in their last bits.
        let after = self.states.partition_point(|state| state.time <= time + 1e-9);
        let state = self.states.get(after.saturating_sub(1))?;
        let next = self.states.get(after).filter(|next| after > 0 && Arc::ptr_eq(&next.epoch, &state.epoch));
        let poses = match next {
            Some(next) => {
                let part = ((time - state.time) / (next.time - state.time)).clamp(0.0, 1.0);
                let ends = state.motions.iter().zip(next.motions.iter());
                ends.map(|(a, b)| between(&a.state, &b.state, part)).collect()
            }
            None => state.motions.iter().map(|motion| motion.state).collect(),
        };
        Some((&state.epoch, poses))
    }

    /// The bodies at `time` (s) for the renderer, without those in `hidden`. `insides` are the materials inside the objects;
    /// at least one.
    #[must_use]
    pub fn render_bodies(
        &self,
        time: f64,
        (insides, look): (&[Volume], &ShotLook),
        hidden: &BTreeSet<BodyId>,
    ) -> Vec<RenderBody> {
        let Some((moment, poses)) = self.at(time) else { return Vec::new() };
        let shown = moment.stage.known().zip(poses).filter(|((id, ..), _)| !hidden.contains(id));
        shown
            .flat_map(|((id, def, info), pose)| {
                let color = look.color((id, def, *info, &pose));
                drawn_parts(def, pose).map(move |(shape, world_from_local)| {
                    look.dressed(RenderBody {
                        shape,
                        world_from_local,
                        id: info.color_id,
                        object: info.object as u32,
                        color,
                        selected: false,
                        mark: None,
                        interior: insides[info.object.min(insides.len() - 1)],
                    })
                })
            })
            .collect()
    }
}

/// What the colours and the slices of a shot show.
#[derive(Default)]
pub struct ShotLook {
    colors: Option<(Quantity, Painter)>,
    leaves: Option<LeafColors>,
    slices: Vec<Slice>,
    scale: Scale,
    breaks: BreakLog,
    stresses: Stresses,
}

impl ShotLook {
    /// The look that `view` and `slices` give to a shot. Colours of numbers reach from the least to the greatest of the whole
    /// shot, unless the scale says otherwise.
    pub(super) fn new(
        shot: &Shot,
        view: &ViewTuning,
        slices: &[Slice],
        (breaks, stresses): (&BreakLog, &Stresses),
    ) -> Self {
        let (breaks, stresses) = (breaks.clone(), stresses.clone());
        let slices = slices.to_vec();
        let mut look = Self { slices, scale: view.scale, breaks, stresses, colors: None, leaves: None };
        let of_voxels = |quantity: &Quantity| quantity.of_voxels;
        if let Some(quantity) = view.color_by.quantity().filter(of_voxels) {
            let bodies =
                shot.each().flat_map(|(_, moment, motions)| moment.stage.known().zip(motions.iter()));
            let placed = bodies.map(|((id, def, info), motion)| {
                let place = body_place((&look.breaks, &look.stresses), (id, def, *info, &motion.state));
                (place, drawn_shapes(def).cloned().collect())
            });
            let leaves = LeafColors::new(quantity, view.scale, placed);
            look.leaves = Some(leaves);
        } else if let Some(quantity) = view.color_by.quantity() {
            let mut values = Vec::new();
            for (_, moment, motions) in shot.each() {
                let bodies = moment.stage.known().zip(motions.iter());
                let value = |((id, def, info), motion): ((BodyId, &BodyDef, &BodyInfo), &Motion)| {
                    look.value(quantity, (id, def, *info, &motion.state))
                };
                values.extend(bodies.filter_map(value));
            }
            let painter = Painter::new(quantity, view.scale, values.into_iter()).under(look.stresses.loads());
            look.colors = Some((quantity, painter));
        }
        look
    }

    fn value(&self, quantity: Quantity, known: (BodyId, &BodyDef, BodyInfo, &BodyState)) -> Option<f64> {
        (quantity.of)(&Place { body: &body_place((&self.breaks, &self.stresses), known), voxel: None })
    }

    fn color(&self, known: (BodyId, &BodyDef, BodyInfo, &BodyState)) -> Option<[u8; 3]> {
        let (quantity, painter) = self.colors.as_ref()?;
        Some(painter.color(self.value(*quantity, known).unwrap_or(f64::NAN)))
    }

    /// Copies of shapes that the backend has to have before a picture is drawn, where colours mean a quantity of voxels.
    pub(super) fn leaves(&self) -> Option<&LeafColors> {
        self.leaves.as_ref()
    }

    /// The same with the shapes as they are.
    pub(super) fn without_leaves(self) -> Self {
        Self { leaves: None, ..self }
    }

    fn dressed(&self, body: RenderBody) -> RenderBody {
        match &self.leaves {
            Some(leaves) => leaves.dressed(body),
            None => body,
        }
    }

    /// Planes that cut the bodies open at `time` (s).
    #[must_use]
    pub fn clips(&self, time: f64) -> Clips {
        clips(&self.slices, time)
    }

    /// The slices of a shot at `time` (s), without the bodies in `hidden`, on top of another overlay; and what all colours mean.
    #[must_use]
    pub fn overlay(
        &self,
        (shot, time): (&Shot, f64),
        hidden: &BTreeSet<BodyId>,
        below: Option<Arc<Overlay>>,
    ) -> (Option<Arc<Overlay>>, Vec<Legend>) {
        let of_bodies = self.colors.as_ref().and_then(|(_, painter)| painter.legend());
        let own = of_bodies.or_else(|| self.leaves.as_ref()?.legend());
        let mut legends: Vec<Legend> = own.into_iter().collect();
        let Some((moment, poses)) = shot.at(time).filter(|_| !self.slices.is_empty()) else {
            return (below, legends);
        };
        let shown = moment.stage.known().zip(&poses).filter(|((id, ..), _)| !hidden.contains(id));
        let sliced = shown.map(|((id, def, info), pose)| Sliced {
            place: body_place((&self.breaks, &self.stresses), (id, def, *info, pose)),
            parts: drawn_parts(def, *pose).collect(),
        });
        let sliced: Vec<Sliced<'_>> = sliced.collect();
        let (overlay, of_slices) = draw_slices(&sliced, &self.slices, (self.scale, time), below.as_deref());
        legends.extend(of_slices);
        legends.dedup();
        (Some(Arc::new(overlay)), legends)
    }
}

/// The pose at a share of the way between two, as programs interpolate keys of motion.
fn between(a: &BodyState, b: &BodyState, part: f64) -> BodyState {
    // The same rotation with the sign that gives the shorter path.
    let turn = if a.rotation.dot(b.rotation) < 0.0 { -b.rotation } else { b.rotation };
    BodyState {
        position: a.position.lerp(b.position, part),
        rotation: (a.rotation * (1.0 - part) + turn * part).normalize(),
        ..*a
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::{
        bodies::{World, WorldSettings, testing::cuboid},
        scene::Moment,
    };

    /// A box that moves 1 m/s along x and turns 1 rad/s about y, recorded every 0.1 s for 1 s; a second one from 0.5 s.
    fn recorded() -> Timeline {
        let (mut timeline, mut world) = (Timeline::default(), World::on_cpu(WorldSettings::default()));
        world.add(cuboid(DVec3::ZERO, DVec3::ONE));
        for step in 0..=10u32 {
            if step == 5 {
                world.add(cuboid(DVec3::Y * 5.0, DVec3::ONE));
            }
            let time = f64::from(step) * 0.1;
            world.bodies[0].state.position.x = time;
            world.bodies[0].state.rotation = DQuat::from_rotation_y(time);
            let bodies = &world.bodies;
            timeline.record((time, 0), bodies, false, |_| Moment::of(bodies));
        }
        timeline
    }

    /// Fails where a shot has states outside its span, or where it stands on the last state between two.
    #[test]
    fn a_shot_has_the_bodies_of_its_span_between_states_too() {
        let timeline = recorded();
        let shot = Shot::of(&timeline, [0.25, 0.72]).unwrap();
        assert_eq!((shot.states(), shot.span()), (6, [0.2, 0.7000000000000001]));
        let x = |shot: &Shot, time: f64| {
            let (moment, poses) = shot.at(time).unwrap();
            assert_eq!(moment.stage.known().count(), poses.len());
            (poses.len(), poses[0].position.x, poses[0].rotation.to_axis_angle().1)
        };
        let (count, place, turn) = x(&shot, 0.33);
        assert!(count == 1 && (place - 0.33).abs() < 1e-12 && (turn - 0.33).abs() < 1e-4, "{place} {turn}");
        // The bodies change at 0.5 s: up to then the old ones stand where they were seen last.
        assert_eq!(x(&shot, 0.46), x(&shot, 0.4));
        assert_eq!((x(&shot, 0.5).0, x(&shot, 9.0).1), (2, 0.7000000000000001));
        assert_eq!(x(&shot, -1.0).1, 0.2, "before its first state");
        assert_eq!(Shot::of(&timeline, [0.0, 1.0]).unwrap().states(), 11);
        assert!(Shot::of(&timeline, [0.9, 0.2]).is_none());
        assert!(Shot::of(&Timeline::default(), [0.0, 1.0]).is_none());
    }
}
