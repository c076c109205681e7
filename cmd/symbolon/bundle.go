package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/srcbundle"
)

func bundleCommand(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "bundle FILE SRCDIR", Short: "Collect the sources that a debug file names into a source bundle",
		Long: `Each path in the debug file is looked up in SRCDIR: first the whole path, then
without its first folder, and so on. Sources that are embedded in the debug file are
copied from it. Missing files, and files that are not text, are omitted.`,
		RunE: func(c *cobra.Command, args []string) error {
			if st, err := os.Stat(args[1]); err != nil || !st.IsDir() {
				return cli.Usage(fmt.Sprintf("invalid SRCDIR %q: must be a folder", args[1]))
			}
			if out == "" {
				out = args[0] + ".src.zip"
			}
			obj, d, err := openObject(e, args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			stop := e.watch(args[0], out, obj)
			defer stop()
			written, all := 0, 0
			err = writeFile(e, out, func(w io.Writer) error {
				written, all, err = srcbundle.Write(c.Context(), w, obj, filepath.Base(args[0]), args[1])
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			stop()
			say(e.stderr, "wrote %d of %s\n", written, counted(all, "source"))
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to `BUNDLE`; - is standard output (default FILE.src.zip)")
	return c
}
