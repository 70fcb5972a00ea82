//! Has the C library keep little memory that is free (`docs/decisions/036-little-memory-is-kept-free.md`).

#![allow(unsafe_code, reason = "only `mallopt` can say it, and nothing safe calls that")]

/// Blocks of at least this many bytes are the system's own again once they are freed. Smaller ones, such as a page of
/// history, are reused, which is faster.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: std::ffi::c_int = 512 * 1024;

/// What a thread frees is used again by the others.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: std::ffi::c_int = 2;

/// To be called first in the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_little() {
    use std::ffi::c_int;

    // Of `malloc.h`.
    const M_TRIM_THRESHOLD: c_int = -1;
    const M_MMAP_THRESHOLD: c_int = -3;
    const M_ARENA_MAX: c_int = -8;

    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    // So much may stay free at the end of a heap: twice a block, which is glibc's own rule while nothing is fixed.
    for (parameter, value) in
        [(M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, 2 * LARGE), (M_ARENA_MAX, HEAPS)]
    {
        // SAFETY: the signature is that of `malloc.h`; the call takes numbers, locks the allocator itself, and refuses
        // what it doesn't know.
        let _is_known = unsafe { mallopt(parameter, value) };
    }
}

/// Other C libraries do it anyway, or can't be told.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_little() {}
