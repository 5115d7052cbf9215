//! What a test does where the machine lacks something: it fails and says what is missing, unless
//! `KINTSUGI_ALLOW_SKIP=1`, when it says that it was skipped and passes. Used by the tests of this folder and
//! by those inside the library.

use std::io::Write;

/// Returns only where skipping is allowed.
///
/// # Panics
/// With `why`, unless `KINTSUGI_ALLOW_SKIP=1`.
pub fn note(why: &str) {
    let allowed = std::env::var("KINTSUGI_ALLOW_SKIP").as_deref() == Ok("1");
    assert!(allowed, "{why}; KINTSUGI_ALLOW_SKIP=1 skips the tests that this machine cannot run");
    // Straight to the stream: what `eprintln!` writes is kept back from tests that pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
