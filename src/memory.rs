//! Returns freed memory to the system, and puts large lists on large pages.
//!
//! glibc keeps memory freed by threads, in a heap per thread, for their next allocation. After a fracture on the cores
//! these heaps are mostly holes, a quarter of the command's memory at level 10.

/// Returns the allocator's free memory to the system, if the system has a function for it. Takes some milliseconds per
/// hundred megabytes, so it is for commands between stages that need other memory, not for repeated stages.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: glibc's own function, declared as in its manual; any thread may call it at any time.
        unsafe {
            malloc_trim(0);
        }
    }
}

/// Makes the allocator keep little freed memory from now on: for a program that runs for hours, whose short-lived
/// threads would each leave a heap full of holes. Call it before any thread starts.
///
/// Without it a window in random use for a quarter of an hour grew from 365 to 463 MiB, of which 7 were kept on
/// purpose.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // As in malloc.h.
        const TRIM_THRESHOLD: std::ffi::c_int = -1;
        const MMAP_THRESHOLD: std::ffi::c_int = -3;
        const ARENA_MAX: std::ffi::c_int = -8;
        unsafe extern "C" {
            fn mallopt(what: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
        }
        for (what, value) in [(ARENA_MAX, 2), (TRIM_THRESHOLD, 1 << 20), (MMAP_THRESHOLD, 256 << 10)] {
            // SAFETY: glibc's own function, declared as in its manual. It refuses invalid values.
            unsafe {
                mallopt(what, value);
            }
        }
    }
}

/// The system's allocator, with large pages for large allocations: lists of millions of leaves are written from end to
/// end, and with pages of 4 kB a break at level 10 stops 65,000 times for the system to find one.
#[cfg(target_os = "linux")]
pub struct LargePages;

#[cfg(target_os = "linux")]
mod large_pages {
    use std::{
        alloc::{GlobalAlloc, Layout, System},
        ffi::{c_int, c_void},
    };

    /// Smaller allocations gain nothing, bytes: four large pages.
    const LARGE: usize = 8 << 20;
    /// Alignment of every page size of Linux.
    const PAGE: usize = 1 << 16;

    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }

    /// Requests large pages. Without support by the system nothing changes.
    fn ask(start: *mut u8, bytes: usize) {
        const MADV_HUGEPAGE: c_int = 14;
        let skipped = start.align_offset(PAGE);
        if start.is_null() || skipped >= bytes {
            return;
        }
        // SAFETY: the range lies in a new allocation, and this advice does not change its content.
        unsafe {
            madvise(start.add(skipped).cast(), bytes - skipped, MADV_HUGEPAGE);
        }
    }

    // SAFETY: all memory comes from the system's allocator, with the requested layout, and is freed by it.
    unsafe impl GlobalAlloc for super::LargePages {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promises.
            let start = unsafe { System.alloc(layout) };
            if layout.size() >= LARGE {
                ask(start, layout.size());
            }
            start
        }

        #[inline]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promises.
            let start = unsafe { System.alloc_zeroed(layout) };
            if layout.size() >= LARGE {
                ask(start, layout.size());
            }
            start
        }

        #[inline]
        unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
            // SAFETY: as the caller promises.
            unsafe { System.dealloc(start, layout) }
        }

        #[inline]
        unsafe fn realloc(&self, start: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            // SAFETY: as the caller promises.
            let start = unsafe { System.realloc(start, layout, bytes) };
            if bytes >= LARGE {
                ask(start, bytes);
            }
            start
        }
    }
}
