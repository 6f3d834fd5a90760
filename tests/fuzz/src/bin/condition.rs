//! The fuzzer on `tacklebox_fuzz::condition`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    // A panic that the host catches is none of a guest's business; one that reaches the fuzzer still ends it.
    init: drop(std::panic::take_hook()),
    |bytes: &[u8]| tacklebox_fuzz::condition::check(bytes)
);
