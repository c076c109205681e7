#!/usr/bin/env python3
"""Runs the examples of Spark, ClickHouse (chdb) and DuckDB on crash pings.

    bench/clients/engines.py [--symbols DIR] [--rows N] [ENGINE...]

Each must write the rows that symbolon filter writes. Prints the CPU seconds of all
processes of symbolon, beside those of one local process. The engines come from PyPI and
are installed into the user's cache; Spark needs Java 17. The symbols are those of the
demo, or those that bench/symbols.sh makes.
"""
import argparse
import contextlib
import glob
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
EXAMPLES = os.path.join(TOP, "examples")
PACKAGES = ("pyspark==4.3.0", "pandas==3.1.1", "pyarrow==26.0.1", "chdb==4.4.0", "duckdb-cli==1.5.6")
FILES = 8  # of pings, each a task of Spark

# The command of the engines is a script that notes the time of the process.
WRAPPER = """#!/bin/bash
'{0}/real' "$@"
code=$?
times >>'{0}/cpu' # two lines, of this shell and of its children
exit $code
"""


def enter():
    """Installs the packages, and starts this script again among them."""
    version = hashlib.sha256(" ".join(PACKAGES).encode()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    folder = os.path.join(cache, "symbolon", "engines", version)
    python = os.path.join(folder, "bin", "python")
    if sys.prefix == folder:
        return
    if not os.path.exists(os.path.join(folder, "complete")):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
        open(os.path.join(folder, "complete"), "w").close()
    os.execv(python, [python, *sys.argv])


def prepare(tmp, symbols, rows):
    """Builds the program, and writes the pings as Parquet and as JSON."""
    import pyarrow
    import pyarrow.parquet
    for name, package in (("real", "./cmd/symbolon"), ("bench", "./bench")):
        subprocess.run(["go", "build", "-o", os.path.join(tmp, name), package], cwd=TOP, check=True)
    os.makedirs(os.path.join(tmp, "bin"))
    with open(os.path.join(tmp, "bin", "symbolon"), "w") as f:
        f.write(WRAPPER.format(tmp))
    os.chmod(f.name, 0o755)
    os.environ.update(
        PATH=os.path.join(tmp, "bin") + ":" + os.path.dirname(sys.executable) + ":" + os.environ["PATH"],
        SYMBOLON_SOURCES="[{id: bench, type: filesystem, path: '%s'}]" % os.path.abspath(symbols),
        SYMBOLON_DATA=os.path.join(tmp, "data"), SYMBOLON_CACHE_SHARED_PATH=os.path.join(tmp, "shared"))
    lists = [os.path.join(tmp, "%d.ndjson" % i) for i in range(FILES)]
    subprocess.run([os.path.join(tmp, "bench"), "pings", "--symbols", symbols, "--rows", str(rows), "--out", *lists], check=True)
    os.makedirs(os.path.join(tmp, "pings"))
    with open(os.path.join(tmp, "rows.json"), "w") as out:
        for i, name in enumerate(lists):
            with open(name) as f:
                pings = [line.rstrip("\n") for line in f]
            ids = [json.loads(ping)["document_id"] for ping in pings]
            table = pyarrow.table({"document_id": ids, "stack_traces": pings})
            pyarrow.parquet.write_table(table, os.path.join(tmp, "pings", "%d.parquet" % i), compression="gzip")
            for row in table.to_pylist():
                out.write(json.dumps(row) + "\n")
            os.remove(name)


def cpu(tmp):
    """Returns the CPU seconds of the processes since the last call, and their number."""
    with open(os.path.join(tmp, "cpu"), "r+") as f:
        lines = f.readlines()
        f.truncate(0)
    times = [re.findall(r"(\d+)m([\d.]+)s", line) for line in lines]
    return sum(60 * int(m) + float(s) for line in times for m, s in line), len(lines) // 2


def digest(text):
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def local(tmp):
    """Returns a digest of each row that one process writes, once its cache is warm."""
    command = ["symbolon", "filter", "--format", "rows", "--field", "stack_traces", "--replace", os.path.join(tmp, "rows.json")]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    cpu(tmp)
    want, named = {}, 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as p:
        for row in map(json.loads, p.stdout):
            want[row["document_id"]] = digest(row["stack_traces"])
            named += '"function":' in row["stack_traces"]
    if p.returncode or named != len(want):
        sys.exit("engines.py: symbolon filter: exit %d, %d rows of %d have names" % (p.returncode, named, len(want)))
    return want


def compare(engine, out, want):
    """Fails unless the rows in files of Parquet are those of a local process."""
    import pyarrow.parquet
    seen = 0
    for name in glob.glob(out):
        for batch in pyarrow.parquet.ParquetFile(name).iter_batches(1000):
            for row in batch.to_pylist():
                seen += 1
                if want.get(row["document_id"]) != digest(row["stack_traces"]):
                    sys.exit("engines.py: %s: another answer to %s" % (engine, row["document_id"]))
    if seen != len(want):
        sys.exit("engines.py: %s: %d rows, want %d" % (engine, seen, len(want)))


@contextlib.contextmanager
def cluster(tmp):
    """Runs a master of Spark and two workers; returns its URL."""
    import pyspark
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    os.environ.update(SPARK_HOME=os.path.dirname(pyspark.__file__), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable,
                      SPARK_WORKER_DIR=os.path.join(tmp, "work"), SPARK_LOCAL_DIRS=tmp)
    url, deploy = "spark://127.0.0.1:%d" % port, "org.apache.spark.deploy."
    common = ["--host", "127.0.0.1", "--webui-port", "0"]
    with contextlib.ExitStack() as stack, open(os.path.join(tmp, "spark.log"), "a") as log:
        def start(*args):
            p = stack.enter_context(subprocess.Popen(["spark-class", *args], stdout=log, stderr=log))
            stack.callback(p.terminate)

        start(deploy + "master.Master", *common, "--port", str(port))
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        for _ in range(2):
            start(deploy + "worker.Worker", *common, "--cores", "1", "--memory", "2g", url)
        yield url


def spark(tmp, want):
    with cluster(tmp) as url:
        for example in ("pipe", "map_in_pandas"):
            out = os.path.join(tmp, example)
            log = os.path.join(tmp, example + ".log")
            with open(log, "w") as f:
                code = subprocess.run(["spark-submit", "--master", url, "--conf", "spark.ui.enabled=false", "--conf",
                                       "spark.scheduler.minRegisteredResourcesRatio=1", "--conf",
                                       "spark.sql.parquet.compression.codec=gzip",  # snappy fails where musl is installed
                                       os.path.join(EXAMPLES, "spark", example + ".py"), os.path.join(tmp, "pings"), out],
                                      stdout=f, stderr=f).returncode
            if code:
                with open(log) as f:
                    sys.exit("engines.py: spark-submit of %s.py failed:\n%s" % (example, f.read()[-4000:]))
            yield "Spark, " + example + ".py", os.path.join(out, "*.parquet")


def clickhouse(tmp, want):
    out = os.path.join(tmp, "clickhouse.parquet")

    def query(sql, form):  # in a process, with whose end those of the pool end
        code = "import chdb, sys; print(chdb.query(*sys.argv[1:3], udf_path=sys.argv[3]))"
        return subprocess.run([sys.executable, "-c", code, sql, form, os.path.join(EXAMPLES, "clickhouse")], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    query("SELECT document_id, symbolize(stack_traces) AS stack_traces FROM file('%s/pings/*.parquet') INTO OUTFILE '%s'" % (tmp, out), "Parquet")
    bad = "SELECT groupArray(symbolize(s)) FROM values('s String', '', 'text', '{}', '{\"threads\": 1, \"modules\": \"\\\\xff\"}')"
    answers = json.loads(query(bad, "JSONCompact"))["data"][0][0]
    if len(answers) != 4 or answers[:2] != ["", "text"] or not answers[2].startswith('{"error":'):
        sys.exit("engines.py: ClickHouse: answers to bad rows: %s" % answers)
    yield "ClickHouse (chdb)", out


def duckdb(tmp, want):
    out = os.path.join(tmp, "duckdb.parquet")
    subprocess.run([os.path.join(EXAMPLES, "duckdb.sh"), os.path.join(tmp, "pings", "*.parquet"), out], check=True,
                   stdout=subprocess.DEVNULL)
    yield "DuckDB", out


ENGINES = {"spark": spark, "clickhouse": clickhouse, "duckdb": duckdb}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", default=os.path.join(TOP, "cmd/symbolon/demo"))
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("engines", nargs="*", metavar="ENGINE", help=", ".join(ENGINES))
    args = parser.parse_args()
    enter()
    with tempfile.TemporaryDirectory() as tmp:
        prepare(tmp, args.symbols, args.rows)
        want = local(tmp)
        base, _ = cpu(tmp)
        print("%d rows by one process: %.2f CPU seconds" % (len(want), base), flush=True)
        for engine in args.engines or ENGINES:
            for name, out in ENGINES[engine](tmp, want):
                compare(name, out, want)
                used, count = cpu(tmp)
                print("%s: the same rows, %.2f CPU seconds (processes: %d), %.2f times those of one process" % (name, used, count, used / base), flush=True)


if __name__ == "__main__":
    main()
