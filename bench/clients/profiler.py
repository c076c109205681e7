#!/usr/bin/env python3
"""Runs the Firefox Profiler's command-line tool against a Symbolon server.

    bench/clients/profiler.py PROFILER [--record]

PROFILER is a checkout of https://github.com/firefox-devtools/profiler. Its tool
profiler-edit is built in a copy, with node, npm and packages of npm's registry.
It names the functions of the profiles in cmd/symbolon/testdata/profiler by the
symbols beside them. Fails when it sends another request than the recorded one,
which TestProfilesOfTheFirefoxProfiler asks, when a frame of a program that has
symbols gets no name, or when symbolon filter gives a sample another stack than
the tool does. --record writes the requests instead.
"""
import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PROFILES = os.path.join(TOP, "cmd/symbolon/testdata/profiler")
PROGRAMS = ("glaze", "bisque", "slip")
UNUSED = ("json-slabs", "devtools-reps", "iongraph-web")  # see profiler-edit.mjs
NEEDED = ("esbuild", "esbuild-plugin-wasm")


def build(profiler, tmp):
    """Builds the tool from a copy of the checkout; returns its path."""
    for tool in ("node", "npm", "go"):
        if not shutil.which(tool):
            sys.exit("profiler.py: %s is not installed" % tool)
    copy, tool = os.path.join(tmp, "profiler"), os.path.join(tmp, "profiler-edit.js")
    for part in ("src", "res"):
        shutil.copytree(os.path.join(profiler, part), os.path.join(copy, part))
    with open(os.path.join(profiler, "package.json"), encoding="utf-8") as f:
        package = json.load(f)
    packages = {k: v for k, v in package["dependencies"].items() if k not in UNUSED}
    packages.update({k: package.get("devDependencies", {}).get(k, "*") for k in NEEDED})
    with open(os.path.join(copy, "package.json"), "w", encoding="utf-8") as f:
        json.dump({"private": True, "dependencies": packages}, f)
    for command in (["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                    ["node", os.path.join(HERE, "profiler-edit.mjs"), tool]):
        if subprocess.run(command, cwd=copy).returncode:
            sys.exit("profiler.py: cannot build profiler-edit: %s failed" % " ".join(command[:2]))
    return tool


def serve(tmp):
    """Starts a server for the symbols; returns the process and its address."""
    binary = os.path.join(tmp, "symbolon")
    subprocess.run(["go", "build", "-o", binary, "./cmd/symbolon"], cwd=TOP, check=True)
    server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(tmp, "data"),
                               "--source", os.path.join(PROFILES, "store")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = server.stdout.readline()
    if not line.startswith("listening on "):
        sys.exit("profiler.py: the server did not start: %s" % line)
    return server, line.split()[-1], binary


class Between(http.server.BaseHTTPRequestHandler):
    """Forwards a request to the server and keeps its body."""
    base, bodies = "", []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.bodies.append(body)
        with urllib.request.urlopen(urllib.request.Request(self.base + self.path, body), timeout=60) as r:
            answer = r.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


def names(profile, program):
    """Returns the function names of all frames of a program."""
    shared = profile["shared"]
    libs = [lib["debugName"] for lib in profile["libs"]]
    function = [shared["stringArray"][name] for name in shared["funcTable"]["name"]]
    frames = shared["frameTable"]
    return [function[f] for f, lib in zip(frames["func"], frames["lib"]) if lib >= 0 and libs[lib] == program]


def stacks(profile):
    """Returns the stacks of all samples: function, file, line, depth of inlining and function that contains it."""
    shared = profile["shared"]
    text, frames, functions = shared["stringArray"], shared["frameTable"], shared["funcTable"]
    table, sources, symbols = shared["stackTable"], shared["sources"], shared["nativeSymbols"]
    described, found = [], []
    for i in range(table["length"]):
        frame = table["frame"][i]
        f, symbol = frames["func"][frame], frames["nativeSymbol"][frame]
        name, source = text[functions["name"][f]], functions["source"][f]
        place = (source is not None and text[sources["filename"][source]], frames["line"][frame], frames["inlineDepth"][frame])
        if name.startswith(("0x", "<unknown at ")):  # the tool renames functions that are not found
            name, symbol = "unknown", None
        outer = symbol is not None and (text[symbols["name"][symbol]], symbols["address"][symbol])
        offset = table["prefixOffset"][i]
        described.append((described[i - offset] if offset else ()) + ((name, outer) + place,))
    for thread in profile["threads"]:
        found += [stack is not None and described[stack] for stack in thread["samples"]["stack"]]
    return found


def compare(tool, binary, tmp, program, out):
    """Returns how many samples have other stacks in the result of symbolon filter, and how many samples there are."""
    filtered, read = os.path.join(tmp, program + ".filtered.json.gz"), os.path.join(tmp, program + ".read.json.gz")
    subprocess.run([binary, "filter", "--source", os.path.join(PROFILES, "store"), os.path.join(PROFILES, program + ".profile.json.gz"),
                    "-o", filtered], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["node", tool, "-i", filtered, "-o", read], check=True, stdout=subprocess.DEVNULL)
    with gzip.open(out) as theirs, gzip.open(read) as ours:
        pairs = list(zip(stacks(json.load(theirs)), stacks(json.load(ours)), strict=True))
    return sum(a != b for a, b in pairs), len(pairs)


def check(tool, base, binary, tmp, program, record):
    Between.bodies.clear()
    out = os.path.join(tmp, program + ".json.gz")
    subprocess.run(["node", tool, "-i", os.path.join(PROFILES, program + ".profile.json.gz"), "-o", out,
                    "--symbolicate-with-server", base], check=True, stdout=subprocess.DEVNULL)
    request = os.path.join(PROFILES, program + ".request.json")
    if len(Between.bodies) != 1:
        return "%s: the tool sent %d requests" % (program, len(Between.bodies))
    if record:
        with open(request, "wb") as f:
            f.write(Between.bodies[0] + b"\n")
    with open(request, "rb") as f:
        if json.load(f) != json.loads(Between.bodies[0]):
            return "%s: the tool sent another request than %s; see --record" % (program, request)
    with gzip.open(out) as f:
        found = names(json.load(f), program)
    bad = [name for name in found if name.startswith(("0x", "<unknown at "))]
    print("%s: %d frames of %d have a name" % (program, len(found) - len(bad), len(found)))
    if bad or not found:
        return "%s: no name for %s" % (program, ", ".join(bad) or "anything")
    different, samples = compare(tool, binary, tmp, program, out)
    print("%s: symbolon filter gives %d samples of %d the same stack" % (program, samples - different, samples))
    if different:
        return "%s: symbolon filter gives %d samples another stack" % (program, different)
    return None


def main():
    if len(sys.argv) < 2 or not os.path.isfile(os.path.join(sys.argv[1], "src/node-tools/profiler-edit.ts")):
        sys.exit(__doc__ + "\nmake clients PROFILER=DIR: no such checkout: %s" % "".join(sys.argv[1:2]))
    with tempfile.TemporaryDirectory() as tmp:
        tool = build(sys.argv[1], tmp)
        server, Between.base, binary = serve(tmp)
        between = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
        threading.Thread(target=between.serve_forever, daemon=True).start()
        try:
            bad = [check(tool, "http://127.0.0.1:%d" % between.server_port, binary, tmp, p, "--record" in sys.argv) for p in PROGRAMS]
        finally:
            between.shutdown()
            server.terminate()
            server.wait(20)
    bad = [line for line in bad if line]
    for line in bad:
        print("profiler.py:", line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
