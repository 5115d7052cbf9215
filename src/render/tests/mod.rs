//! Pictures of shapes that are made here: parity of every pass with a plain reference, and what must be seen where.

mod blit;
mod fixtures;
mod layout;
mod looks;
mod overlay;
mod parity;
mod passes;
mod pictures;
mod reference;
mod seams;
