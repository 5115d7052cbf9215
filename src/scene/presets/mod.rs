//! Material presets: fracture parameters, interior and material properties under a name.
//!
//! In: a name, a file, or the panels' values. Out: values for the panels, for a body of a scene, for a command.
//! Applying a preset copies its values; no reference to the preset remains.

mod picture;
mod shelf;
#[cfg(test)]
mod tests;

pub use picture::{draw as draw_preset, shipped as shipped_picture};
pub use shelf::{Listed, preset_beside, preset_of, presets, presets_folder, read_preset, save_preset};

use super::{BodyStrength, Scene, SceneBody, SceneError, Tuning, file::problem_of};
use crate::{fracture::FractureParams, svo::MAX_LEVEL};

/// Fracture parameters, interior and material properties under a name.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaterialPreset {
    /// Its name.
    pub name: String,
    /// One-line description.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Density, kg/m^3.
    pub density: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Restitution, 0..=1.
    pub restitution: f64,
    /// Rolling resistance, 0..=1.
    pub rolling_resistance: f64,
    /// Change of speed in a step at which a body breaks, m/s; absent: it does not break on impact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_threshold: Option<f64>,
    /// Strength of bonds, and whether whole bodies without a threshold break by it (`whole`); absent: both stay. Lumps, anchors,
    /// single bonds, the random seed, and whether loose parts break on belong to an object and stay unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Box<BodyStrength>>,
    /// Method, pattern, surface and interior. Values that belong to an object or a blow (random seed, file of seeds,
    /// kept seeds, island detection) are not part of a material and stay unchanged.
    pub fracture: FractureParams,
}

impl Default for MaterialPreset {
    fn default() -> Self {
        let body = SceneBody::default();
        Self {
            name: String::new(),
            about: String::new(),
            density: body.density,
            friction: body.friction,
            restitution: body.restitution,
            rolling_resistance: body.rolling_resistance,
            break_threshold: body.break_threshold,
            strength: None,
            fracture: body.fracture,
        }
    }
}

/// The material parameters of `wanted`, all others from `own`.
fn material_in(wanted: &FractureParams, own: &FractureParams) -> FractureParams {
    let mut params = FractureParams {
        rng: own.rng,
        keep: own.keep.clone(),
        paint: own.paint.clone(),
        labelling: own.labelling,
        seeds_file: None,
        ..wanted.clone()
    };
    // Kept seeds that the new pattern lacks are dropped.
    let seeds = params.most_seeds();
    params.keep.retain(|seed| *seed < seeds);
    params
}

/// The strength of a material, with what `own` says of one object.
fn strength_in(wanted: &BodyStrength, own: &BodyStrength) -> BodyStrength {
    let own = own.clone();
    BodyStrength {
        loose: own.loose,
        rng: own.rng,
        lumps: own.lumps,
        within: own.within,
        lump_strength: own.lump_strength,
        anchor_floor: own.anchor_floor,
        anchor_fixed: own.anchor_fixed,
        anchors: own.anchors,
        bonds: own.bonds,
        ..wanted.clone()
    }
}

impl MaterialPreset {
    /// Whether another preset has the same values, under whatever name.
    #[must_use]
    pub fn same_material(&self, other: &Self) -> bool {
        let named = Self { name: self.name.clone(), about: self.about.clone(), ..other.clone() };
        *self == named
    }

    /// A preset with the panels' values.
    #[must_use]
    pub fn of_tuning(tuning: &Tuning, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: String::new(),
            density: tuning.density,
            friction: tuning.friction,
            restitution: tuning.restitution,
            rolling_resistance: tuning.rolling_resistance,
            break_threshold: tuning.break_threshold,
            strength: (tuning.strength != BodyStrength::unsaid())
                .then(|| Box::new(strength_in(&tuning.strength, &BodyStrength::default()))),
            fracture: material_in(&tuning.fracture, &FractureParams::default()),
        }
    }

    /// Sets the panels' values, for objects with leaves at `leaf_level`.
    pub fn apply(&self, tuning: &mut Tuning, leaf_level: u32) {
        tuning.density = self.density;
        tuning.friction = self.friction;
        tuning.restitution = self.restitution;
        tuning.rolling_resistance = self.rolling_resistance;
        tuning.break_threshold = self.break_threshold;
        if let Some(strength) = &self.strength {
            tuning.strength = strength_in(strength, &tuning.strength);
        }
        tuning.fracture = material_in(&self.fracture, &tuning.fracture);
        tuning.fracture.fit(leaf_level);
    }

    /// Sets the values of a scene's body.
    pub fn apply_to_body(&self, body: &mut SceneBody) {
        body.density = self.density;
        body.friction = self.friction;
        body.restitution = self.restitution;
        body.rolling_resistance = self.rolling_resistance;
        body.break_threshold = self.break_threshold;
        if let Some(strength) = &self.strength {
            let own = body.strength.as_deref().cloned().unwrap_or_default();
            body.strength = Some(Box::new(strength_in(strength, &own)));
        }
        body.fracture = material_in(&self.fracture, &body.fracture);
        body.fracture.fit(body.level);
    }

    /// Whether the panels have its values, for objects with leaves at `leaf_level`.
    #[must_use]
    pub fn is_in(&self, tuning: &Tuning, leaf_level: u32) -> bool {
        let mut applied = tuning.clone();
        self.apply(&mut applied, leaf_level);
        // A scene takes no strength from the preset that it names.
        if tuning.strength == BodyStrength::unsaid() {
            applied.strength = BodyStrength::unsaid();
        }
        applied == *tuning
    }

    /// Parses a preset; `shown` names it in errors.
    ///
    /// # Errors
    /// [`SceneError`]: one line with the line of the file, or the value that is out of range.
    pub fn parse(text: &str, shown: &str) -> Result<Self, SceneError> {
        let mut preset: Self = toml::from_str(text).map_err(|e| {
            let line =
                e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            SceneError::new(format!("{shown}, line {line}: {}", e.message().replace('\n', " ")))
        })?;
        preset.fracture = material_in(&preset.fracture, &FractureParams::default());
        let strength = preset.strength.take();
        preset.strength = strength.map(|own| Box::new(strength_in(&own, &BodyStrength::default())));
        preset.check().map_err(|message| SceneError::new(format!("{shown}: {message}")))?;
        Ok(preset)
    }

    /// The text of its file.
    ///
    /// # Errors
    /// [`SceneError`] for values that could not be read again.
    pub fn to_text(&self) -> Result<String, SceneError> {
        let error = SceneError::new;
        self.check().map_err(|message| error(format!("the preset {:?} {message}", self.name)))?;
        let mut table = toml::Table::try_from(self).map_err(|e| error(e.to_string()))?;
        // Values that belong to an object or a blow.
        for (section, of_object) in [
            ("fracture", &["rng", "labelling"][..]),
            ("strength", &["rng", "within", "anchor_floor", "anchor_fixed"][..]),
        ] {
            if let Some(toml::Value::Table(own)) = table.get_mut(section) {
                of_object.iter().for_each(|name| drop(own.remove(*name)));
            }
        }
        toml::to_string_pretty(&table).map_err(|e| error(e.to_string()))
    }

    /// Checks ranges as for a scene's body.
    fn check(&self) -> Result<(), String> {
        let name = self.name.trim();
        if name.is_empty() || name.len() > MOST_LETTERS || name.chars().any(char::is_control) {
            return Err(format!("has no name that can be shown; give it one of 1 to {MOST_LETTERS} letters"));
        }
        // Levels finer than an object's are limited when the preset is applied.
        let mut body = SceneBody { level: MAX_LEVEL, ..SceneBody::standing("builtin:box", MAX_LEVEL) };
        self.apply_to_body(&mut body);
        let scene = Scene { bodies: vec![body], ..Scene::default() };
        problem_of(&scene).map_or(Ok(()), Err)
    }
}

/// Size limit of a name, bytes.
const MOST_LETTERS: usize = 60;
