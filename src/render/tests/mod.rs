//! Pictures of shapes that are made here: parity of first hits with a plain reference, and what must be seen where.

mod fixtures;
mod layout;
mod parity;
mod pictures;
mod reference;
mod seams;
