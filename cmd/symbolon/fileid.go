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
		short: "Print the ids by which profilers know files",
		long: `The id is made of the first and the last 4096 bytes and the size of the file
that runs: stripping a file gives it another one. Printed are its forms in hex,
as of Elastic's interfaces, and as a UUID.`,
		run: func(_ context.Context, e *env, args []string) error {
			if len(args) == 0 {
				return &usageError{text: "name one FILE or more"}
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
