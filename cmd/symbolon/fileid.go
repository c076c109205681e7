package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"symbolon/internal/console"
	"symbolon/internal/ident"
)

func fileidCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "fileid FILE...", Short: "Print the ids that profilers give files",
		Long: `The id depends on the first and the last 4096 bytes and the size of the file that
runs: a stripped file has another id. It is printed in hex, in the form of
Elastic's interfaces, and as a UUID.`,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				f, err := openFile(e, name)
				if err != nil {
					return err
				}
				id, err := ident.NewFileID(f, f.Size())
				f.Close()
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				say(e.stdout, "%s  %s  %s  %s\n", id.Hex(), id.Base64(), id.UUID(), console.OneLine(name))
			}
			return nil
		},
	}
}
