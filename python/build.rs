//! Has macOS look up Python's symbols when the library is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
