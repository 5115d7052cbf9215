//! The command line: arguments to a command or the window. The only place that prints errors.

fn main() {}
