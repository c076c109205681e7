package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"symbolon/internal/scratch"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

func tableCommand() *command {
	return &command{
		name:  "table",
		short: "Build, print or check the table of a debug file",
		subs:  []*command{tableBuildCommand(), tableDumpCommand(), tableVerifyCommand()},
	}
}

func tableBuildCommand() *command {
	var out string
	return &command{
		name:  "build",
		args:  "FILE",
		short: "Build the table of a debug file",
		long:  "A file has the same table, byte for byte, on every machine.",
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&out, "out", "", "write the table to `TABLE`; - is standard output (default FILE.symcache)")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			if err := oneFile(args); err != nil {
				return err
			}
			if out == "" && args[0] == "-" {
				return &usageError{text: "--out is required for standard input"}
			}
			if out == "" {
				out = args[0] + ".symcache"
			}
			return buildTable(ctx, e, args[0], out)
		},
	}
}

// buildTable builds the table of a file.
func buildTable(ctx context.Context, e *env, name, out string) error {
	obj, d, err := openObject(e, name)
	if err != nil {
		return err
	}
	defer d.Close()
	limitHeap(commandMemory)
	src := d.Source()
	hash, err := table.HashOf(src, src.Relax)
	if err != nil {
		return err
	}
	err = writeFile(e, out, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		opt := symcache.Options{Scratch: scratch.Dir(os.TempDir()), Workers: runtime.GOMAXPROCS(0)}
		if err := table.Build(ctx, b, obj, opt, table.Input{Size: src.Size(), Hash: hash}); err != nil {
			return err
		}
		return b.Flush()
	})
	if err == nil && obj.Info().BadRecords > 0 {
		say(e.stderr, "%s: omitted %s; see \"symbolon inspect\"\n", name, counted(obj.Info().BadRecords, "damaged record"))
	}
	return err
}

func tableDumpCommand() *command {
	return &command{
		name:  "dump",
		args:  "TABLE",
		short: "Print the bytes of a table with their meaning",
		run: func(_ context.Context, e *env, args []string) error {
			return withTable(e, args, func(name string, t *symcache.Table) error {
				out := bufio.NewWriter(e.stdout)
				if err := t.Dump(out); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				return out.Flush()
			})
		},
	}
}

func tableVerifyCommand() *command {
	return &command{
		name:  "verify",
		args:  "TABLE",
		short: "Check every byte and every reference of a table",
		run: func(_ context.Context, e *env, args []string) error {
			return withTable(e, args, func(name string, t *symcache.Table) error {
				if err := t.Verify(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				info := t.Info()
				say(e.stdout, "%s: valid; %s %s, built from %s\n",
					name, printable(info.Module.DebugFile), info.Module.DebugID, counted(info.InputSize, "byte"))
				return nil
			})
		},
	}
}

// withTable calls use with the table that args name.
func withTable(e *env, args []string, use func(name string, t *symcache.Table) error) error {
	if len(args) != 1 {
		return &usageError{text: "exactly one TABLE is required"}
	}
	f, err := openFile(e, args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := symcache.Open(f.Source)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return use(args[0], t)
}
