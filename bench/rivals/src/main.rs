//! Times what the peers need for the work that `bench/images` times of ours.
//!
//!     rivals FILE ADDRESSES
//!
//! ADDRESSES has module-relative addresses, one hexadecimal number a line, in
//! random order. Prints lines "name value": CPU seconds of a symcache build,
//! its bytes, nanoseconds of a lookup with all inlined frames in the order
//! given and sorted, and CPU seconds of the addr2line crate.
use std::time::Instant;

use symbolic::common::ByteView;
use symbolic::debuginfo::Object;
use symbolic::symcache::{SymCache, SymCacheConverter};

/// CPU seconds of this process.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let ns: f64 = text.split(' ').next().and_then(|x| x.parse().ok()).unwrap_or(0.0);
    ns / 1e9
}

/// Anonymous memory at its peak so far is not told by the system; this is what
/// is held now, in kB.
fn anonymous() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find_map(|l| l.strip_prefix("RssAnon:"))
        .and_then(|l| l.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

fn lookups(cache: &SymCache, addrs: &[u64]) -> (f64, usize) {
    let start = Instant::now();
    let mut seen = 0;
    for &addr in addrs {
        for place in cache.lookup(addr) {
            seen += place.function().name().len() + place.line() as usize;
        }
    }
    (start.elapsed().as_secs_f64() * 1e9 / addrs.len() as f64, seen)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[2]).expect("addresses");
    let mut addrs: Vec<u64> = text.lines().filter_map(|l| u64::from_str_radix(l.trim_start_matches("0x"), 16).ok()).collect();

    let start = cpu();
    let view = ByteView::open(&args[1]).expect("file");
    let object = Object::parse(&view).expect("object");
    let base = object.load_address();
    let mut converter = SymCacheConverter::new();
    converter.process_object(&object).expect("symcache");
    let mut file = Vec::new();
    converter.serialize(&mut file).expect("symcache");
    println!("symbolic-build-cpu {:.4}", cpu() - start);
    println!("symbolic-anonymous-kB {}", anonymous());
    println!("symbolic-bytes {}", file.len());
    let cache = SymCache::parse(&file).expect("symcache");
    lookups(&cache, &addrs);
    println!("symbolic-random-ns {:.1}", lookups(&cache, &addrs).0);
    let random = addrs.clone();
    addrs.sort_unstable();
    println!("symbolic-sorted-ns {:.1}", lookups(&cache, &addrs).0);

    let start = cpu();
    if let Ok(loader) = addr2line::Loader::new(&args[1]) {
        println!("addr2line-open-cpu {:.4}", cpu() - start);
        if let Ok(mut frames) = loader.find_frames(base + random[0]) {
            while let Ok(Some(_)) = frames.next() {}
        }
        println!("addr2line-one-cpu {:.4}", cpu() - start);
    }
}
