//! One reader, the one that the target is named after, with anything at all.

#![no_main]

mod feed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(refusal) = feed::feed(env!("CARGO_BIN_NAME"), bytes) {
        feed::is_a_line_that_helps(&refusal);
    }
});
