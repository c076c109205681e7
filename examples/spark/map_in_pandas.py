"""Names the frames of crash pings in Parquet, in batches of pandas.

    spark-submit --master spark://HOST:7077 examples/spark/map_in_pandas.py PINGS NAMED

PINGS has the columns document_id and stack_traces, a crash ping as JSON. NAMED gets the
same rows, with the answers in stack_traces. symbolon, pandas and pyarrow are installed on
all workers, and their environment has the variables that pipe.py shows.
"""
import itertools
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pandas
from pyspark.sql import SparkSession

COMMAND = "symbolon filter --format rows --field stack_traces --replace"


def symbolicate(batches):
    names = subprocess.Popen(shlex.split(COMMAND), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def write():
        with suppress(BrokenPipeError), names.stdin as out:
            for batch in batches:
                for row in batch.to_dict("records"):
                    out.write(json.dumps(row).encode() + b"\n")

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)  # answers are read while rows are written
        with names.stdout:
            while lines := list(itertools.islice(names.stdout, 1000)):
                yield pandas.DataFrame([json.loads(line) for line in lines])
        if names.wait():
            raise subprocess.CalledProcessError(names.returncode, COMMAND)
        written.result()


def main(pings, named):
    spark = SparkSession.builder.appName("symbolon").getOrCreate()
    rows = spark.read.parquet(pings).select("document_id", "stack_traces")
    rows.mapInPandas(symbolicate, rows.schema).write.parquet(named)


if __name__ == "__main__":
    main(*sys.argv[1:])
