//! What a scene says of the strength of a body that holds together by bonds, and what anchors it.
//!
//! In: `hold` and `[body.strength]`. Out: the [`Structure`] of a break whose parts hold.

use std::{collections::HashMap, sync::Arc};

use glam::DVec3;

use super::{debris::half_axes, lumps};
use crate::{
    bodies::{
        Body,
        structure::{Strength, StrengthMaterial, Structure, StructurePart},
    },
    fracture::{Break, CrackSection, Dab, Paint},
    parameter::{Parameter, Row, parameters, rows},
    shape::Shape,
    svo::morton,
};

/// `[body.strength]`: values that are absent are those of the material.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BodyStrength {
    /// The material whose strength the bonds have.
    pub material: StrengthMaterial,
    /// Whether the body breaks by itself where it is struck, while no bonds hold it: from the energy that its strength says.
    pub whole: bool,
    /// Whether single parts that came loose of a body with `hold` break so, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loose: bool,
    /// Tension at which a bond fails, Pa.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tension: Option<f64>,
    /// Compression at which it fails, Pa.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<f64>,
    /// Shear at which it fails, Pa.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear: Option<f64>,
    /// Young's modulus, Pa.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Energy of a new crack, J/m^2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toughness: Option<f64>,
    /// Strength across the grain, as a share of that along it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across: Option<f64>,
    /// Direction of the grain, axes of the mesh; any length but zero.
    pub grain_axis: DVec3,
    /// Scatter of the strength from bond to bond.
    pub scatter: f64,
    /// Random seed of the scatter.
    pub rng: u64,
    /// Share of its remaining strength that a bond loses for each bond of its two parts that fails, 0 to 0.99.
    pub propagation: f64,
    /// Share of its remaining strength that a bond loses by a blow which it only just survives, 0 to 0.99; 0: none.
    pub fatigue: f64,
    /// Load up to which blows wear nothing, as a share of the remaining strength, 0 to 0.99.
    pub endurance: f64,
    /// How many lumps there are at each level; bonds within a lump are stronger. Empty: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lumps: Vec<u32>,
    /// How many times as strong bonds are for each level at which they lie within a lump.
    pub within: f64,
    /// Factors of the strength of bonds between lumps of each level, and one more of those within the smallest lumps, 1
    /// where it is absent. Empty: `within` decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lump_strength: Vec<f64>,
    /// How many crumbs and how much dust bonds leave where they fail, as a multiple of the usual amount; 0: none.
    pub debris: f64,
    /// Whether parts that stand on the floor at the start are anchored.
    pub anchor_floor: bool,
    /// Whether parts that touch a fixed body at the start are anchored.
    pub anchor_fixed: bool,
    /// Boxes whose parts are anchored: low and high corners in the world at the start, m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<[DVec3; 2]>,
    /// Strengths of single bonds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bonds: Vec<BondStrength>,
}

/// The strength of one bond.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BondStrength {
    /// The parts that it joins, by descending size from 0.
    pub parts: [u32; 2],
    /// Its strength as a share of the material's.
    pub share: f64,
}

impl Default for BodyStrength {
    fn default() -> Self {
        Self {
            material: StrengthMaterial::default(),
            whole: true,
            loose: false,
            tension: None,
            compression: None,
            shear: None,
            stiffness: None,
            toughness: None,
            across: None,
            grain_axis: DVec3::Y,
            scatter: 0.0,
            rng: 1,
            propagation: 0.0,
            fatigue: 0.0,
            endurance: 0.5,
            lumps: Vec::new(),
            within: 4.0,
            lump_strength: Vec::new(),
            debris: 1.0,
            anchor_floor: false,
            anchor_fixed: false,
            anchors: Vec::new(),
            bonds: Vec::new(),
        }
    }
}

/// Most levels of lumps.
const MOST_LUMP_LEVELS: usize = 6;
/// Most lumps of a level.
pub const MOST_LUMPS: u32 = 4096;
/// Factors of strength that a level of lumps may have.
const LEAST_FACTOR: f64 = 1e-6;
const MOST_FACTOR: f64 = 1e6;
/// Most boxes and most single bonds that a scene may name.
const MOST_ANCHORS: usize = 10_000;
const MOST_BONDS: usize = 1_000_000;

/// Strengths and moduli that a scene may give, Pa.
const STRESS: (f64, f64) = (1.0, 1e15);

parameters! {
    /// Strength in tension.
    pub TENSION = Parameter::number("Tension", STRESS, "Tension at which a bond fails").logarithmic(1e3, 1e9)
        .unit("Pa", 0).undo("strength").unset("the material's");
    /// Strength in compression.
    pub COMPRESSION = Parameter::number("Compression", STRESS, "Compression at which a bond fails")
        .logarithmic(1e3, 1e9).unit("Pa", 0).undo("strength").unset("the material's");
    /// Strength in shear.
    pub SHEAR = Parameter::number("Shear", STRESS, "Shear at which a bond fails where nothing presses it together")
        .logarithmic(1e3, 1e9).unit("Pa", 0).undo("strength").unset("the material's");
    /// Young's modulus.
    pub BOND_STIFFNESS = Parameter::number("Stiffness", STRESS, "Young's modulus: decides how loads are shared out \
         and how much energy a blow needs").logarithmic(1e6, 1e12).unit("Pa", 0).undo("strength")
        .unset("the material's");
    /// Energy of a crack.
    pub TOUGHNESS = Parameter::number("Toughness", (0.0, 1e12), "Energy that a square metre of new crack takes")
        .logarithmic(0.1, 1e5).unit("J/m²", 0).undo("strength").unset("the material's");
    /// Strength across the grain.
    pub ACROSS = Parameter::number("Across grain", (1e-6, 1.0), "Strength across the grain as a share of that along it")
        .undo("strength").unset("the material's");
    /// Scatter from bond to bond.
    pub SCATTER = Parameter::number("Scatter", (0.0, 2.0), "How much the strength differs from bond to bond: standard \
         deviation of its logarithm").slider(0.0, 0.6).undo("strength");
    /// Damage that spreads.
    pub PROPAGATION = Parameter::number("Spreads", (0.0, 0.99), "How a break runs on: at 0 each joint stands alone, \
         near 1 a failed joint soon takes its neighbours along").slider(0.0, 0.6).undo("strength")
        .more("the share of its strength that a bond loses for each bond of its two parts that fails");
    /// Wear by blows.
    pub FATIGUE = Parameter::number("Fatigue", (0.0, 0.99), "How blows wear what they do not break: at 0 not at all; \
         else the share of its strength that a bond loses by a blow which it only just survives")
        .slider(0.0, 0.5).undo("strength").more("weaker blows take less, [how](physics.md#fatigue)");
    /// Loads that wear nothing.
    pub ENDURANCE = Parameter::number("Endures", (0.0, 0.99), "Blows that load a bond by no more than this share of its \
         strength wear nothing").undo("strength");
    /// Strength within lumps.
    pub WITHIN = Parameter::number("In lumps", (1.0, 1e6), "How many times as strong bonds are within a lump, for each \
         level of lumps").logarithmic(1.0, 30.0).undo("strength");
    /// Crumbs and dust.
    pub DEBRIS = Parameter::number("Debris", (0.0, 10.0), "How many crumbs and how much dust bonds leave where they fail, \
         as a multiple of the usual amount; 0: none").slider(0.0, 4.0).undo("debris").more("[how](physics.md#debris)");
}

impl BodyStrength {
    /// The table of its values.
    pub const ROWS: &'static [Row<Self>] = rows! { Self;
        value material = Parameter::new("Strength of", "material whose strength the bonds have: \"glass\", \"ceramic\", \
             \"concrete\", \"masonry\", \"stone\", \"plaster\", \"oak\" or \"ice\"")
            .undo("strength").more("[figures](physics.md#strength-of-materials)");
        value whole = Parameter::new("Breaks when struck", "whether the body, without `hold` and `break_threshold`, breaks by \
             itself from the energy of a blow that its strength says")
            .undo("strength").more("[how](physics.md#breaking-by-a-blow)");
        value loose = Parameter::new("Loose parts break", "whether single parts that came loose of a body with `hold` \
             break on by themselves, as `whole` says of others; pieces may become many").undo("strength");
        number tension = TENSION;
        number compression = COMPRESSION;
        number shear = SHEAR;
        number stiffness = BOND_STIFFNESS;
        number toughness = TOUGHNESS;
        number across = ACROSS;
        value grain_axis = Parameter::new("Grain along", "axis of the mesh along which the grain runs; any length")
            .undo("strength");
        number scatter = SCATTER;
        value rng = Parameter::new("Its seed", "random seed of the scatter").undo("strength");
        number propagation = PROPAGATION;
        number fatigue = FATIGUE;
        number endurance = ENDURANCE, if |strength| strength.fatigue > 0.0;
        value lumps = Parameter::new("Lumps", "how many lumps there are at each level, `[8, 40]`: bonds within a lump are \
             stronger, so that it comes apart in lumps first").undo("strength").unset("none");
        number within = WITHIN, if |strength| !strength.lumps.is_empty() && strength.lump_strength.is_empty();
        value lump_strength = Parameter::new("Of lumps", "factors of the strength of bonds between lumps, one for each \
             level of `lumps`, `[0.5, 1]`; one more is of bonds within the smallest lumps, which else have 1")
            .undo("strength").unset("by `within`");
        number debris = DEBRIS;
        value anchor_floor = Parameter::new("Anchored", "whether parts that stand on the floor at the start cannot move")
            .undo("anchors");
        value anchor_fixed = Parameter::new("Anchored to what is fixed", "whether parts that touch a fixed body at the \
             start cannot move").undo("anchors");
        value anchors = Parameter::new("Anchor boxes", "boxes as lists of a low and a high corner, in the world, m: \
             parts that reach into one at the start cannot move").undo("anchors").unset("none");
        value bonds = Parameter::new("Bonds", "strengths of single bonds, `{ parts = [a, b], share = 0.5 }` each: \
             shares of the material's").undo("strength").unset("none");
    };

    /// That of a body of which nothing is said: its bonds are those of concrete, and without bonds nothing breaks it.
    #[must_use]
    pub fn unsaid() -> Self {
        Self { whole: false, ..Self::default() }
    }

    /// The strength of the bonds.
    #[must_use]
    pub fn strength(&self) -> Strength {
        let usual = self.material.strength();
        Strength {
            tension: self.tension.unwrap_or(usual.tension),
            compression: self.compression.unwrap_or(usual.compression),
            shear: self.shear.unwrap_or(usual.shear),
            stiffness: self.stiffness.unwrap_or(usual.stiffness),
            toughness: self.toughness.unwrap_or(usual.toughness),
            across: self.across.unwrap_or(usual.across),
            grain_axis: self.grain_axis,
            scatter: self.scatter,
            rng: self.rng,
            propagation: self.propagation,
            fatigue: self.fatigue,
            endurance: self.endurance,
        }
    }

    /// The same structure with these strengths and the weak dabs of the brush.
    #[must_use]
    pub(super) fn given_to(&self, structure: &Structure, paint: &[Dab]) -> Structure {
        let mut structure = structure.with_strength(self.strength());
        self.share_out(&mut structure, paint);
        structure
    }

    /// Gives single bonds the strengths of their own: by the list, by lumps, and by the weak dabs of the brush.
    fn share_out(&self, structure: &mut Structure, paint: &[Dab]) {
        let name = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        // Of several entries for one bond the last counts.
        let own: HashMap<[u32; 2], f64> =
            self.bonds.iter().map(|bond| (name(bond.parts), bond.share)).collect();
        for bond in &mut structure.bonds {
            if let Some(share) = own.get(&name(bond.section.parts)) {
                bond.share = *share;
            }
        }
        lumps::strengthen(structure, &self.lumps, (self.within, self.lump_strength.as_slice()), self.rng);
        weaken(structure, paint);
    }

    /// The first value that is out of range: its name, and what is wrong.
    #[must_use]
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if let Some(problem) = Self::ROWS.iter().find_map(|row| row.problem(self)) {
            return Some(problem);
        }
        if !self.grain_axis.is_finite() || self.grain_axis.length() < 1e-9 {
            return Some(("grain_axis", "must be finite and not zero; [0, 1, 0] is upright".into()));
        }
        if self.rng > i64::MAX as u64 {
            return Some(("rng", "is too large; it must be below 2^63".into()));
        }
        if self.lumps.len() > MOST_LUMP_LEVELS
            || !self.lumps.iter().all(|count| (2..=MOST_LUMPS).contains(count))
        {
            let text =
                format!("takes up to {MOST_LUMP_LEVELS} numbers of lumps, each from 2 to {MOST_LUMPS}");
            return Some(("lumps", text));
        }
        let (levels, given) = (self.lumps.len(), self.lump_strength.len());
        let is_factor = |factor: &f64| (LEAST_FACTOR..=MOST_FACTOR).contains(factor);
        let is_long_enough = given == 0 || levels > 0 && (levels..=levels + 1).contains(&given);
        if !is_long_enough || !self.lump_strength.iter().all(is_factor) {
            let text = format!(
                "takes a factor from {LEAST_FACTOR} to {MOST_FACTOR} for each of the {levels} levels of lumps, and one more \
                 for bonds within the smallest"
            );
            return Some(("lump_strength", text));
        }
        if self.anchors.len() > MOST_ANCHORS {
            let text = format!(
                "has {} boxes; join those that touch, {MOST_ANCHORS} are the most",
                self.anchors.len()
            );
            return Some(("anchors", text));
        }
        if self.bonds.len() > MOST_BONDS {
            let text = format!(
                "has {} bonds; {MOST_BONDS} are the most: give the material another strength instead",
                self.bonds.len()
            );
            return Some(("bonds", text));
        }
        let is_box = |[low, high]: &[DVec3; 2]| low.is_finite() && high.is_finite() && low.cmple(*high).all();
        if !self.anchors.iter().all(is_box) {
            return Some(("anchors", "has a box whose low corner is not below its high corner".into()));
        }
        let is_share =
            |bond: &BondStrength| (0.0..=1e6).contains(&bond.share) && bond.parts[0] != bond.parts[1];
        if !self.bonds.iter().all(is_share) {
            return Some(("bonds", "needs two parts and a share from 0 to 1000000 each".into()));
        }
        None
    }

    /// The structure of a body that was broken into parts which hold.
    pub(super) fn structure(
        &self,
        body: &Body,
        (broken, sections): (&Break, &[CrackSection]),
        around: &Around<'_>,
    ) -> Structure {
        let cells = body.def.shape.as_octree().zip(broken.pattern.as_ref());
        let seeds = cells.map_or_else(Vec::new, |(octree, pattern)| pattern.seeds_in_voxels(octree.level()));
        let part = |(number, part): (usize, &crate::fracture::Part)| {
            let seed = cells.and_then(|(octree, pattern)| {
                // A cell of several seeds has no seed of its own.
                let is_alone = pattern.objects.iter().filter(|object| **object == part.cell).count() == 1;
                let seed = seeds.get(part.cell as usize).copied().filter(|_| is_alone)?;
                Some(octree.grid.origin + octree.grid.h * DVec3::from_array(seed))
            });
            StructurePart {
                number: number as u32,
                node: seed.unwrap_or(part.shape.mass().centre),
                anchored: self.is_anchored(body, &part.shape, around)
                    || is_anchored_by_paint(&part.shape, &broken.params.paint),
                shape: Arc::clone(&part.shape),
            }
        };
        let parts = broken.parts.iter().enumerate().map(part).collect();
        let mut structure = Structure::new(&body.def.shape, parts, sections, self.strength());
        self.share_out(&mut structure, &broken.params.paint);
        structure
    }

    fn is_anchored(&self, body: &Body, part: &Shape, around: &Around<'_>) -> bool {
        let (low, high) = bounds_in_world(body, part);
        let stands = self.anchor_floor && around.floor.is_some_and(|floor| low.y <= top_of(floor, body));
        stands
            || self.anchors.iter().any(|anchor| meets(anchor, low, high))
            || self.anchor_fixed && around.fixed(body).any(|other| touches(body, part, other))
    }

    /// The boxes that meet a body as it lies, and the height (world, m) up to which the floor anchors it.
    pub(super) fn anchors_of(&self, body: &Body, floor: Option<f64>) -> (Vec<[DVec3; 2]>, Option<f64>) {
        let (low, high) = bounds_in_world(body, &body.def.shape);
        let boxes = self.anchors.iter().filter(|anchor| meets(anchor, low, high)).copied().collect();
        let floor = floor.filter(|_| self.anchor_floor).map(|floor| top_of(floor, body));
        (boxes, floor.filter(|top| low.y <= *top))
    }

    /// The first of its bonds and boxes that the structure of a body has nothing for, and what to do.
    pub(super) fn unmet(&self, body: &Body, structure: &Structure) -> Option<String> {
        let parts = &structure.parts;
        // Bonds of a whole body are in the order of the numbers of their parts.
        let is_bond = |[a, b]: [u32; 2]| {
            let name = [a.min(b), a.max(b)];
            structure.bonds.binary_search_by_key(&name, |bond| bond.section.parts).is_ok()
        };
        if let Some([a, b]) = self.bonds.iter().map(|bond| bond.parts).find(|parts| !is_bond(*parts)) {
            return Some(format!(
                "bonds names the parts {a} and {b}, which no bond joins; there are {} parts, counted from 0 by descending \
                 size at this level",
                parts.len()
            ));
        }
        let is_met = |anchor: &[DVec3; 2]| {
            let mut bounds = parts.iter().map(|part| bounds_in_world(body, &part.shape));
            bounds.any(|(low, high)| meets(anchor, low, high))
        };
        let at = self.anchors.iter().position(|anchor| !is_met(anchor))?;
        let [low, high] = self.anchors[at];
        Some(format!(
            "box {} of anchors, from {low} to {high}, meets no part at the start; corners are in the world, m",
            at + 1
        ))
    }
}

/// What parts may be anchored to.
pub(super) struct Around<'a> {
    /// Height of the floor, where there is one, m.
    pub floor: Option<f64>,
    /// All bodies.
    pub bodies: &'a [Body],
}

impl<'a> Around<'a> {
    fn fixed(&self, body: &Body) -> impl Iterator<Item = &'a Body> + use<'a> {
        let own = body.id;
        self.bodies.iter().filter(move |other| other.def.fixed && other.id != own)
    }
}

/// Bounds of a part of a body, world, m.
fn bounds_in_world(body: &Body, part: &Shape) -> (DVec3, DVec3) {
    let (shape, state) = (&body.def.shape, &body.state);
    let corners = part.bounds().corners().map(|p| shape.local_from_part(part, p));
    let corners = corners.map(|p| shape.to_world(state.position, state.rotation, p));
    corners.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)))
}

/// The height up to which what begins there stands on a floor, world, m.
fn top_of(floor: f64, body: &Body) -> f64 {
    floor + 1.5 * body.def.grain_m()
}

fn meets([from, to]: &[DVec3; 2], low: DVec3, high: DVec3) -> bool {
    low.cmple(*to).all() && high.cmpge(*from).all()
}

/// Centres of voxels of two bodies that share a corner are no farther apart than this many times the sum of their edges: half a
/// diagonal of each, and some more for bodies that lie a hair apart.
const BESIDE: f64 = 1.0;

/// Whether a boundary voxel of a part lies beside one of another body.
fn touches(body: &Body, part: &Shape, other: &Body) -> bool {
    let (Some(own), Some(octree)) = (part.as_octree(), other.def.shape.as_octree()) else { return false };
    // In voxels of the other body.
    let reach = BESIDE * (own.grid.h + octree.grid.h) / octree.grid.h;
    let bounds = other.def.shape.bounds();
    let (low, high) = (bounds.low - reach, bounds.high + reach);
    let (shape, state, there) = (&body.def.shape, &body.state, &other.state);
    own.forest.leaves.keys.slice(own.leaves()).iter().any(|key| {
        let local = DVec3::from_array(morton::decode(key).map(f64::from)) + 0.5;
        let world = shape.to_world(state.position, state.rotation, shape.local_from_part(part, local));
        let at = other.def.shape.to_local(there.position, there.rotation, world);
        at.cmpge(low).all()
            && at.cmple(high).all()
            && !octree.forest.leaves_near(octree.tree as usize, at, reach).is_empty()
    })
}

/// How many samples a side the area of a bond is divided into, at least and at most.
const SAMPLES: [f64; 2] = [12.0, 96.0];
/// So many samples lie across the radius of the smallest dab, if these are not too many.
const ACROSS_A_DAB: f64 = 4.0;

/// Weakens bonds by the share of their area that lies in weak dabs; where several cover a place the weakest counts.
fn weaken(structure: &mut Structure, paint: &[Dab]) {
    let weak: Vec<&Dab> = paint.iter().filter(|dab| dab.kind == Paint::Weak).collect();
    for bond in &mut structure.bonds {
        bond.share *= strength_left(&bond.section, &weak);
    }
}

/// The share of its strength that dabs leave of a bond: the mean of what they leave at places spread evenly over the rectangle
/// that has the area and the second moments of its crack.
fn strength_left(section: &CrackSection, dabs: &[&Dab]) -> f64 {
    let [s, t] = half_axes(section.area, section.normal, &section.moments);
    let reach = (s.length_squared() + t.length_squared()).sqrt();
    let is_near = |dab: &&&Dab| dab.at.distance(section.centre) <= dab.radius + reach;
    let near: Vec<&Dab> = dabs.iter().filter(is_near).copied().collect();
    if near.is_empty() {
        return 1.0;
    }
    let smallest = near.iter().map(|dab| dab.radius).fold(f64::INFINITY, f64::min);
    let side = 2.0 * s.length().max(t.length());
    let count = (ACROSS_A_DAB * side / smallest).ceil().clamp(SAMPLES[0], SAMPLES[1]) as u32;
    let at = |k: u32| (2.0 * f64::from(k) + 1.0) / f64::from(count) - 1.0;
    let places = (0..count).flat_map(|i| (0..count).map(move |k| (at(i), at(k))));
    let left = places.map(|(i, k)| {
        let place = section.centre + s * i + t * k;
        near.iter().filter(|dab| dab.covers(place)).map(|dab| dab.amount()).fold(1.0, f64::min)
    });
    left.sum::<f64>() / f64::from(count * count)
}

/// Whether a weak dab meets a bond of a structure that holds.
pub(super) fn meets_a_bond(structure: &Structure, dab: &Dab) -> bool {
    let dab = Dab { amount: Some(0.0), ..*dab };
    let mut holding = structure.bonds.iter().filter(|bond| bond.damage < 1.0);
    holding.any(|bond| strength_left(&bond.section, &[&dab]) < 1.0)
}

/// Whether an anchor dab touches a part: whether a leaf of its octree, or the nearest point of its bounds if it has none,
/// lies in a dab.
fn is_anchored_by_paint(part: &Shape, paint: &[Dab]) -> bool {
    let mut anchors = paint.iter().filter(|dab| dab.kind == Paint::Anchor).peekable();
    if anchors.peek().is_none() {
        return false;
    }
    let bounds = part.bounds();
    let to_shape = |p: DVec3| part.as_octree().map_or(p, |octree| octree.grid.origin + octree.grid.h * p);
    let (low, high) = (to_shape(bounds.low), to_shape(bounds.high));
    anchors.any(|dab| {
        if !dab.covers(dab.at.clamp(low, high)) {
            return false;
        }
        let Some(octree) = part.as_octree() else { return true };
        // A ball of this radius round any point of the surface has the middle of a leaf in it.
        let (middle, radius) = (octree.grid.from_mesh(dab.at), (dab.radius / octree.grid.h).max(0.87));
        !octree.forest.leaves_near(octree.tree as usize, middle, radius).is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weak_dab_counts_by_the_area_that_it_covers() {
        // A rectangle of 0.4 x 0.2 m across x, whose middle is not the origin.
        let (width, height) = (0.4, 0.2);
        let centre = DVec3::new(1.0, -2.0, 0.5);
        let area: f64 = width * height;
        let moments =
            glam::DMat3::from_diagonal(area / 12.0 * DVec3::new(0.0, width * width, height * height));
        let section = CrackSection { parts: [0, 1], area, centre, normal: DVec3::X, moments };
        let dab = |off: DVec3, radius: f64, amount: f64| {
            let (kind, at) = (Paint::Weak, centre + off);
            Dab { kind, at, radius, amount: Some(amount), ..Dab::default() }
        };
        let left = |dabs: &[Dab]| strength_left(&section, &dabs.iter().collect::<Vec<_>>());
        let disc = std::f64::consts::PI * 0.08 * 0.08 / area;
        assert!((left(&[dab(DVec3::ZERO, 0.08, 0.0)]) - (1.0 - disc)).abs() < 0.02);
        // A ball beside the plane meets it in a smaller disc: 0.06^2 + 0.08^2 = 0.1^2.
        assert!((left(&[dab(DVec3::X * 0.06, 0.1, 0.25)]) - (1.0 - 0.75 * disc)).abs() < 0.02);
        // At a corner a quarter of it.
        let corner = DVec3::new(0.0, 0.2, 0.1);
        assert!((left(&[dab(corner, 0.08, 0.0)]) - (1.0 - disc / 4.0)).abs() < 0.02);
        assert_eq!(left(&[dab(DVec3::ZERO, 0.3, 0.5)]), 0.5);
        assert_eq!(left(&[dab(DVec3::ZERO, 0.3, 0.5), dab(DVec3::ZERO, 0.3, 0.25)]), 0.25, "the weakest");
        assert_eq!(left(&[dab(DVec3::Y * 0.5, 0.08, 0.0)]), 1.0);
    }

    #[test]
    fn what_is_not_said_is_the_materials_and_bad_values_are_named() {
        let glass =
            BodyStrength { material: StrengthMaterial::Glass, tension: Some(2e6), ..Default::default() };
        let strength = glass.strength();
        assert_eq!((strength.tension, strength.stiffness), (2e6, 70e9));
        assert_eq!(glass.problem(), None);
        let text = "material = \"oak\"\nanchor_floor = true\nanchors = [[[0, 0, 0], [1, 2, 3]]]\n\
                    bonds = [{ parts = [1, 4], share = 0.25 }]";
        let read: BodyStrength = toml::from_str(text).unwrap();
        assert_eq!((read.material, read.bonds[0].parts), (StrengthMaterial::Oak, [1, 4]));
        assert_eq!(toml::from_str::<BodyStrength>(&toml::to_string(&read).unwrap()).unwrap(), read);
        let lumps = |of: &[u32], factors: &[f64]| BodyStrength {
            lumps: of.to_vec(),
            lump_strength: factors.to_vec(),
            ..glass.clone()
        };
        let bond = |parts: [u32; 2]| BondStrength { parts, share: 1.0 };
        for (bad, name) in [
            (BodyStrength { tension: Some(0.0), ..glass.clone() }, "tension"),
            (BodyStrength { shear: Some(f64::NAN), ..glass.clone() }, "shear"),
            (BodyStrength { across: Some(2.0), ..glass.clone() }, "across"),
            (BodyStrength { scatter: -1.0, ..glass.clone() }, "scatter"),
            (BodyStrength { propagation: 1.0, ..glass.clone() }, "propagation"),
            (BodyStrength { debris: 11.0, ..glass.clone() }, "debris"),
            (BodyStrength { grain_axis: DVec3::ZERO, ..glass.clone() }, "grain_axis"),
            (BodyStrength { anchors: vec![[DVec3::ONE, DVec3::ZERO]], ..glass.clone() }, "anchors"),
            (BodyStrength { lumps: vec![8, 1], ..glass.clone() }, "lumps"),
            (BodyStrength { lumps: vec![2; 7], ..glass.clone() }, "lumps"),
            (BodyStrength { fatigue: 1.0, ..glass.clone() }, "fatigue"),
            (BodyStrength { fatigue: 0.1, endurance: 1.0, ..glass.clone() }, "endurance"),
            (lumps(&[], &[0.5]), "lump_strength"),
            (lumps(&[8, 64], &[0.5]), "lump_strength"),
            (lumps(&[8], &[0.5; 3]), "lump_strength"),
            (lumps(&[8], &[f64::NAN]), "lump_strength"),
            (BodyStrength { bonds: vec![bond([2, 2])], ..glass.clone() }, "bonds"),
            (BodyStrength { anchors: vec![[DVec3::ZERO; 2]; MOST_ANCHORS + 1], ..glass.clone() }, "anchors"),
            (BodyStrength { bonds: vec![bond([0, 1]); MOST_BONDS + 1], ..glass.clone() }, "bonds"),
        ] {
            let (field, what) = bad.problem().unwrap();
            assert_eq!(field, name, "{what}");
        }
    }
}
