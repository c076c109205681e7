"""Names the frames of crash pings in Parquet: Spark pipes each partition through a filter.

    spark-submit --master spark://HOST:7077 examples/spark/pipe.py PINGS NAMED

PINGS has the columns document_id and stack_traces, a crash ping as JSON. NAMED gets the
same rows, with the answers in stack_traces. symbolon is installed on all workers.

Spark gives the command the variables of ENV only, with their values on the driver:

    export SYMBOLON_SOURCES='[{id: mozilla, type: http, url: https://symbols.mozilla.org/try/, is_public: true}]'
    export SYMBOLON_CACHE_SHARED_PATH=/mnt/symbolon    # or a bucket: the tables of all tasks
"""
import os
import sys

from pyspark.sql import SparkSession

COMMAND = "symbolon filter --format rows --field stack_traces --replace"
ENV = {"PATH": os.environ["PATH"], "SYMBOLON_DATA": "/tmp/symbolon"}
ENV.update((name, value) for name, value in os.environ.items() if name.startswith("SYMBOLON_"))


def main(pings, named):
    spark = SparkSession.builder.appName("symbolon").getOrCreate()
    rows = spark.read.parquet(pings).select("document_id", "stack_traces")
    lines = rows.toJSON().pipe(COMMAND, ENV, checkCode=True)
    spark.read.schema(rows.schema).json(lines).write.parquet(named)


if __name__ == "__main__":
    main(*sys.argv[1:])
