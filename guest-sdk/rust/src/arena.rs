//! The allocator of a plugin: a bump through one array, which suits an instance that lives for one call.
//!
//! The array stands in .bss, so it costs no bytes in the file, and a small call never asks the engine for memory.
//! What is freed is lost, save for the last piece: that one is given back, and grows and shrinks in place, which is
//! what a `Vec` or `String` being filled does. Past the array the linear memory grows, until the host refuses.
//! The bookkeeping works on addresses alone and is safe code; what touches memory is the `GlobalAlloc` at the end.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ops::Range;
use std::ptr;

/// The least that the memory grows by: few calls of `memory.grow`, each of which costs the host system calls.
const LEAST_GROWTH: usize = 1024 * 1024;

/// Where an arena's memory comes from.
pub(crate) trait Memory {
    /// The addresses to begin with. Asked once.
    fn first(&self) -> Range<usize>;

    /// At least `bytes` more, or `None` where they are refused. They may follow the former ones, or not.
    fn grow(&self, bytes: usize) -> Option<Range<usize>>;
}

/// Hands out addresses of its memory in ascending order.
pub(crate) struct Arena<M> {
    memory: M,
    /// The first free address.
    next: Cell<usize>,
    /// Past the last free address; 0 before the first allocation.
    end: Cell<usize>,
}

impl<M: Memory> Arena<M> {
    /// An arena that has not asked its memory for anything yet.
    pub(crate) const fn over(memory: M) -> Self {
        Self { memory, next: Cell::new(0), end: Cell::new(0) }
    }

    /// The start of a new piece.
    #[inline(never)]
    fn take(&self, layout: Layout) -> Option<usize> {
        if self.end.get() == 0 {
            let first = self.memory.first();
            self.next.set(first.start);
            self.end.set(first.end);
        }
        self.fit(layout).or_else(|| {
            self.grow(layout.size().checked_add(layout.align())?)?;
            self.fit(layout)
        })
    }

    /// The start of a new piece in the memory at hand.
    fn fit(&self, layout: Layout) -> Option<usize> {
        let start = self.next.get().checked_next_multiple_of(layout.align())?;
        let stop = start.checked_add(layout.size())?;
        (stop <= self.end.get()).then(|| {
            self.next.set(stop);
            start
        })
    }

    /// Makes room for `bytes` more; where they do not follow what there is, its rest is given up.
    fn grow(&self, bytes: usize) -> Option<()> {
        let more = self.memory.grow(bytes.max(LEAST_GROWTH))?;
        if more.start != self.end.get() {
            self.next.set(more.start);
        }
        self.end.set(more.end);
        Some(())
    }

    /// Frees a piece if it is the last one.
    #[inline(never)]
    fn give_back(&self, start: usize, size: usize) {
        if start + size == self.next.get() {
            self.next.set(start);
        }
    }

    /// Whether the piece now has its new size where it stands.
    #[inline(never)]
    fn resize(&self, start: usize, old: usize, new: usize) -> bool {
        let is_last = || start + old == self.next.get();
        if !is_last() {
            return new <= old;
        }
        let Some(stop) = start.checked_add(new) else {
            return false;
        };
        // Growing may leave the piece behind, in memory that the new one does not follow: then it has to move.
        if stop > self.end.get() && (self.grow(new).is_none() || !is_last()) {
            return false;
        }
        self.next.set(stop);
        true
    }
}

// SAFETY: `take` gives addresses inside the memory's ranges, aligned, and never one that a live piece holds: `next` only
// moves up past what was given, back to the start of the last piece when that is freed or shrunk, or to a new range.
unsafe impl<M: Memory> GlobalAlloc for Arena<M> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(start) => ptr::with_exposed_provenance_mut(start),
            None => ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        self.give_back(piece.addr(), layout.size());
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if self.resize(piece.addr(), layout.size(), new_size) {
            return piece;
        }
        // SAFETY: the caller promises that `new_size`, rounded up to the alignment, does not overflow.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both are live pieces of this arena, so they do not overlap, and each holds the smaller size.
            unsafe { ptr::copy_nonoverlapping(piece, moved, layout.size().min(new_size)) };
        }
        moved
    }
}

#[cfg(target_arch = "wasm32")]
mod linear {
    //! The linear memory of a component.

    use super::{Arena, Memory};
    use std::cell::UnsafeCell;
    use std::ops::Range;

    const ARRAY: usize = 256 * 1024;
    const PAGE: usize = 64 * 1024;

    #[repr(align(16))]
    struct Array(UnsafeCell<[u8; ARRAY]>);

    // SAFETY: a component has one thread; the build without `atomics` is checked below.
    unsafe impl Sync for Array {}

    static FIRST: Array = Array(UnsafeCell::new([0; ARRAY]));

    pub(super) struct Linear;

    impl Memory for Linear {
        fn first(&self) -> Range<usize> {
            let start = FIRST.0.get().expose_provenance();
            start..start + ARRAY
        }

        fn grow(&self, bytes: usize) -> Option<Range<usize>> {
            let pages = bytes.div_ceil(PAGE);
            let before = core::arch::wasm32::memory_grow::<0>(pages);
            // The last page of a full 4 GiB memory cannot be given: its end would not fit into an address.
            (before != usize::MAX).then(|| before * PAGE..before.saturating_add(pages).saturating_mul(PAGE))
        }
    }

    // SAFETY: as for `Array`.
    unsafe impl Sync for Arena<Linear> {}

    #[cfg(target_feature = "atomics")]
    compile_error!("the arena is for one thread: turn off the feature `arena`");

    #[global_allocator]
    static ARENA: Arena<Linear> = Arena::over(Linear);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain addresses: the first range, then what each growth gives.
    struct Script {
        first: Range<usize>,
        grown: Cell<Vec<Range<usize>>>,
        asked: Cell<usize>,
    }

    impl Script {
        fn arena(first: Range<usize>, grown: &[(usize, usize)]) -> Arena<Self> {
            let grown = Cell::new(grown.iter().rev().map(|(start, end)| *start..*end).collect());
            Arena::over(Self { first, grown, asked: Cell::new(0) })
        }
    }

    impl Memory for Script {
        fn first(&self) -> Range<usize> {
            self.first.clone()
        }

        fn grow(&self, bytes: usize) -> Option<Range<usize>> {
            self.asked.set(bytes);
            let mut left = self.grown.take();
            let next = left.pop();
            self.grown.set(left);
            next
        }
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn pieces_are_aligned_and_do_not_overlap() {
        let arena = Script::arena(1001..2000, &[]);
        assert_eq!(arena.take(layout(3, 1)), Some(1001));
        assert_eq!(arena.take(layout(8, 8)), Some(1008));
        assert_eq!(arena.take(layout(1, 64)), Some(1024));
        assert_eq!(arena.take(layout(10, 1)), Some(1025));
    }

    #[test]
    fn the_last_piece_is_given_back_and_others_are_not() {
        let arena = Script::arena(1000..2000, &[]);
        let first = arena.take(layout(10, 1)).expect("room");
        let second = arena.take(layout(10, 1)).expect("room");
        arena.give_back(first, 10);
        assert_eq!(arena.take(layout(10, 1)), Some(1020));
        arena.give_back(1020, 10);
        arena.give_back(second, 10);
        assert_eq!(arena.take(layout(5, 1)), Some(1010));
    }

    #[test]
    fn the_last_piece_grows_and_shrinks_in_place() {
        let arena = Script::arena(1000..2000, &[]);
        let piece = arena.take(layout(10, 1)).expect("room");
        assert!(arena.resize(piece, 10, 900));
        assert!(arena.resize(piece, 900, 20));
        assert_eq!(arena.take(layout(1, 1)), Some(1020));
        assert!(!arena.resize(piece, 20, 30), "it is not the last one any more");
        assert!(arena.resize(piece, 20, 5), "a smaller one fits where it stands");
        assert_eq!(arena.take(layout(1, 1)), Some(1021));
    }

    #[test]
    fn growth_that_follows_is_joined() {
        let arena = Script::arena(1000..2000, &[(2000, 9000)]);
        let piece = arena.take(layout(900, 1)).expect("room");
        assert!(arena.resize(piece, 900, 5000));
        assert_eq!(arena.take(layout(1, 1)), Some(6000));
    }

    #[test]
    fn growth_elsewhere_moves_the_piece() {
        let arena = Script::arena(1000..2000, &[(8000, 16000)]);
        let piece = arena.take(layout(900, 1)).expect("room");
        assert!(!arena.resize(piece, 900, 5000));
        assert_eq!(arena.take(layout(5000, 1)), Some(8000));
    }

    #[test]
    fn growth_is_large_and_never_less_than_asked() {
        let arena = Script::arena(1000..2000, &[(8000, 9_000_000), (9_000_000, 99_000_000)]);
        assert_eq!(arena.take(layout(3000, 1)), Some(8000));
        assert_eq!(arena.memory.asked.get(), LEAST_GROWTH);
        assert!(arena.take(layout(20_000_000, 16)).is_some());
        assert_eq!(arena.memory.asked.get(), 20_000_016);
    }

    #[test]
    fn a_refusal_is_null_and_leaves_the_arena_usable() {
        let arena = Script::arena(1000..2000, &[]);
        assert_eq!(arena.take(layout(3000, 1)), None);
        assert_eq!(arena.take(layout(isize::MAX as usize, 1)), None);
        let piece = arena.take(layout(10, 1)).expect("room");
        assert!(!arena.resize(piece, 10, 3000));
        assert!(!arena.resize(piece, 10, usize::MAX));
        assert!(arena.resize(piece, 10, 11));
    }

    /// Real bytes: two blocks that do not follow each other.
    struct Blocks([Range<usize>; 2]);

    impl Memory for Blocks {
        fn first(&self) -> Range<usize> {
            self.0[0].clone()
        }

        fn grow(&self, bytes: usize) -> Option<Range<usize>> {
            (bytes <= self.0[1].len()).then(|| self.0[1].clone())
        }
    }

    #[test]
    fn what_was_written_moves_with_the_piece() {
        let block = |size| {
            let bytes = Vec::leak(vec![0u8; size]).as_mut_ptr();
            let start = bytes.expose_provenance();
            start..start + size
        };
        let arena = Arena::over(Blocks([block(4096), block(2 * LEAST_GROWTH)]));
        // SAFETY: layouts have a size, pieces are live and used within it.
        unsafe {
            let piece = arena.alloc(layout(2000, 8));
            piece.write_bytes(7, 2000);
            let other = arena.alloc(layout(2000, 8));
            other.write_bytes(9, 2000);
            let moved = arena.realloc(piece, layout(2000, 8), 100_000);
            assert!(!moved.is_null() && moved != piece);
            assert!(std::slice::from_raw_parts(moved, 2000).iter().all(|byte| *byte == 7));
            let zeroed = arena.alloc_zeroed(layout(100, 1));
            assert!(std::slice::from_raw_parts(zeroed, 100).iter().all(|byte| *byte == 0));
            arena.dealloc(zeroed, layout(100, 1));
            assert_eq!(arena.alloc(layout(100, 1)), zeroed);
        }
    }
}
