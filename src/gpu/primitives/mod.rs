//! Parallel building blocks.
