// A small Rust program to be profiled: generics, traits, closures and inlined
// calls. Without std, as the debug information of std is large.
#![no_std]
#![no_main]

use core::ffi::{c_int, c_long, c_void};

#[link(name = "c")]
extern "C" {
    fn write(fd: c_int, buf: *const c_void, n: usize) -> isize;
    fn clock_gettime(clock: c_int, now: *mut Time) -> c_int;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

// What of core was compiled for unwinding refers to it; nothing unwinds here.
#[no_mangle]
extern "C" fn rust_eh_personality() {}

#[repr(C)]
struct Time {
    seconds: c_long,
    nanos: c_long,
}

trait Fire {
    fn fire(&mut self, seed: u32) -> u32;
}

struct Shelf<T, const N: usize> {
    tiles: [T; N],
}

#[inline]
fn stir(mut x: u32) -> u32 {
    x ^= x << 13;
    x ^= x >> 17;
    x ^ (x << 5)
}

impl<const N: usize> Fire for Shelf<u32, N> {
    #[inline(never)]
    fn fire(&mut self, seed: u32) -> u32 {
        let mut last = seed;
        self.tiles.iter_mut().for_each(|tile| {
            last = stir(last.wrapping_add(*tile));
            *tile = last;
        });
        self.tiles.sort_unstable_by_key(|tile| stir(*tile));
        self.tiles.iter().fold(last, |sum, tile| sum.wrapping_add(*tile))
    }
}

impl<const N: usize> Fire for Shelf<f64, N> {
    #[inline(never)]
    fn fire(&mut self, seed: u32) -> u32 {
        for (i, tile) in self.tiles.iter_mut().enumerate() {
            *tile = cool(f64::from(stir(seed + i as u32 & 0xffff)), 6);
        }
        self.tiles.iter().filter(|tile| **tile > 1.5).count() as u32
    }
}

#[inline(never)]
fn cool(heat: f64, steps: u32) -> f64 {
    if steps == 0 { heat } else { cool(heat / (1.0 + heat), steps - 1) + 1.0 }
}

mod clock {
    #[inline(never)]
    pub fn ask(seed: u32) -> u32 {
        let mut now = super::Time { seconds: 0, nanos: 0 };
        (0..2000).fold(seed, |sum, _| {
            unsafe { super::clock_gettime(1, &mut now) };
            super::stir(sum ^ (now.nanos & 1) as u32 ^ (now.seconds & 1) as u32)
        })
    }
}

fn fire_all(kilns: &mut [&mut dyn Fire], seed: u32) -> u32 {
    kilns.iter_mut().fold(seed, |seed, kiln| kiln.fire(seed | 1))
}

#[no_mangle]
pub extern "C" fn main(_argc: c_int, _argv: *const *const u8) -> c_int {
    let mut whole = Shelf { tiles: [3u32; 2000] };
    let mut parts = Shelf { tiles: [0.5f64; 9000] };
    let mut seed = 7;
    for _ in 0..3000 {
        seed = fire_all(&mut [&mut whole, &mut parts], seed);
        seed = clock::ask(seed);
        unsafe { write(2, (&raw const seed).cast(), 1) };
    }
    0
}
