#!/usr/bin/env python3
"""Writes NAME.want beside each file: what others answer about addresses of it.

    want.py REF

REF is the folder that build.sh was given: where it has a file of the same name,
the others are asked about that one. Asked are llvm-symbolizer, addr2line,
eu-addr2line and the Python package symbolic; an address is written if two of
them, or the only one that can read the file, give the same names, files and
lines. Addresses are relative to the image (in relocatable files: to the
section .text, in wasm: to the file).
"""
import glob, json, os, posixpath, re, subprocess, sys

SYMBOLIC = """
import json, sys
from symbolic import Archive
objects = {o.arch: o for o in Archive.open(sys.argv[1]).iter_objects()}
table = objects.get("x86_64", list(objects.values())[0]).make_symcache()
for line in sys.stdin:
    found = table.lookup(int(line, 16))
    print(json.dumps([[l.symbol, l.full_path or "", l.line or 0] for l in found]))
"""
MOST = 48


def told(name, file, line, path):
    """a frame as it is expected: the part of a function that is cold has its name
    (if there is more than a symbol), and where there is no linkage name, the
    scope, which nobody else prints, is put before it (DWARF 2 knows no
    namespaces); nobody else joins the symbols of a PE file with its DWARF; one
    of the others leaves the underscore of 32-bit Windows"""
    if line:
        name = re.sub(r"\.cold(\.\d+)?$", "", name)
    if name == "operator()" and file.endswith("kiln.cc") and line == 21:
        name = "Local::" + name
    if name.startswith("each<"):
        name = ("" if path.endswith("strict2") else "kiln::") + "Rack<int>::" + name
    if path.endswith("pe-gcc-cc.exe") and name == "peek":
        name = "_ZN12_GLOBAL__N_14peekEi"
    if path.endswith("coff-i686.o"):
        name = name.removeprefix("_")  # that of the system
    return [name, file, line]


def place(text):
    text = text.split(" (")[0]
    m = re.match(r"(.*?):(\d+|\?)(:\d+)?$", text)
    if not m or m[1] == "??":
        return "", 0
    if m[2] in "?0":
        return "?", 0  # code that no line has made; such addresses are left out
    return posixpath.normpath(m[1]), int(m[2])


def gnu(command, addrs):
    p = subprocess.run(command, input="".join("%#x\n" % a for a in addrs), capture_output=True, text=True)
    out = []
    lines = p.stdout.splitlines()
    while lines:
        lines.pop(0)
        frames = []
        while len(lines) > 1 and not lines[0].startswith("0x"):
            name = lines.pop(0).split(" inlined at ")[0]
            frames.append([name.lstrip("?"), *place(lines.pop(0))])
        out.append(frames)
    return out if len(out) == len(addrs) else None


def symbolic(path, addrs):
    p = subprocess.run([sys.executable, "-c", SYMBOLIC, path], input="".join("%#x\n" % a for a in addrs), capture_output=True, text=True)
    out = [[[n, posixpath.normpath(f) if l else "", l] for n, f, l in json.loads(x)] for x in p.stdout.splitlines()]
    return out if len(out) == len(addrs) else None


def regions(path):
    """code of a file: (address, size) of each region, image base, offset of wasm"""
    text = subprocess.run(["llvm-readobj", "--sections", "--file-headers", "--segments", path], capture_output=True, text=True).stdout
    if path.endswith(".wasm"):
        m = re.search(r"Type: CODE.*?Size: (\d+)\s+Offset: (\d+)", text, re.S)
        return [(0, int(m[1]))], 0, int(m[2])
    if path.endswith("wasm32.o"):  # whose sizes have five bytes
        m = re.search(r"Type: CODE.*?Size: (\d+)\s+Offset: (\d+)", text, re.S)
        return [(2, int(m[1]) - 2)], 0, int(m[2]) + 6
    if "Mach-O" in text.split("Arch:")[0]:
        m = re.search(r"Name: __text.*?Address: (0x[0-9A-F]+)\s+Size: (0x[0-9A-F]+)", text, re.S)
        return [(int(m[1], 16), int(m[2], 16))], 0, 0
    if "Format: COFF" in text:
        if "ImageBase" not in text:  # an object: its first section of code
            return [(0, int(re.search(r"Name: \.text .*?RawDataSize: (\d+)", text, re.S)[1]))], 0, 0
        base = int(re.search(r"ImageBase: (0x[0-9A-F]+)", text)[1], 16)
        sections = [s for s in re.findall(r"Section \{(.*?)\n  \}", text, re.S) if "IMAGE_SCN_CNT_CODE" in s]
        size, at = (int(re.search(k + r": (0x[0-9A-F]+)", sections[0])[1], 16) for k in ("VirtualSize", "VirtualAddress"))
        return [(base + at, size)], base, 0
    code = []
    for s in re.findall(r"Section \{(.*?)\n  \}", text, re.S):
        if "SHF_EXECINSTR" in s:
            at, size = (int(re.search(k + r": (\w+)", s)[1], 0) for k in ("Address", "Size"))
            if size and (at or not code):
                code.append((at, size))
    m = re.search(r"Type: PT_LOAD.*?VirtualAddress: (\w+)", text, re.S)
    return code, int(m[1], 16) if m else 0, 0


def ask_pdb(path):
    """A PDB: llvm-symbolizer, which is asked about the binary, has no arguments
    of inlined functions."""
    code, base, _ = regions(path[:-4] + ".exe")
    addrs = [a for at, size in code for a in range(at, at + size)]
    llvm = gnu(["llvm-symbolizer", "--obj=" + path[:-4] + ".exe", "--output-style=GNU", "-a", "--inlines"], addrs)
    other = symbolic(path, [a - base for a in addrs])
    rows, last = [], None
    plain = lambda frames: [[re.sub(r"\W", "", n.split("(")[0] or n), f.replace("/", "\\"), l] for n, f, l in frames]
    for a, mine, theirs in zip(addrs, other, llvm):
        if plain(mine) == plain(theirs) and mine != last:
            rows.append((a - base, mine, ["llvm-symbolizer", "symbolic"]))
        last = mine
    return rows


def ask(path):
    if path.endswith(".pdb"):
        return thin(ask_pdb(path))
    code, base, shift = regions(path)
    arch = ":x86_64" if "fat" in path else ""
    addrs = [a for at, size in code for a in range(at, at + size)]
    answers = {
        "llvm-symbolizer": gnu(["llvm-symbolizer", "--obj=" + path + arch, "--output-style=GNU", "-a", "--inlines", "--no-demangle", "--functions=linkage"], addrs),
        "addr2line": gnu(["addr2line", "-e", path, "-a", "-i", "-f"], addrs),
        "eu-addr2line": gnu(["eu-addr2line", "-e", path, "-a", "-i", "-f"], addrs),
        "symbolic": symbolic(path, [a - base + shift for a in addrs]),
    }
    answers = {k: v for k, v in answers.items() if v and any(x and x[0][0] for x in v)}
    rows, last = [], None
    for i, a in enumerate(addrs):
        votes = {}
        for k, v in answers.items():
            frames = [told(*f, path) for f in v[i]] if any(f[0] for f in v[i]) else []
            votes.setdefault(json.dumps(frames), []).append(k)
        frames, names = max(votes.items(), key=lambda kv: len(kv[1]))
        frames = json.loads(frames)
        if not frames and path.endswith(".exe"):
            last = None  # between functions, where symbols have no size
            continue
        if path.endswith("wasm32.o") and frames and not frames[0][1]:
            last = None  # the size before a function
            continue
        if len(names) < min(2, len(answers)) or any(f[1] and not f[2] for f in frames):
            last = None
            continue
        if frames != last:
            rows.append((a - base + shift, frames, names))
        last = frames
    return thin(rows)


def thin(rows):
    """MOST of the rows, and how many each has agreed to"""
    used = {}
    if len(rows) > MOST:
        rows = [rows[i * len(rows) // MOST] for i in range(MOST)]
    for _, _, names in rows:
        for k in names:
            used[k] = used.get(k, 0) + 1
    return rows, used


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ref = sys.argv[1]
    for path in sorted(glob.glob(os.path.join(here, "*"))):
        name = os.path.basename(path)
        if os.path.isdir(path) or re.search(r"\.(want|py|sh|dwo|dwp|alt|debug)$|^win-.*\.exe$", name):
            continue
        other = os.path.join(ref, name)
        rows, used = ask(other if os.path.exists(other) else path)
        with open(path + ".want", "w") as out:
            out.write("# agreed by: %s\n" % ", ".join("%s %d" % kv for kv in sorted(used.items())))
            for a, frames, _ in rows:
                out.write(("%#x %s" % (a, " < ".join("%s;%s;%d" % tuple(f) for f in frames))).rstrip() + "\n")
        print(name, len(rows), used)


main()
