package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"

	"symbolon/internal/companion"
	"symbolon/internal/symwrite"
)

func cfiCommand() *command {
	var open companion.Options
	var to string
	return &command{
		name:  "cfi",
		args:  "FILE",
		short: "Print the unwind information of a file as Breakpad's STACK records",
		long: `Addresses are relative to the image. Read are .eh_frame and .debug_frame, the
compact unwind information of Apple's systems, the exception directory of
Windows programs for x64 and arm64, and Breakpad files. A rule that
the records cannot say is left out.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&to, "out", "-", "write to `FILE`; - is standard output")
			fs.StringVar(&open.Arch, "arch", "", "the object of a file of several that is for `ARCH`; empty is any")
			fs.IntVar(&open.Object, "object", 0, "the `N`th object of those, counted from 0")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			if len(args) != 1 {
				return &usageError{text: "name one FILE"}
			}
			d, err := openAlone(e, args[0], open)
			if err != nil {
				return err
			}
			defer d.Close()
			err = writeFile(e, to, func(w io.Writer) error {
				out := bufio.NewWriter(w)
				err := symwrite.CFI(ctx, d.Object(), func(records []byte) error {
					_, err := out.Write(records)
					return err
				})
				return errors.Join(err, out.Flush())
			})
			if err != nil {
				return err
			}
			tellDamage(e.stderr, args[0], d.Object().Info())
			return nil
		},
	}
}
