//! A session without a window, for tests.

use super::Session;
use crate::{
    compute::{Choice, Compute},
    render::Renderer,
    scene::{Arrived, Sandbox, Scene},
};

/// On the cores, with a small box.
pub fn session() -> Session {
    let compute = Compute::open(Choice::Cpu).unwrap();
    let mut sandbox = Sandbox::new(&compute).unwrap();
    sandbox.open_scene(Scene::of_mesh("builtin:box", 5));
    while sandbox.poll().unwrap() != Some(Arrived::Opened) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let mut session = Session::new();
    (session.sandbox, session.renderer) = (Some(sandbox), Some(Renderer::new(&compute).unwrap()));
    session.frame_scene();
    session
}
