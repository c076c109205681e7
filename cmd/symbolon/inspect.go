package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"symbolon/internal/companion"
	"symbolon/internal/inspect"
)

func inspectCommand(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "inspect FILE", Short: "Print the format, the ids and the contents of a debug file",
		RunE: func(c *cobra.Command, args []string) error {
			d, err := openAlone(e, args[0], companion.Options{})
			if err != nil {
				return err
			}
			defer d.Close()
			stop := e.watch(args[0], "", d.Objects()...)
			defer stop()
			var all []*inspect.Description
			for _, o := range d.Objects() {
				x, err := inspect.Object(c.Context(), o)
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				all = append(all, x)
			}
			stop()
			if asJSON {
				enc := json.NewEncoder(e.stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(all)
			}
			for _, x := range all {
				x.WriteText(e.stdout)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print an array with an object for each object of the file")
	return c
}
