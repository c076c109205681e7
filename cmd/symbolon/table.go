package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"symbolon/internal/bin"
	"symbolon/internal/cli"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/symcache"
	"symbolon/internal/table"
)

func tableCommand(e *env) *cobra.Command {
	return cli.Group("table", "Build, print or check the table of a debug file", tableBuildCommand(e), tableDumpCommand(e), tableVerifyCommand(e))
}

func tableBuildCommand(e *env) *cobra.Command {
	var out string
	var unwind bool
	c := &cobra.Command{
		Use: "build FILE", Short: "Build the table of a debug file",
		Long: `The table contains functions, files and lines, or with --unwind the unwind
information. The table of a file has the same bytes on every machine.`,
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" && args[0] == "-" {
				return cli.Usage("--out is required for standard input")
			}
			build, suffix := buildNames, ".symcache"
			if unwind {
				build, suffix = buildUnwind, ".cficache"
			}
			if out == "" {
				out = args[0] + suffix
			}
			return buildTable(c.Context(), e, args[0], out, build)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write the table to `TABLE`; - is standard output (default FILE.symcache or FILE.cficache)")
	c.Flags().BoolVar(&unwind, "unwind", false, "build the table of unwind information")
	return c
}

func buildNames(ctx context.Context, w io.Writer, obj *object.Object, in table.Input) error {
	opt := symcache.Options{Scratch: scratch.Dir(os.TempDir()), Workers: runtime.GOMAXPROCS(0)}
	return table.Build(ctx, w, obj, opt, in)
}

func buildUnwind(ctx context.Context, w io.Writer, obj *object.Object, in table.Input) error {
	return table.BuildUnwind(ctx, w, obj, 0, in)
}

// buildTable builds a table of a file.
func buildTable(ctx context.Context, e *env, name, out string, build func(context.Context, io.Writer, *object.Object, table.Input) error) error {
	obj, d, err := openObject(e, name)
	if err != nil {
		return err
	}
	defer d.Close()
	limitHeap(commandMemory)
	stop := e.watch(name, out, obj)
	defer stop()
	src := d.Source()
	hash, err := table.HashOf(src, src.Relax)
	if err != nil {
		return err
	}
	err = writeFile(e, out, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		if err := build(ctx, b, obj, table.Input{Size: src.Size(), Hash: hash}); err != nil {
			return err
		}
		return b.Flush()
	})
	stop()
	if err == nil && obj.Info().BadRecords > 0 {
		say(e.stderr, "%s: omitted %s; see \"symbolon inspect\"\n", name, counted(obj.Info().BadRecords, "damaged record"))
	}
	return err
}

func tableDumpCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "dump TABLE", Short: "Print the bytes of a table with their meaning",
		Long: "For a table of unwind information, STACK records are printed.",
		RunE: func(_ *cobra.Command, args []string) error {
			return withFile(e, args[0], func(src bin.Source) error {
				out := bufio.NewWriter(e.stdout)
				return errors.Join(table.Dump(out, src), out.Flush())
			})
		},
	}
}

func tableVerifyCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "verify TABLE", Short: "Check every byte and every reference of a table",
		RunE: func(_ *cobra.Command, args []string) error {
			return withFile(e, args[0], func(src bin.Source) error {
				text, err := table.Verify(src)
				if err == nil {
					say(e.stdout, "%s: valid; %s\n", args[0], text)
				}
				return err
			})
		},
	}
}

// withFile calls use with a file. Its errors name the file.
func withFile(e *env, name string, use func(src bin.Source) error) error {
	f, err := openFile(e, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = use(f.Source); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
