//! The picture behind a scene: its file, how it is turned, how bright it is; and its words on a device.
//!
//! In: values of a scene file or a panel. Out: the light from a direction in the world.

use std::{ops::RangeInclusive, path::Path, sync::Arc};

use super::{
    lighting::{clamped, within},
    surroundings::{HEAD, Surroundings},
};
use crate::{
    files,
    gpu::{Buffer, Gpu, GpuError},
};

/// Size limit of a file, bytes: 8192 x 4096 pixels of four bytes, and as much again.
const LARGEST: u64 = 256 << 20;

/// A picture of all directions behind a scene. It is seen, mirrored, and lights the scene in place of sky and ground.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backdrop {
    /// An equirectangular picture: Radiance (.hdr), PNG or JPEG.
    pub file: String,
    /// How far it is turned about the vertical, degrees, [`Backdrop::TURNS`], in the sense in which azimuths grow. At 0
    /// its middle lies towards -z.
    #[serde(default)]
    pub turn: f64,
    /// Factor of its light, [`Backdrop::BRIGHTNESSES`].
    #[serde(default = "usual_brightness")]
    pub brightness: f64,
    /// The picture, once it is read.
    #[serde(skip)]
    picture: Option<Arc<Surroundings>>,
}

fn usual_brightness() -> f64 {
    1.0
}

impl Backdrop {
    /// Allowed values of [`Backdrop::turn`], degrees.
    pub const TURNS: RangeInclusive<f64> = -180.0..=180.0;
    /// Allowed values of [`Backdrop::brightness`].
    pub const BRIGHTNESSES: RangeInclusive<f64> = 0.0..=100.0;

    /// The picture of a file, as it is. Nothing is drawn of it before [`Backdrop::open`] has read the file.
    #[must_use]
    pub fn of_file(file: impl Into<String>) -> Self {
        Self { file: file.into(), turn: 0.0, brightness: usual_brightness(), picture: None }
    }

    /// A picture in memory, of no file.
    #[must_use]
    pub fn of(picture: Surroundings) -> Self {
        Self { picture: Some(Arc::new(picture)), ..Self::of_file("") }
    }

    /// The same, turned so far (degrees) and so bright.
    #[must_use]
    pub fn placed_at(self, turn: f64, brightness: f64) -> Self {
        Self { turn, brightness, ..self }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// One line that names the file and says what to do.
    pub fn open(&mut self) -> Result<(), String> {
        let bytes = files::read(Path::new(&self.file), LARGEST).map_err(|why| why.to_string());
        let picture = bytes.and_then(|bytes| Surroundings::decode(&bytes));
        let picture = picture.map_err(|why| format!("the backdrop's file {}: {why}", self.file))?;
        self.picture = Some(Arc::new(picture));
        Ok(())
    }

    /// The picture, if it was read.
    #[must_use]
    pub fn picture(&self) -> Option<&Surroundings> {
        self.picture.as_deref()
    }

    /// The same with every number finite and in range.
    #[must_use]
    pub fn sane(self) -> Self {
        Self {
            turn: clamped(self.turn, 0.0, &Self::TURNS),
            brightness: clamped(self.brightness, usual_brightness(), &Self::BRIGHTNESSES),
            ..self
        }
    }

    /// Checks the values of a scene file.
    ///
    /// # Errors
    /// The field that is out of range, its value, and what is wanted.
    pub fn check(&self) -> Result<(), String> {
        if self.file.is_empty() {
            return Err("file is empty; name an equirectangular .hdr, .png or .jpg".into());
        }
        within("turn", self.turn, &Self::TURNS)?;
        within("brightness", self.brightness, &Self::BRIGHTNESSES)
    }

    /// The picture in its place, if it was read.
    pub(super) fn placed(&self) -> Option<Placed> {
        let picture = Arc::clone(self.picture.as_ref()?);
        let sane = Self { picture: None, ..self.clone() }.sane();
        let (sin, cos) = libm::sincos(sane.turn.to_radians());
        Some(Placed { picture, cos: cos as f32, sin: sin as f32, brightness: sane.brightness as f32 })
    }
}

/// A picture that is turned and made brighter or darker.
pub(super) struct Placed {
    picture: Arc<Surroundings>,
    cos: f32,
    sin: f32,
    brightness: f32,
}

impl Placed {
    /// A direction of the world in the picture.
    fn turned(&self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        [x * self.cos - z * self.sin, y, x * self.sin + z * self.cos]
    }

    /// The light from a direction, unit, linear.
    pub fn light(&self, direction: [f32; 3]) -> [f32; 3] {
        self.picture.light(self.turned(direction)).map(|channel| channel * self.brightness)
    }

    /// The same, blurred.
    pub fn blurred(&self, direction: [f32; 3]) -> [f32; 3] {
        self.picture.blurred(self.turned(direction)).map(|channel| channel * self.brightness)
    }

    /// What a white matt surface with this normal, unit, reflects of it.
    pub fn diffuse(&self, normal: [f32; 3]) -> [f32; 3] {
        self.picture.diffuse(self.turned(normal)).map(|channel| channel * self.brightness)
    }
}

/// The picture of a frame on a device, as `shaders/render/surroundings.wgsl` reads it.
pub(super) struct SurroundingsOnDevice {
    of: Option<Arc<Surroundings>>,
    /// One word without a picture.
    words: Buffer<u32>,
}

const LABEL: &str = "surroundings";

impl SurroundingsOnDevice {
    /// Without a picture.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { of: None, words: Buffer::zeroed(gpu, LABEL, 1)? })
    }

    /// Uploads what is new of a frame's backdrop.
    ///
    /// # Errors
    /// [`GpuError`]; there is no picture then.
    pub fn hold(&mut self, gpu: &Gpu, backdrop: Option<&Backdrop>) -> Result<(), GpuError> {
        let Some(placed) = backdrop.and_then(Backdrop::placed) else {
            if self.of.is_some() {
                *self = Self::new(gpu)?;
            }
            return Ok(());
        };
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, &placed.picture)) {
            self.of = None;
            self.words = Buffer::zeroed(gpu, LABEL, placed.picture.words())?;
            let mut first = HEAD;
            for list in placed.picture.lists() {
                self.words.write(gpu, first, list);
                first += list.len();
            }
        }
        self.words.write(gpu, 0, &placed.picture.head([placed.cos, placed.sin, placed.brightness]));
        self.of = Some(placed.picture);
        Ok(())
    }

    /// For the compose pass.
    pub fn words(&self) -> &Buffer<u32> {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_bad_file_is_named_with_what_to_do() {
        let folder = std::env::temp_dir();
        let bad = folder.join(format!("kintsugi-backdrop-{}.hdr", std::process::id()));
        std::fs::write(&bad, "no picture").unwrap();
        for (file, says) in [
            (Path::new("no-such.hdr"), "check the name"),
            (bad.as_path(), "equirectangular"),
            (folder.as_path(), "folder"),
        ] {
            let name = file.display().to_string();
            let refused = Backdrop::of_file(name.as_str()).open().expect_err(says);
            assert!(
                refused.contains(&name) && refused.contains(says) && !refused.contains('\n'),
                "{refused}"
            );
        }
        std::fs::remove_file(bad).unwrap();
    }

    #[test]
    fn odd_values_are_replaced_and_named() {
        let plain = Backdrop::of_file("a.hdr");
        assert_eq!((plain.check(), plain.clone().sane()), (Ok(()), plain.clone()));
        for (name, odd) in [
            ("turn", Backdrop { turn: f64::NAN, ..plain.clone() }),
            ("turn", Backdrop { turn: 181.0, ..plain.clone() }),
            ("brightness", Backdrop { brightness: -1.0, ..plain.clone() }),
            ("file", Backdrop::of_file("")),
        ] {
            let error = odd.check().expect_err(name);
            assert!(error.contains(name), "{error}");
            assert!(name == "file" || odd.sane().check().is_ok(), "{name}");
        }
    }

    #[test]
    fn a_turn_moves_the_picture_as_azimuths_grow() {
        let picture = Surroundings::new([64, 32], |x, _| [if (28..36).contains(&x) { 1.0 } else { 0.0 }; 3]);
        let mut backdrop = Backdrop { brightness: 2.0, ..Backdrop::of(picture) };
        // Azimuth 180 degrees is -z, 270 is -x.
        for (turn, middle) in [(0.0, [0.0, 0.0, -1.0]), (90.0, [-1.0, 0.0, 0.0]), (-90.0, [1.0, 0.0, 0.0])] {
            backdrop.turn = turn;
            let placed = backdrop.placed().unwrap();
            assert!((placed.light(middle)[0] - 2.0).abs() < 0.01, "{turn}: {:?}", placed.light(middle));
            assert_eq!(placed.light(middle.map(|axis| -axis))[0], 0.0, "{turn}");
            assert!(placed.diffuse(middle)[0] > 2.0 * placed.diffuse(middle.map(|axis| -axis))[0], "{turn}");
        }
    }
}
