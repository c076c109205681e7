package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"

	"symbolon/internal/companion"
	"symbolon/internal/ident"
	"symbolon/internal/scratch"
	"symbolon/internal/standin"
	"symbolon/internal/symwrite"
)

func symCommand() *command {
	var out string
	opt := symwrite.Options{Generator: "symbolon " + version(), Scratch: scratch.Dir(os.TempDir())}
	return &command{
		name:  "sym",
		args:  "FILE",
		short: "Write a debug file as a Breakpad symbol file",
		long: `The symbol file contains functions, inlined calls, lines, symbols and unwind
information. The format has no columns. A function in several pieces becomes one
function for each piece, and a symbol that extends beyond the function at its
start begins after that function.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&out, "out", "-", "write to `SYM`; - is standard output")
			fs.StringVar(&opt.Module, "module", "", "`NAME` of the module (default: the name in the file, else that of the file)")
			fs.BoolVar(&opt.Mangled, "no-demangle", false, "keep mangled names")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			if err := oneFile(args); err != nil {
				return err
			}
			if opt.Module != "" {
				if err := ident.CheckFileName(opt.Module); err != nil {
					return &usageError{text: "--module: " + err.Error()}
				}
			}
			obj, d, err := openObject(e, args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			limitHeap(commandMemory)
			opt.File, opt.Binary = filepath.Base(args[0]), d.Binary()
			err = writeFile(e, out, func(w io.Writer) error { return symwrite.Write(ctx, w, obj, opt) })
			if err != nil {
				return err
			}
			standin.ReportDamage(e.stderr, args[0], obj.Info())
			return nil
		},
	}
}

func cfiCommand() *command {
	var open companion.Options
	var out string
	return &command{
		name:  "cfi",
		args:  "FILE",
		short: "Print the unwind information of a file as STACK records of Breakpad",
		long: `Addresses are relative to the image. The records are made from .eh_frame and
.debug_frame, the compact unwind information of Apple's systems, the exception
directory of Windows programs for x64 and arm64, and Breakpad files. A rule that
the records cannot express is omitted.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&out, "out", "-", "write to `FILE`; - is standard output")
			objectFlags(fs, &open)
		},
		run: func(ctx context.Context, e *env, args []string) error {
			if err := oneFile(args); err != nil {
				return err
			}
			d, err := openAlone(e, args[0], open)
			if err != nil {
				return err
			}
			defer d.Close()
			err = writeFile(e, out, func(w io.Writer) error {
				b := bufio.NewWriter(w)
				return errors.Join(symwrite.CFI(ctx, b, d.Object()), b.Flush())
			})
			if err != nil {
				return err
			}
			standin.ReportDamage(e.stderr, args[0], d.Object().Info())
			return nil
		},
	}
}
