package main

import (
	"context"
	"fmt"

	"symbolon/internal/ident"
)

func fileidCommand() *command {
	return &command{
		name:  "fileid",
		args:  "FILE...",
		short: "Print the ids that profilers give files",
		long: `The id depends on the first and the last 4096 bytes and the size of the file that
runs: a stripped file has another id. It is printed in hex, in the form of
Elastic's interfaces, and as a UUID.`,
		run: func(_ context.Context, e *env, args []string) error {
			if len(args) == 0 {
				return &usageError{text: "at least one FILE is required"}
			}
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
				say(e.stdout, "%s  %s  %s  %s\n", id.Hex(), id.Base64(), id.UUID(), name)
			}
			return nil
		},
	}
}
