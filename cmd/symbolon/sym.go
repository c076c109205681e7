package main

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/companion"
	"symbolon/internal/ident"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
	"symbolon/internal/standin"
	"symbolon/internal/symwrite"
)

func symCommand(e *env) *cobra.Command {
	var out string
	opt := symwrite.Options{Generator: "symbolon " + version(), Scratch: scratch.Dir(os.TempDir())}
	c := &cobra.Command{
		Use: "sym FILE", Short: "Write a debug file as a Breakpad symbol file",
		Long: `The symbol file contains functions, inlined calls, lines, symbols and unwind
information. The format has no columns. A function in several pieces becomes one
function for each piece, and a symbol that extends beyond the function at its
start begins after that function.`,
		RunE: func(c *cobra.Command, args []string) error {
			if opt.Module != "" {
				if err := ident.CheckFileName(opt.Module); err != nil {
					return cli.Usage("--module: " + err.Error())
				}
			}
			obj, d, err := openObject(e, args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			limitHeap(commandMemory)
			defer e.watch(args[0], out, obj)()
			opt.File, opt.Binary = filepath.Base(companion.Unbundled(args[0])), d.Binary()
			if cmp.Or(opt.Binary, obj).Info().Kind == source.PE {
				opt.CodeFile = opt.File
			}
			err = writeFile(e, out, func(w io.Writer) error { return symwrite.Write(c.Context(), w, obj, opt) })
			if err != nil {
				return err
			}
			standin.ReportOverlap(e.stderr, args[0], obj.Info())
			standin.ReportDamage(e.stderr, args[0], obj.Info())
			return nil
		},
	}
	fs := c.Flags()
	fs.StringVar(&out, "out", "-", "write to `SYM`; - is standard output")
	fs.StringVar(&opt.Module, "module", "", "`NAME` of the module (default: the name in the file, else that of the file)")
	fs.BoolVar(&opt.Mangled, "no-demangle", false, "keep mangled names")
	return c
}

func cfiCommand(e *env) *cobra.Command {
	var open companion.Options
	var out string
	c := &cobra.Command{
		Use: "cfi FILE", Short: "Print the unwind information of a file as STACK records of Breakpad",
		Long: `Addresses are relative to the image. The records are made from .eh_frame and
.debug_frame, the compact unwind information of Apple's systems, the exception
directory of Windows programs for x64 and arm64, and Breakpad files. A rule that
the records cannot express is omitted.`,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := openAlone(e, args[0], open)
			if err != nil {
				return err
			}
			defer d.Close()
			defer e.watch(args[0], out, d.Objects()...)()
			err = writeFile(e, out, func(w io.Writer) error {
				b := bufio.NewWriter(w)
				return errors.Join(symwrite.CFI(c.Context(), b, d.Object()), b.Flush())
			})
			if err != nil {
				return err
			}
			standin.ReportOverlap(e.stderr, args[0], d.Object().Info())
			standin.ReportDamage(e.stderr, args[0], d.Object().Info())
			return nil
		},
	}
	fs := c.Flags()
	fs.StringVar(&out, "out", "-", "write to `FILE`; - is standard output")
	objectFlags(fs, &open)
	return c
}
