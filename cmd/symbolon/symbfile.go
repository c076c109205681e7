package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"symbolon/internal/bin"
	"symbolon/internal/cli"
	"symbolon/internal/companion"
	"symbolon/internal/extract"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/standin"
)

func symbfileCommand(e *env) *cobra.Command {
	return cli.Group("symbfile", "Write, print, check or query the symbol files of Elastic's profiler",
		symbExtractCommand(e), symbRetpadsCommand(e), symbLookupCommand(e), symbDumpCommand(e), symbVerifyCommand(e),
		symbSplitCommand(e), symbMergeCommand(e))
}

func symbExtractCommand(e *env) *cobra.Command {
	var binary, debug, ranges, pads string
	var open companion.Options
	c := &cobra.Command{
		Use: "extract", Short: "Write the ranges and return pads of a binary",
		Long: `Ranges have the function, the inlined calls and the lines of the code; return
pads have those of the return address of each call. Debug information that the
binary lacks is taken from its separate debug file, if that is found or named.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if binary == "" || ranges == "" && pads == "" {
				return cli.Usage("-e and --ranges or --retpads are required")
			}
			if ranges != "" && sameFile(ranges, pads) {
				return cli.Usage("--ranges and --retpads must be different files")
			}
			code, err := openAlone(e, binary, open)
			if err != nil {
				return err
			}
			defer code.Close()
			d, err := openDebug(e, cmp.Or(debug, binary), open)
			if err != nil {
				return err
			}
			defer d.Close()
			if err := extract.CheckBuild(code.Object().Info().Module, d.Object().Info().Module); err != nil {
				return fmt.Errorf("%s, %s: %w", binary, debug, err)
			}
			if err := extractSymbfiles(c.Context(), e, symbfileInput{code, d}, ranges, pads); err != nil {
				return err
			}
			standin.ReportDamage(e.stderr, cmp.Or(debug, binary), d.Object().Info())
			return nil
		},
	}
	fs := c.Flags()
	fs.StringVarP(&binary, "executable", "e", "", "the binary that runs, `FILE`")
	fs.StringVarP(&debug, "debug-file", "d", "", "its debug file, `DEBUGFILE`; empty is the binary, or the debug file that is found for it")
	archFlag(fs, &open)
	fs.StringVar(&ranges, "ranges", "", "write the ranges to `OUT`; - is standard output")
	fs.StringVar(&pads, "retpads", "", "write the return pads to `OUT`; - is standard output")
	return c
}

// sameFile reports whether two names are those of one file.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// A symbfileInput is a binary and the file with its debug information.
type symbfileInput struct{ code, debug *companion.File }

// extractSymbfiles writes ranges and return pads to the files that have a name.
func extractSymbfiles(ctx context.Context, e *env, from symbfileInput, ranges, pads string) error {
	limitHeap(commandMemory)
	defer e.watch(cmp.Or(from.debug.Object().Info().Module.DebugFile, "debug information"), cmp.Or(ranges, pads), from.debug.Object())()
	in := extract.Input{
		Debug: from.debug.Object(), Code: from.code.Object(),
		Workers: runtime.GOMAXPROCS(0), Scratch: scratch.Dir(os.TempDir()),
	}
	return writeSymbfile(e, ranges, &in.Ranges, func() error {
		return writeSymbfile(e, pads, &in.Pads, func() error {
			return companion.Cause(extractFrom(ctx, in), from.code, from.debug)
		})
	})
}

// extractFrom extracts from mapped files, which may be truncated meanwhile.
func extractFrom(ctx context.Context, in extract.Input) (err error) {
	defer object.RecoverFault(&err)()
	return extract.Extract(ctx, in)
}

// writeSymbfile calls work with to set to the writer of a file. With an empty name
// it only calls work.
func writeSymbfile(e *env, name string, to **symbfile.Writer, work func() error) error {
	if name == "" {
		return work()
	}
	return writeFile(e, name, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		*to = symbfile.NewWriter(b)
		if err := errors.Join(work(), (*to).Close()); err != nil {
			return err
		}
		return b.Flush()
	})
}

func symbRetpadsCommand(e *env) *cobra.Command {
	var binary, ranges, out string
	var open companion.Options
	c := &cobra.Command{
		Use: "retpads", Short: "Write the return pads of a binary from its ranges",
		RunE: func(c *cobra.Command, _ []string) error {
			if binary == "" || ranges == "" {
				return cli.Usage("-e and --ranges are required")
			}
			code, err := openAlone(e, binary, open)
			if err != nil {
				return err
			}
			defer code.Close()
			d, err := openSymb(e, ranges)
			if err != nil {
				return err
			}
			defer d.Close()
			return extractSymbfiles(c.Context(), e, symbfileInput{code, d}, "", out)
		},
	}
	fs := c.Flags()
	fs.StringVarP(&binary, "executable", "e", "", "the binary that runs, `FILE`")
	fs.StringVar(&ranges, "ranges", "", "its ranges, `FILE`")
	archFlag(fs, &open)
	fs.StringVar(&out, "out", "-", "write the return pads to `OUT`; - is standard output")
	return c
}

// openSymb opens a symbfile. Another format is an error.
func openSymb(e *env, name string) (*companion.File, error) {
	d, err := openAlone(e, name, companion.Options{})
	if err == nil && d.Object().Info().Kind != "symbfile" {
		err = errors.Join(fmt.Errorf("%s: invalid symbfile: the format is %s", name, d.Object().Info().Kind), d.Close())
	}
	return d, err
}

func symbLookupCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "lookup FILE", Short: "Look up addresses in a symbfile",
		Long: `Addresses are read from standard input, one per line. They are those of the
binary before it is loaded. Each answer is a line of JSON, with the innermost
frame first.`,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := openSymb(e, args[0])
			if err != nil {
				return err
			}
			if err := d.Close(); err != nil {
				return err
			}
			return resolve(c.Context(), e, &resolveFlags{format: "jsonl", noDemangle: true}, args)
		},
	}
}

func symbDumpCommand(e *env) *cobra.Command {
	var lines bool
	c := &cobra.Command{
		Use: "dump FILE", Short: "Print the bytes of a symbfile with their meaning",
		RunE: func(c *cobra.Command, args []string) error {
			err := withSymbfile(e, args[0], func(r io.Reader) error {
				out := bufio.NewWriter(e.stdout)
				print := symbfile.Dump
				if lines {
					print = func(w io.Writer, r io.Reader) error { return extract.WriteJSON(c.Context(), w, r) }
				}
				return errors.Join(print(out, r), out.Flush())
			})
			return cmp.Or(err, c.Context().Err())
		},
	}
	c.Flags().BoolVar(&lines, "jsonl", false, "print each record as a line of JSON instead")
	return c
}

func symbVerifyCommand(e *env) *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "verify FILE", Short: "Check every record of a symbfile",
		RunE: func(c *cobra.Command, args []string) error {
			return withSymbfile(e, args[0], func(r io.Reader) error {
				ranges, pads := 0, 0
				in := symbfile.NewReader(r)
				in.Strict = strict
				err := extract.EachRecord(c.Context(), in, func(rec symbfile.Record) error {
					if rec.Range != nil {
						ranges++
					} else {
						pads++
					}
					return nil
				})
				if err == nil {
					say(e.stdout, "%s: valid; %s and %s\n", args[0], counted(ranges, "range"), counted(pads, "return pad"))
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "apply the limits of a server to uploads")
	return c
}

func symbSplitCommand(e *env) *cobra.Command {
	var out string
	size := bin.Size(8 << 20)
	c := &cobra.Command{
		Use: "split FILE", Short: "Split a symbfile into parts that can be read alone",
		Long: "A function and the calls that are inlined into it are in one part.",
		RunE: func(c *cobra.Command, args []string) error {
			if size < 1 {
				return cli.Usage("invalid --part-size: must be at least 1 byte")
			}
			return withSymbfile(e, args[0], func(r io.Reader) error {
				base := cmp.Or(out, args[0])
				s := scratch.NewParts(base)
				parts, err := extract.Split(c.Context(), r, int(min(size, math.MaxInt32)), s.Create)
				if err := s.End(err); err != nil {
					return err
				}
				say(e.stdout, "%s\n", counted(parts, "part"))
				if next := fmt.Sprintf("%s.%d", base, parts); exists(next) {
					say(e.stderr, "%s and the files after it are of an earlier split\n", next)
				}
				return nil
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&out, "out", "", "write to `OUT`.0, OUT.1 and so on (default FILE)")
	fs.TextVar(&size, "part-size", size, "approximate `SIZE` of a part")
	return c
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func symbMergeCommand(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "merge FILE...", Short: "Write the records of several symbfiles as one",
		RunE: func(c *cobra.Command, args []string) error {
			var w *symbfile.Writer
			return writeSymbfile(e, out, &w, func() error {
				for _, name := range args {
					err := withSymbfile(e, name, func(r io.Reader) error {
						return extract.EachRecord(c.Context(), symbfile.NewReader(r), func(rec symbfile.Record) error { return writeRecord(w, rec) })
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&out, "out", "-", "write to `OUT`; - is standard output")
	return c
}

// writeRecord writes a record of either kind.
func writeRecord(w *symbfile.Writer, rec symbfile.Record) error {
	if rec.Range != nil {
		return w.Range(rec.Range)
	}
	return w.Pad(rec.Pad)
}

// withSymbfile calls use with the bytes of a file.
func withSymbfile(e *env, name string, use func(r io.Reader) error) error {
	return withFile(e, name, func(src bin.Source) error { return use(io.NewSectionReader(src, 0, src.Size())) })
}
