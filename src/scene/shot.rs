//! A part of the recording that leaves the window: as motion of the pieces, or as a film.
//!
//! In: the current take of the timeline and a span of its time. Out: the bodies, and where they were, at any moment of
//! the span; their colours and slices, which a worker prepares. A shot shares the recorded states, so it stays as it
//! is while the simulation goes on.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    BodyFields, BodyInfo, BodyInsides, BreakLog, LeafColors, Legend, Moment, Painter, Place, Quantity, Scale,
    Slice, Sliced, Timeline, ViewTuning,
    body_stress::Stresses,
    coloring::{LeafValues, body_place},
    draw_slices,
    exporting::Leaving,
    slices::clips,
    stage::{Motion, Runs, drawn_parts, drawn_shapes},
    timeline::Frame,
};
use crate::{
    bodies::{BodyDef, BodyId, BodyState},
    compute::Compute,
    fracture::Cancel,
    gpu::GpuError,
    render::{Clips, Overlay, RenderBody},
    svo::Arena,
};

/// Recorded states of one take, in order of time; at least one.
#[derive(Clone)]
pub struct Shot {
    states: Vec<Arc<Frame>>,
}

impl Shot {
    /// The states of the current take from the moment `from` to the moment `until` (s): each is the last state up to
    /// that time. `None` if nothing is recorded there.
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

    /// The bodies at `time` (s) and where they are: between two states of the same bodies on the straight way from one
    /// to the other.
    fn at(&self, time: f64) -> Option<(&Arc<Moment>, Vec<BodyState>)> {
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

    /// The bodies at `time` (s) for the renderer, without those in `hidden`, with the materials inside them.
    #[must_use]
    pub fn render_bodies(
        &self,
        time: f64,
        (insides, look): (&BodyInsides, &ShotLook),
        hidden: &BTreeSet<BodyId>,
    ) -> Vec<RenderBody> {
        let Some((moment, poses)) = self.at(time) else { return Vec::new() };
        let shown = moment.stage.known().zip(poses).filter(|((id, ..), _)| !hidden.contains(id));
        shown
            .flat_map(|((id, def, info), pose)| {
                let color = look.color((id, def, *info, &pose));
                let inside = insides.of(info);
                drawn_parts(def, pose).map(move |(shape, world_from_local)| {
                    look.dressed(RenderBody {
                        shape,
                        world_from_local,
                        id: info.color_id,
                        object: info.object as u32,
                        color,
                        selected: false,
                        mark: None,
                        interior: inside.first,
                        later: inside.later,
                    })
                })
            })
            .collect()
    }
}

/// What the colours and the slices of a shot show.
pub struct ShotLook {
    /// What colours mean, and the colours once they are prepared.
    quantity: Option<Quantity>,
    painter: Option<Painter>,
    leaves: Option<ShotLeaves>,
    slices: Vec<Slice>,
    scale: Scale,
    breaks: BreakLog,
    stresses: Stresses,
    fields: BodyFields,
}

/// Copies of the shapes of one moment in the colours of their voxels, on the backend.
struct ShotLeaves {
    moment: Arc<Moment>,
    colors: LeafColors,
    arena: Arena,
}

impl ShotLook {
    /// The look that `view` and `slices` give to a shot, without colours until these are prepared.
    pub(super) fn new(
        view: &ViewTuning,
        slices: &[Slice],
        (breaks, stresses): (&BreakLog, &Stresses),
    ) -> Self {
        Self {
            quantity: view.color_by.quantity(),
            painter: None,
            leaves: None,
            slices: slices.to_vec(),
            scale: view.scale,
            breaks: breaks.clone(),
            stresses: stresses.clone(),
            fields: BodyFields::default(),
        }
    }

    /// Finds the colours of a shot, which takes long and belongs on a worker. Colours of numbers reach from the least
    /// to the greatest of the whole shot, unless the scale says otherwise. Values are kept of one moment at a time.
    pub fn prepare(&mut self, shot: &Shot, cancel: &Cancel) {
        let Some(quantity) = self.quantity else { return };
        let look = &*self;
        let painter = if quantity.of_voxels {
            let mut last: Option<(&Arc<Moment>, LeafValues)> = None;
            let values = shot.each().flat_map(|(_, moment, _)| {
                if last.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, moment)) {
                    return Vec::new();
                }
                let known = last.as_ref().map(|(_, values)| values);
                let values = look.leaf_values(quantity, moment, (known, cancel));
                let numbers: Vec<f64> = values.numbers().collect();
                last = Some((moment, values));
                numbers
            });
            Painter::new(quantity, look.scale, values)
        } else {
            let values = shot.each().flat_map(|(_, moment, motions)| {
                let bodies = moment.stage.known().zip(motions.iter());
                bodies.filter_map(move |((id, def, info), motion)| {
                    look.value(quantity, (id, def, *info, &motion.state))
                })
            });
            Painter::new(quantity, look.scale, values).under(look.stresses.loads())
        };
        self.painter = Some(painter);
    }

    /// The values in the voxels of a moment's shapes, none of which depends on how bodies move.
    fn leaf_values(
        &self,
        quantity: Quantity,
        moment: &Moment,
        last: (Option<&LeafValues>, &Cancel),
    ) -> LeafValues {
        let placed = moment.stage.known().map(|(id, def, info)| {
            let place = body_place((&self.breaks, &self.stresses), (id, def, *info, &def.state));
            (place, drawn_shapes(def).cloned().collect())
        });
        LeafValues::new(quantity, placed, &self.fields, last)
    }

    /// Makes the copies of shapes for pictures of the moment of `time` (s), where colours mean a quantity of voxels;
    /// those of another moment go. Where they do not fit on the backend, voxels keep their own colours from then on.
    pub fn stand_at(&mut self, shot: &Shot, time: f64, compute: &Compute) {
        let quantity = self.quantity.filter(|quantity| quantity.of_voxels);
        let (Some(quantity), Some(painter)) = (quantity, self.painter.clone()) else { return };
        let Some((moment, _)) = shot.at(time) else { return };
        if self.leaves.as_ref().is_some_and(|leaves| Arc::ptr_eq(&leaves.moment, moment)) {
            return;
        }
        let known = self.leaves.as_ref().map(|leaves| leaves.colors.values());
        let colors = self.leaf_values(quantity, moment, (known, Cancel::never())).in_colors(painter);
        // The copies before these make room.
        let arena = self.leaves.take().map(|leaves| leaves.arena);
        match uploaded(&colors, arena, compute) {
            Ok(arena) => self.leaves = Some(ShotLeaves { moment: Arc::clone(moment), colors, arena }),
            Err(error) => {
                tracing::warn!("voxels keep their own colours in the film: {error}");
                (self.quantity, self.painter) = (None, None);
            }
        }
    }

    /// The octrees of the copies that pictures of this moment are drawn by; `None` where bodies are drawn by their own.
    #[must_use]
    pub fn arena(&self) -> Option<&Arena> {
        self.leaves.as_ref().map(|leaves| &leaves.arena)
    }

    fn value(&self, quantity: Quantity, known: (BodyId, &BodyDef, BodyInfo, &BodyState)) -> Option<f64> {
        (quantity.of)(&Place { body: &body_place((&self.breaks, &self.stresses), known), voxel: None })
    }

    fn color(&self, known: (BodyId, &BodyDef, BodyInfo, &BodyState)) -> Option<[u8; 3]> {
        let quantity = self.quantity.filter(|quantity| !quantity.of_voxels)?;
        Some(self.painter.as_ref()?.color(self.value(quantity, known).unwrap_or(f64::NAN)))
    }

    fn dressed(&self, body: RenderBody) -> RenderBody {
        match &self.leaves {
            Some(leaves) => leaves.colors.dressed(body),
            None => body,
        }
    }

    /// Planes that cut the bodies open at `time` (s).
    #[must_use]
    pub fn clips(&self, time: f64) -> Clips {
        clips(&self.slices, time)
    }

    /// The slices of a shot at `time` (s), without the bodies in `hidden`, on top of another overlay; and what all
    /// colours mean. Fields that slices show are made where they are missing.
    #[must_use]
    pub fn overlay(
        &self,
        (shot, time): (&Shot, f64),
        hidden: &BTreeSet<BodyId>,
        below: Option<Arc<Overlay>>,
    ) -> (Option<Arc<Overlay>>, Vec<Legend>) {
        let mut legends: Vec<Legend> = self.painter.iter().filter_map(Painter::legend).collect();
        let Some((moment, poses)) = shot.at(time).filter(|_| !self.slices.is_empty()) else {
            return (below, legends);
        };
        let shown = moment.stage.known().zip(&poses).filter(|((id, ..), _)| !hidden.contains(id));
        let sliced = shown.map(|((id, def, info), pose)| Sliced {
            place: body_place((&self.breaks, &self.stresses), (id, def, *info, pose)),
            parts: drawn_parts(def, *pose).collect(),
        });
        let sliced: Vec<Sliced<'_>> = sliced.collect();
        let shown = (self.scale, time);
        let (overlay, of_slices) = draw_slices(&sliced, &self.slices, shown, &self.fields, below.as_deref());
        legends.extend(of_slices);
        legends.dedup();
        (Some(Arc::new(overlay)), legends)
    }
}

/// The octrees of copies on the backend, in the arena of those before, if there is one.
fn uploaded(colors: &LeafColors, arena: Option<Arena>, compute: &Compute) -> Result<Arena, GpuError> {
    let mut arena = arena.map_or_else(|| Arena::new(compute), Ok)?;
    arena.collect();
    colors.upload(&mut arena)?;
    Ok(arena)
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
