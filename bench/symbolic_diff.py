#!/usr/bin/env python3
"""Compares "symbolon resolve" with the Python package symbolic on real files.

    symbolic_diff.py --symbolon BINARY [--count N] [--seed S] FILE.sym...

N addresses are drawn from all files together, half of them borders of FUNC,
INLINE, line and PUBLIC records and their neighbours, half anywhere between the
first and the last record. Every frame's function, file and line must be equal.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys

from symbolic import Archive

RECORD = re.compile(r"^(?:FUNC (?:m )?|PUBLIC (?:m )?)?([0-9a-f]+) ([0-9a-f]+) ")


def addresses(path, count, rng):
    """Returns count addresses: half at borders of records, half anywhere."""
    starts = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = RECORD.match(line)
            if m and not line.startswith("STACK"):
                starts.append((int(m.group(1), 16), int(m.group(2), 16)))
    low, high = min(s for s, _ in starts), max(s + z for s, z in starts if s + z < 2**32)
    out = []
    for i in range(count):
        if i % 2:
            s, z = rng.choice(starts)
            out.append(max(0, rng.choice([s - 1, s, s + 1, s + z - 1, s + z])))
        else:
            out.append(rng.randrange(max(0, low - 64), high + 64))
    return [a for a in out if a < 2**32]


def ours(binary, path, addrs):
    p = subprocess.run([binary, "resolve", "--format", "jsonl", "--no-demangle", path],
                       input="\n".join("%x" % a for a in addrs), capture_output=True, text=True, check=True)
    return [[(f["function"], f.get("file", ""), f.get("line", 0)) for f in json.loads(line)["frames"]] for line in p.stdout.splitlines()]


def theirs(path, addrs):
    archive = Archive.open(path)
    cache = next(archive.iter_objects()).make_symcache()
    return [[(l.symbol, l.full_path or "", l.line or 0) for l in cache.lookup(a)] for a in addrs]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--symbolon", required=True)
    ap.add_argument("--count", type=int, default=100000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--show", type=int, default=5)
    ap.add_argument("files", nargs="+")
    a = ap.parse_args()
    rng, equal, total, frames = random.Random(a.seed), 0, 0, 0
    for path in a.files:
        addrs = addresses(path, a.count // len(a.files) + 1, rng)
        good = shown = 0
        for addr, x, y in zip(addrs, ours(a.symbolon, path, addrs), theirs(path, addrs)):
            frames += len(y)
            if x == y:
                good += 1
            elif shown < a.show:
                shown += 1
                print("%s %x\n  ours   %s\n  theirs %s" % (os.path.basename(path), addr, x, y))
        print("%s: %d of %d addresses equal" % (os.path.basename(path), good, len(addrs)))
        equal, total = equal + good, total + len(addrs)
    print("%d addresses, %d frames, %d equal, %d different" % (total, frames, equal, total - equal))
    return 0 if equal == total and total else 1


if __name__ == "__main__":
    sys.exit(main())
