//! First hits of primary rays, without normals, colours and light.

use std::time::Instant;

use super::{
    samples::Samples,
    stages::{Bench, PICTURE},
};
use crate::{
    cli::CliError,
    facade::stills::{Place, world_bounds},
    fracture::Fracture,
    gpu::ms_since,
    render::{Camera, FrameInput, PixelHit, RenderBody, RenderOptions, Renderer},
    svo::Arena,
    voxelize::Progress,
};

/// Vertical fields of view, degrees: at 40 most rays miss, at 12 most hit.
const FIELDS: [u32; 2] = [40, 12];
/// Number of views round the vertical axis; their elevation, degrees, and their distance in longest sides of the
/// object.
const VIEWS: u32 = 12;
const ELEVATION: f32 = 20.0;
const DISTANCE: f32 = 1.6;
/// Pieces are moved apart by this factor times their distance from the centre.
const APART: f64 = 0.1;

/// Ray rate at one field of view.
#[derive(serde::Serialize)]
pub struct RayRate {
    /// Vertical field of view, degrees.
    pub field_of_view: u32,
    /// Million rays per second, median over all views.
    pub mrays_per_s: f64,
    /// Share of the rays that hit a body.
    pub hits: f64,
}

impl Bench<'_> {
    /// First hits of all pieces, moved apart, from all sides. Empty for compute passes, where only a picture's first
    /// pass, which also shades its hits, can be timed.
    pub fn rays(
        &self,
        fracture: &Fracture,
        samples: &mut Samples,
        progress: &Progress,
    ) -> Result<Vec<RayRate>, CliError> {
        let mut renderer = Renderer::new(self.compute)?;
        let mut arena = Arena::new(self.compute)?;
        arena.insert(&fracture.forest)?;
        let bodies = self.apart(fracture);
        let (low, high) = world_bounds(&bodies);
        let longest = f64::from((high - low).max_element()) / (1.0 + APART);
        let mut rates = Vec::new();
        for (done, field) in FIELDS.into_iter().enumerate() {
            let name = format!("rays: field of view {field}");
            let mut hits = 0;
            for view in 0..VIEWS {
                let camera = Camera {
                    target: 0.5 * (low + high),
                    distance: DISTANCE * longest as f32,
                    yaw: view as f32 * std::f32::consts::TAU / VIEWS as f32,
                    pitch: ELEVATION.to_radians(),
                    fov_y: (field as f32).to_radians(),
                };
                let options = RenderOptions { floor: None, ..RenderOptions::default() };
                let (arena, bodies) = (&arena, &bodies[..]);
                let input =
                    FrameInput { arena, bodies, camera, options, size: PICTURE, seams: None, overlay: None };
                for run in 0..=self.args.repeat {
                    let start = Instant::now();
                    if !renderer.cast(&input)? {
                        return Ok(Vec::new());
                    }
                    if run > 0 {
                        samples.add(&name, ms_since(start));
                    }
                }
                let is_body = |hit: &&PixelHit| matches!(hit, PixelHit::Body { .. });
                hits += renderer.read_hits()?.iter().filter(is_body).count();
                let part = (done as u32 * VIEWS + view + 1) as f32;
                progress.set(part / (FIELDS.len() as u32 * VIEWS) as f32);
            }
            let count = f64::from(PICTURE[0] * PICTURE[1]);
            rates.push(RayRate {
                field_of_view: field,
                mrays_per_s: count / samples.median(&name) * 1e-3,
                hits: hits as f64 / (count * f64::from(VIEWS)),
            });
        }
        Ok(rates)
    }

    fn apart(&self, fracture: &Fracture) -> Vec<RenderBody> {
        let place = Place::standing(&self.object.mass);
        let body = |piece: &crate::fracture::Piece| {
            let away = (piece.mass.centre - self.object.mass.centre) * place.h * APART;
            let shape = place.piece(&fracture.forest, (piece.tree, piece.mass), 1.0);
            place.body(shape, piece.tree, away.as_vec3())
        };
        fracture.pieces.iter().map(body).collect()
    }
}
