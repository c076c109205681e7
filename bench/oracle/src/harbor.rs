//! A harbor: ships are loaded through traits, closures and generics.
use std::collections::HashMap;
use std::fmt::Debug;

trait Load {
    fn weight(&self) -> u64;
    fn doubled(&self) -> u64 {
        self.weight() * 2
    }
}

#[derive(Debug, Clone)]
struct Crate(u64);
#[derive(Debug)]
struct Barrel<T> {
    inside: T,
    many: u32,
}

impl Load for Crate {
    #[inline(always)]
    fn weight(&self) -> u64 {
        self.0.wrapping_mul(3)
    }
}

impl<T: Load> Load for Barrel<T> {
    fn weight(&self) -> u64 {
        self.inside.weight() + u64::from(self.many)
    }
}

mod quay {
    use super::Load;
    #[inline(never)]
    pub fn stow<L: Load + ?Sized>(l: &L, mut place: impl FnMut(u64) -> bool) -> u64 {
        let w = l.weight();
        let hold = |n: u64| -> u64 { if n % 2 == 0 { n / 2 } else { n * 3 + 1 } };
        if place(hold(w)) { hold(w + 1) } else { w }
    }
    pub mod crane {
        #[inline(never)]
        pub fn lift(parts: &[u64]) -> Option<u64> {
            parts.iter().filter(|p| **p > 2).map(|p| p + 1).max()
        }
    }
}

#[inline(never)]
fn tally<T: Debug + Load>(all: &[T]) -> HashMap<String, u64> {
    let mut out = HashMap::new();
    for t in all {
        *out.entry(format!("{:?}", t)).or_insert(0) += t.doubled();
    }
    out
}

fn main() {
    let n = std::env::args().count() as u64;
    let boxes: Vec<Crate> = (0..n + 3).map(Crate).collect();
    let casks: Vec<_> = boxes.iter().cloned().map(|c| Barrel { inside: c, many: 2 }).collect();
    let mut seen = 0;
    let any: &dyn Load = &casks[0];
    let stowed = quay::stow(any, |w| {
        seen += w;
        w > 3
    });
    let lifted = quay::crane::lift(&[n, stowed, seen]).unwrap_or_default();
    println!("{} {} {:?}", lifted, stowed, tally(&boxes).len() + tally(&casks).len());
}
