package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/missing"
	"symbolon/internal/node"
)

func missingModulesCommand(e *env) *cobra.Command {
	var conf configFlags
	var asJSON, asCSV bool
	since := repeat{every: 24 * time.Hour}
	c := &cobra.Command{
		Use: "missing", Short: "List the modules that clients asked for and no source had",
		Long: `The most requested modules come first, with the number of requests, the time of the
last one, the interface and the product of the client, and the reason. The product
is the first word of the client's User-Agent; no protocol names the product of the
module. "symbolon explain --all NAME/ID" prints where a module was looked for.

Modules that were uploaded after the last request are omitted (this is checked for
the first 2,000). Counts are kept by hour, for 30 days; only the running server has
those of the current hour.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON && asCSV {
				return cli.Usage("--json and --csv exclude each other")
			}
			var rows []*missing.Row
			err := conf.operate(c.Context(), e, func(op operator) (err error) {
				rows, err = op.Missing(c.Context(), node.MissingQuery{Since: time.Now().Add(-since.every)})
				return err
			})
			switch {
			case err != nil:
				return err
			case asCSV:
				return missing.WriteCSV(e.stdout, rows)
			case !asJSON:
				missing.WriteText(e.stdout, rows, e.look())
				return nil
			}
			enc := json.NewEncoder(e.stdout)
			for _, r := range rows {
				if err := enc.Encode(r); err != nil {
					return err
				}
			}
			return nil
		},
	}
	fs := c.Flags()
	conf.addBase(fs)
	fs.Func("since", "the `DURATION` to look back, such as 12h or 7d (default 1d)", since.set)
	fs.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	fs.BoolVar(&asCSV, "csv", false, "print CSV, whose first four columns are those of Mozilla's missingsymbols.csv")
	return c
}
