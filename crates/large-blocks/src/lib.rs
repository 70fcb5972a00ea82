//! Has the C library give large blocks of memory back to the system when they are freed
//! (`docs/decisions/036-large-blocks-are-given-back.md`).

#![allow(unsafe_code, reason = "only `mallopt` can say it, and nothing safe calls that")]

/// From now on, blocks of at least this many bytes are the system's own again once they are freed. Smaller ones, such
/// as a page of history, are reused, which is faster.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: std::ffi::c_int = 512 * 1024;

/// To be called first in the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    use std::ffi::c_int;

    // Of `malloc.h`.
    const M_TRIM_THRESHOLD: c_int = -1;
    const M_MMAP_THRESHOLD: c_int = -3;

    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    // SAFETY: the signature is that of `malloc.h`; the call takes numbers, locks the allocator itself, and refuses what
    // it doesn't know.
    let _are_known = unsafe {
        // So much may stay free at the end of a heap: twice a block, which is glibc's own rule while nothing is fixed.
        (mallopt(M_MMAP_THRESHOLD, LARGE), mallopt(M_TRIM_THRESHOLD, 2 * LARGE))
    };
}

/// Other C libraries do it anyway, or can't be told.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
