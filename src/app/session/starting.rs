//! Starts the engine on a worker, since compiling the passes takes a while.

use super::Session;
use crate::{
    compute::{Choice, Compute},
    gpu::{Gpu, GpuError},
    render::Renderer,
    scene::{ReadScene, Sandbox},
    threads::Pending,
    ui::NoticeKind,
};

/// The worker's result.
type Made = Result<(Sandbox, Renderer), String>;

/// The engine being started, and the scene that it opens.
#[derive(Default)]
pub(super) struct Starting {
    making: Option<Pending<Made>>,
    pending: Option<ReadScene>,
    keep_camera: bool,
}

impl Starting {
    /// Whether the engine is being started.
    pub fn is_busy(&self) -> bool {
        self.making.is_some()
    }

    /// Opens a scene as soon as the engine has started.
    pub fn open_then(&mut self, scene: impl Into<ReadScene>) {
        self.pending = Some(scene.into());
    }

    /// Whether the scene just opened keeps the camera; resets the flag.
    pub fn keeps_camera(&mut self) -> bool {
        std::mem::take(&mut self.keep_camera)
    }

    /// The worker's result, once.
    fn poll(&mut self) -> Option<Made> {
        let stopped = || Err("the engine could not start; run `kintsugi doctor`".into());
        let made = self.making.as_ref()?.poll(stopped)?;
        self.making = None;
        Some(made)
    }
}

impl Session {
    /// Starts engine and renderer on a worker; they open `scene` when ready.
    pub fn start(&mut self, gpu: &Gpu, choice: Choice, scene: impl Into<ReadScene>) {
        (self.gpu, self.compute) = (Some(gpu.clone()), choice);
        let compute = Compute::beside(choice, gpu);
        self.starting.making = Some(Pending::start(move || {
            let made = Sandbox::new(&compute).and_then(|mut sandbox| {
                sandbox.look_for_contacts(choice.into());
                Ok((sandbox, Renderer::new(&compute)?))
            });
            made.map_err(|error| error.to_string())
        }));
        self.starting.open_then(scene);
        (self.sandbox, self.renderer) = (None, None);
        self.picture.forget();
        self.columns.forget();
    }

    /// Where the compute stages run.
    pub fn compute(&self) -> Choice {
        self.compute
    }

    /// Moves the compute stages; the open scene stays.
    pub(super) fn run_on(&mut self, choice: Choice) {
        let (Some(gpu), Some(sandbox)) = (&self.gpu, &mut self.sandbox) else { return };
        let compute = Compute::beside(choice, gpu);
        if compute.name() != sandbox.compute().name() {
            let renderer = match Renderer::new(&compute) {
                Ok(renderer) => renderer,
                Err(error) => return self.say(NoticeKind::Error, error.to_string()),
            };
            if let Err(error) = sandbox.run_on(&compute) {
                return self.say(NoticeKind::Error, error.to_string());
            }
            self.renderer = Some(renderer);
            self.picture.forget();
            self.columns.forget();
        }
        sandbox.look_for_contacts(choice.into());
        self.compute = choice;
        self.say(NoticeKind::Remark, format!("Runs on: {}", compute.describe()));
    }

    /// Continues on another device after the old one was lost. Stages that ran on the old device run on the new one, or
    /// on the cores if the new one does not support them or `to_cores` is set.
    pub fn recover(&mut self, gpu: &Gpu, lost: &GpuError, to_cores: bool) {
        if to_cores {
            self.compute = Choice::Cpu;
        }
        self.gpu = Some(gpu.clone());
        self.picture.forget();
        self.columns.forget();
        let Some(sandbox) = self.sandbox.as_mut() else {
            // What was being opened is opened on the other device.
            self.starting.keep_camera = true;
            let scene = self.starting.pending.take().unwrap_or_default();
            return self.start(gpu, self.compute, scene);
        };
        let mut choice = self.compute;
        let mut begin = |choice| {
            let compute = Compute::beside(choice, gpu);
            let renderer = Renderer::new(&compute)?;
            // Stages on the cores have lost nothing.
            if sandbox.compute().gpu().is_some() {
                sandbox.recover_on(&compute)?;
                sandbox.warm_up();
            }
            sandbox.look_for_contacts(choice.into());
            Ok::<_, GpuError>(renderer)
        };
        let begun = begin(choice).or_else(|error| {
            tracing::error!("the new device cannot take the stages: {error}");
            choice = Choice::Cpu;
            begin(choice)
        });
        match begun {
            Ok(renderer) => {
                (self.renderer, self.compute) = (Some(renderer), choice);
                let on = if choice == Choice::Cpu { "on the cores" } else { "on a new one" };
                self.say(NoticeKind::Remark, format!("{}; work continues {on}", lost.what_was_lost()));
            }
            Err(error) => self.say(NoticeKind::Error, error.to_string()),
        }
    }

    /// Message in the middle while nothing is open, or a large scene is being read.
    pub fn starting(&self) -> Option<&'static str> {
        let reads = self.is_reading().then_some("Reading the scene");
        self.starting.is_busy().then_some("Preparing the graphics passes").or(reads)
    }

    /// Takes the engine, once it has started.
    pub(super) fn take_in_engine(&mut self) {
        match self.starting.poll() {
            Some(Ok((sandbox, renderer))) => {
                sandbox.warm_up();
                let sandbox = self.sandbox.insert(sandbox);
                sandbox.check_breaks();
                self.renderer = Some(renderer);
                if let Some(scene) = self.starting.pending.take() {
                    sandbox.open_scene(scene);
                }
            }
            Some(Err(text)) => self.say(NoticeKind::Error, text),
            None => {}
        }
    }
}
