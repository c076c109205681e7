package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"symbolon/internal/scratch"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

func tableCommand(e *env) *cobra.Command {
	return group("table", "Build, print or check the table of a debug file", tableBuildCommand(e), tableDumpCommand(e), tableVerifyCommand(e))
}

func tableBuildCommand(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "build FILE", Short: "Build the table of a debug file",
		Long: "A file has the same table, byte for byte, on every machine.",
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" && args[0] == "-" {
				return &usageError{"--out is required for standard input"}
			}
			if out == "" {
				out = args[0] + ".symcache"
			}
			return buildTable(c.Context(), e, args[0], out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write the table to `TABLE`; - is standard output (default FILE.symcache)")
	return c
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

func tableDumpCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "dump TABLE", Short: "Print the bytes of a table with their meaning",
		RunE: func(_ *cobra.Command, args []string) error {
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

func tableVerifyCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "verify TABLE", Short: "Check every byte and every reference of a table",
		RunE: func(_ *cobra.Command, args []string) error {
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
