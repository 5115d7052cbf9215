//! The commands from outside: exit codes, one line on stderr, the files that they write.

mod commands;
mod files;
mod fine;
mod golden;
mod interrupted;
mod methods;
mod presets;
mod shaping;
#[path = "../support/mod.rs"]
mod support;
