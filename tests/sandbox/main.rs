//! The engine behind the window, without one.

mod breaking;
mod holding;
mod motion;
#[path = "../support/mod.rs"]
mod support;
