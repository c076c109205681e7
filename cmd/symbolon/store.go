package main

import (
	"bytes"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/console"
	"symbolon/internal/node"
)

func storeCommand(e *env) *cobra.Command {
	return cli.Group("store", "Check or repair the store of uploads",
		onStore(e, "check", "Read all uploads and report damage", `Reads the bytes of all files, and prints the missing and damaged ones. The exit
status is 1 if there are any.`),
		onStore(e, "rebuild", "Rebuild the records and identifiers of uploads", `Does the same as "store check", rebuilds the records of files from their bytes, and
the identifiers from the records of uploads. Uploads with a lost record are reported.`))
}

func gcCommand(e *env) *cobra.Command {
	return onStore(e, "gc", "Remove expired and deleted uploads", `Use "gc run", or "gc --dry-run" to only print what it would remove. A running server
does this once a day. Bytes that no upload refers to are marked first, and removed by
a run at least 24 hours later.`)
}

// onStore returns a command of node.Maintain.
func onStore(e *env, verb, short, long string) *cobra.Command {
	var conf configFlags
	q := node.MaintainQuery{Verb: verb}
	c := &cobra.Command{
		Use: verb, Short: short, Long: long,
		RunE: func(c *cobra.Command, args []string) error {
			if isRun := len(args) == 1 && args[0] == "run"; verb == "gc" && isRun == q.Dry {
				return cli.Usage(`must be "gc run" or "gc --dry-run"`)
			}
			q.Look, q.Progress = e.look(), e.tty
			bar := e.progress(map[string]string{"gc": "collecting", "check": "checking", "rebuild": "rebuilding"}[verb], "")
			defer bar.Close()
			return conf.operate(c.Context(), e, func(op operator) error {
				return op.Maintain(c.Context(), q, &maintainOutput{w: e.stdout, bar: bar})
			})
		},
	}
	conf.addBase(c.Flags())
	if verb == "gc" {
		c.Use = "gc [run]"
		c.Flags().BoolVar(&q.Dry, "dry-run", false, "only print how much a run would remove")
		c.Flags().BoolVar(&q.JSON, "json", false, "print JSON")
	}
	return c
}

// maintainOutput passes the output of node.Maintain on, and shows the progress in it.
type maintainOutput struct {
	w    io.Writer
	bar  *console.Progress
	line []byte // the beginning of a line
}

// Write implements io.Writer.
func (m *maintainOutput) Write(p []byte) (int, error) {
	m.line = append(m.line, p...)
	for {
		line, rest, isWhole := bytes.Cut(m.line, []byte("\n"))
		if !isWhole {
			return len(p), nil
		}
		if done, isProgress := bytes.CutPrefix(line, []byte(node.ProgressMark)); isProgress {
			n, _ := strconv.ParseInt(string(done), 10, 64) // of our own
			m.bar.Set(n, 0)
		} else {
			m.bar.Clear()
			if _, err := m.w.Write(m.line[:len(line)+1]); err != nil {
				return 0, err
			}
		}
		m.line = rest
	}
}
