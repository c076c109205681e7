package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"symbolon/internal/explain"
	"symbolon/internal/locate"
)

func explainCommand() *command {
	var conf configFlags
	var asJSON bool
	var purpose, kind string
	return &command{
		name:  "explain",
		args:  "DEBUGNAME/DEBUGID | CODENAME/CODEID | DEBUGNAME/DEBUGID CODENAME/CODEID | FILEID",
		short: "Look one module up and print the trail: candidates, outcomes, reasons, advice",
		long: `The trail has each candidate with its outcome, and the end of that outcome if it
is cached; the reason why a file was chosen; and advice if no file was found.

A CODEID of 40 digits is taken as the build id of an ELF file; a shorter build
id needs --type elf.

If a server runs on the data directory, it does the lookup. Without one the
command opens the directory itself. With --source the command asks the named
sources directly and caches nothing.`,
		flags: func(fs *flag.FlagSet) {
			conf.add(fs)
			fs.StringVar(&purpose, "purpose", locate.SymFirst.String(),
				"the purpose of the file: `sym-first`, as for Mozilla's interfaces; "+
					"debug, symbols, unwind or sources, as for Sentry's; debug or returnpads, as for Elastic's, which need a FILEID")
			fs.StringVar(&kind, "type", "", "the type of the module: `elf`, macho, pe, pe_dotnet or wasm; modules of Mozilla's interfaces have none")
			fs.BoolVar(&asJSON, "json", false, "print the trail as JSON")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			m, err := explain.ParseModules(args, kind)
			if err != nil {
				return &usageError{text: err.Error()}
			}
			q := explain.Question{Module: m}
			var known bool
			if q.Purpose, known = locate.ParsePurpose(purpose); !known {
				return &usageError{text: fmt.Sprintf("invalid --purpose %q: must be sym-first, debug, symbols, unwind, sources or returnpads", purpose)}
			}
			if q.Purpose == locate.SymFirst && !m.FileID.IsZero() {
				q.Purpose = locate.Debug
			}
			op, err := conf.uncached(ctx, e)
			if err != nil {
				return err
			}
			defer op.Close()
			x, err := op.Explain(ctx, q)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(e.stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(x)
			}
			x.WriteText(e.stdout)
			return nil
		},
	}
}
