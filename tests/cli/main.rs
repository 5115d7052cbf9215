//! The commands from outside: exit codes, one line on stderr, the files that they write.

mod back;
mod colors;
mod commands;
mod dataset;
mod contacts;
mod examples;
mod figure;
mod files;
mod fine;
mod golden;
mod holding;
mod hostile;
mod interrupted;
mod kept;
mod library;
mod methods;
mod objects;
mod package;
mod paper;
mod overlays;
mod partners;
mod pictures;
mod repeat;
mod presets;
mod probe;
mod shaping;
mod sheet;
mod stress;
mod sweep;
mod steps;
#[path = "../support/mod.rs"]
mod support;
