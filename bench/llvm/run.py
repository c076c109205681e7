#!/usr/bin/env python3
"""Runs LLVM's own tests of llvm-symbolizer and llvm-addr2line with symbolon in their
place:

    bench/llvm/run.py [--keep DIR] CHECKOUT [TEST...]

CHECKOUT is a checkout of LLVM; of that only llvm/test is used. The tests are those
whose commands name one of the tools. They run with the tools of LLVM first (those of
the llvm-config in LLVM_CONFIG, or llvm-config-19), then with ours, so that those that
cannot pass on this machine do not count. Needs the Python package lit and LLVM's
tools for tests (Debian: llvm-19 llvm-19-tools lld-19)."""

import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = ("llvm-symbolizer", "llvm-addr2line")
NAMED = re.compile(r"RUN:.*\bllvm-(symbolizer|addr2line)\b|RUN:.*\\\n.*\bllvm-(symbolizer|addr2line)\b")
SUFFIXES = (".test", ".s", ".ll", ".c", ".cpp", ".txt", ".yaml", ".mir", ".td")

# The configuration of the suite, in the place of LLVM's own, which is made by its build.
CONFIG = """
import lit.formats
config.name = "LLVM"
config.test_format = lit.formats.ShTest(False)
config.suffixes = %(suffixes)r
config.excludes = ["Inputs", "CMakeLists.txt", "README.txt", "LICENSE.txt"]
config.test_source_root = %(source)r
config.test_exec_root = %(out)r
config.environment["PATH"] = %(path)r
config.targets = frozenset(%(targets)r)
config.native_target = "X86"
config.target_triple = config.host_triple = "x86_64-pc-linux-gnu"
config.have_dia_sdk = config.linked_bye_extension = False
config.available_features.update(["shell", "native", "object-emission", "default_triple", "x86_64-linux", "x86_64", "zlib", "zstd",
    "system-linux", "host-byteorder-little-endian", "debuginfod", "curl", "can-execute", "disable-debug-info-print-format"]
    + [t.lower() + "-registered-target" for t in config.targets])
config.substitutions += [
    ("%%errc_ENOENT", "'No such file or directory'"), ("%%errc_EISDIR", "'Is a directory'"), ("%%errc_EINVAL", "'Invalid argument'"),
    ("%%errc_EACCES", "'Permission denied'"), ("%%llc_dwarf", "llc"), ("%%python", %(python)r), ("%%host_cc", "clang"),
    ("%%{llvm_src_root}", %(root)r), ("%%llvm_src_root", %(root)r), ("%%{fs-sep}", "/"), ("%%exeext", ""), ("%%shlibext", ".so"),
]
"""


def tests(root):
    """The files below llvm/test whose commands name the tools."""
    found = []
    for folder, folders, names in os.walk(os.path.join(root, "llvm", "test")):
        folders[:] = [f for f in folders if f != "Inputs"]
        for name in names:
            if name.endswith(SUFFIXES):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as f:
                    if NAMED.search(f.read()):
                        found.append(path)
    return sorted(found)


def run(root, paths, tools, bindir, out):
    """The results of tests by name, with the tools of a folder."""
    os.makedirs(out)
    targets = subprocess.run([llvm_config(), "--targets-built"], capture_output=True, text=True, check=True).stdout.split()
    config, source = os.path.join(out, "lit.cfg.py"), os.path.join(root, "llvm", "test")
    with open(config, "w", encoding="utf-8") as f:
        f.write(CONFIG % {
            "suffixes": list(SUFFIXES), "source": source, "out": os.path.join(out, "out"), "targets": targets, "python": sys.executable,
            "root": os.path.join(root, "llvm"), "path": os.pathsep.join(filter(None, (tools, bindir, os.environ["PATH"]))),
        })
    results = os.path.join(out, "results.json")
    driver = "import sys, lit.main; lit.main.main({'config_map': {%r: %r}})" % (os.path.realpath(os.path.join(source, "lit.cfg.py")), config)
    env = {k: v for k, v in os.environ.items() if k != "SYMBOLON_LLVM"}
    with open(os.path.join(out, "log"), "w", encoding="utf-8") as log:
        subprocess.run([sys.executable, "-c", driver, "-v", "-j", "2", "-o", results] + paths, stdout=log, stderr=log, env=env, check=False)
    with open(results, encoding="utf-8") as f:
        return {t["name"].removeprefix("LLVM :: "): t["code"] for t in json.load(f)["tests"]}


def llvm_config():
    return os.environ.get("LLVM_CONFIG", "llvm-config-19")


def main():
    args = sys.argv[1:]
    keep = None
    if args[:1] == ["--keep"]:
        keep, args = args[1], args[2:]
    if not args:
        sys.exit(__doc__)
    root = os.path.abspath(args[0])
    paths = [os.path.join(root, "llvm", "test", t) for t in args[1:]] or tests(root)
    if not paths:
        sys.exit("%s: no test below llvm/test names llvm-symbolizer or llvm-addr2line: is it a checkout of LLVM?" % root)
    bindir = subprocess.run([llvm_config(), "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as tmp:
        out = keep or tmp
        ours = os.path.join(tmp, "bin")
        os.mkdir(ours)
        subprocess.run(["go", "build", "-o", os.path.join(ours, TOOLS[0]), "./cmd/symbolon"], cwd=TOP, check=True)
        os.symlink(TOOLS[0], os.path.join(ours, TOOLS[1]))
        theirs = run(root, paths, "", bindir, os.path.join(out, "theirs"))
        results = run(root, paths, ours, bindir, os.path.join(out, "ours"))
    can = [t for t, code in theirs.items() if code == "PASS"]
    failed = [t for t in can if results[t] != "PASS"]
    for t in sorted(failed):
        print("FAIL", t)
    print("%d tests name the tools; LLVM passes %d here; symbolon passes %d of these" % (len(theirs), len(can), len(can) - len(failed)))


if __name__ == "__main__":
    main()
