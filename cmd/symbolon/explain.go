package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

func explainCommand(e *env) *cobra.Command {
	var conf configFlags
	var asJSON, all bool
	purpose, kind := locate.SymFirst.String(), ""
	c := &cobra.Command{
		Use:   "explain DEBUGNAME/DEBUGID | CODENAME/CODEID | DEBUGNAME/DEBUGID CODENAME/CODEID | FILEID",
		Short: "Look up a module and print the trail: candidates, outcomes, reasons, advice",
		Long: `Prints the verdict and the reason why a file was chosen, the decisive candidate with
its outcome (and its expiry if it is cached), and advice if no file was found. With
--all and --json, the trail also has the other candidates.

A CODEID of 40 digits is taken as the build id of an ELF file; a shorter build
id needs --type elf.

If a server runs on the data directory, it does the lookup; otherwise the command
opens the directory itself. With --source the command asks the named sources directly
and caches nothing.`,
		RunE: func(c *cobra.Command, args []string) error {
			m, err := explain.ParseModules(args, ident.ParseType(kind))
			if err != nil {
				return cli.Usage(err.Error())
			}
			q := explain.Question{Module: m}
			q.Purpose, _ = locate.ParsePurpose(purpose) // one of the words
			if q.Purpose == locate.SymFirst && !m.FileID.IsZero() {
				q.Purpose = locate.Debug
			}
			op, err := conf.uncached(c.Context(), e)
			if err != nil {
				return err
			}
			defer op.Close()
			x, err := op.Explain(c.Context(), q)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(e.stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(x)
			}
			x.WriteText(e.stdout, e.look(), all)
			return nil
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.Var(cli.NewChoice(&purpose, cli.NamesOf(locate.SymFirst, locate.Pads)), "purpose",
		"the `PURPOSE` of the file: sym-first, as for Mozilla's interfaces; "+
			"debug, symbols, unwind or sources, as for Sentry's; debug or returnpads, as for Elastic's, which need a FILEID")
	fs.Var(cli.NewChoice(&kind, cli.NamesOf(ident.TypeELF, ident.TypeWasm)), "type",
		"the `TYPE` of the module: elf, macho, pe, pe_dotnet or wasm; modules of Mozilla's interfaces have none")
	fs.BoolVar(&all, "all", false, "print all candidates, in the order in which they were asked")
	fs.BoolVar(&asJSON, "json", false, "print the trail as JSON")
	return c
}
