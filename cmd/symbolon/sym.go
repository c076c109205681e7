package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"

	"symbolon/internal/ident"
	"symbolon/internal/scratch"
	"symbolon/internal/symwrite"
)

func symCommand() *command {
	var out string
	opt := symwrite.Options{Generator: "symbolon " + version(), Scratch: scratch.Dir(os.TempDir())}
	return &command{
		name:  "sym",
		args:  "FILE",
		short: "Write what a debug file says as a Breakpad symbol file",
		long: `Functions, inlined calls, lines, symbols and unwind information are written.
The format has no room for columns; a function in several pieces becomes one
function for each piece, and a symbol that reaches beyond the function at its
start begins behind that.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&out, "out", "-", "write to `SYM`; - is standard output")
			fs.StringVar(&opt.Module, "module", "", "call the module `NAME`, where the file does not say its name, as in a separate debug file (default: what the file says, else its own name)")
			fs.BoolVar(&opt.Mangled, "no-demangle", false, "leave mangled names as they are")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			if len(args) != 1 {
				return &usageError{text: "name one FILE"}
			}
			if opt.Module != "" {
				if err := ident.CheckFileName(opt.Module); err != nil {
					return &usageError{text: "--module: " + err.Error()}
				}
			}
			obj, src, err := openObject(e, args[0])
			if err != nil {
				return err
			}
			defer src.Close()
			limitMemory()
			opt.File, opt.Binary = filepath.Base(args[0]), src.Binary()
			err = writeFile(e, out, func(w io.Writer) error { return symwrite.Write(ctx, w, obj, opt) })
			if err != nil {
				return err
			}
			tellDamage(e.stderr, args[0], obj.Info())
			return nil
		},
	}
}
