package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"symbolon/internal/batch"
	"symbolon/internal/cli"
	"symbolon/internal/filter"
	"symbolon/internal/filter/auto"
)

func batchCommand(e *env) *cobra.Command {
	var conf configFlags
	var job, part, maxErrors string
	opt := batch.Options{Unit: 20_000}
	c := &cobra.Command{
		Use: "batch INPUT...", Short: "Add names to the rows of many files, in parts that can be resumed and distributed",
		Long: `INPUT is a file of rows as "filter" takes them, a folder of such files (.json, .jsonl,
.ndjson), an object (s3://BUCKET/KEY, gs://BUCKET/KEY) or a prefix of objects. They may
be compressed with gzip or zstd.

The output has a file for each unit of rows, in the order of the rows:
part/000000-000000.ndjson.zst, and so on. A command that was interrupted or killed
continues when it is started again, and running it twice at the same time does no harm.
With --part, several machines divide the units among themselves.

Exit status: 0 done; 1 too many rows failed; 2 wrong usage or input; 75 a temporary
failure, 130 and 143 interrupted: start the same command again to continue.`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if opt.Inputs = args; opt.Out == "" || opt.Unit < 1 {
				return cli.Usage("--out is required, and --unit must be at least 1")
			}
			if slices.Contains(args, "-") {
				return cli.Usage("standard input cannot be read twice; name files")
			}
			if part != "" {
				if opt.Part, err = batch.ParsePart(part, func(name string) string { return environment(e, name) }); err != nil {
					return cli.Usage(err.Error())
				}
			}
			if job != "" {
				opt.Out = strings.TrimRight(opt.Out, "/") + "/" + job
			}
			most, err := batch.ParsePercent(maxErrors)
			if err != nil {
				return cli.Usage("--max-errors: " + err.Error())
			}
			return runBatch(c.Context(), e, conf, opt, most)
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.StringVar(&opt.Out, "out", "", "write to the folder `DEST`, which may be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX")
	fs.StringVar(&job, "job", "", "write to the folder `NAME` in DEST")
	fs.IntVar(&opt.Unit, "unit", opt.Unit, "the number of `ROWS` in a unit")
	fs.StringVar(&part, "part", "", "do part `I/N` of the work, I from 0 to N-1; auto or auto/N takes I from Kubernetes, Slurm, AWS Batch or Cloud Run")
	fs.BoolVar(&opt.Retry, "retry-missing", false, "also redo the units in which modules were missing")
	fs.StringVar(&maxErrors, "max-errors", "10%", "exit with 1 if more than `P%` of the rows have no answer")
	fs.StringVar(&opt.Rows.Field, "field", "", "rewrite the member at `PATH` of each row, with dots: payload.stackTraces")
	fs.BoolVar(&opt.Rows.Replace, "replace", false, "replace the addresses in a row with the answer")
	return c
}

// runBatch runs a batch, with progress on a terminal.
func runBatch(ctx context.Context, e *env, conf configFlags, opt batch.Options, maxErrors float64) error {
	n, err := conf.local(e)
	if err != nil {
		return &statusError{err, exitUsage}
	}
	defer n.Close()
	answer := n.Answers()
	opt.NewRun = func() *filter.Run { return &filter.Run{Names: n.Names(), Answer: answer} }
	opt.Open, opt.Rows.Text, opt.Now = n.OpenPlace, auto.Logs, time.Now
	bar := e.progress("reading", "")
	opt.Progress = bar.Set
	result, err := batch.Run(ctx, &opt)
	n.FinishTables(ctx)
	bar.Close()
	if result != nil {
		result.Report(e.stderr)
	}
	if err == nil {
		err = result.Verdict(maxErrors)
	}
	if err != nil && ctx.Err() == nil {
		return &statusError{err, batch.Code(err)}
	}
	return err
}
