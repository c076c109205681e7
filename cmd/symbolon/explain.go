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
		short: "Tell what happens when the symbols of one module are looked up, and why",
		long: `Every place that is asked, what it answered, what is remembered and until
when, why the chosen file was chosen, and what to do when there is none.

A CODEID of 40 digits is taken as the build id of an ELF file; a shorter build
id needs --type elf.

A running server of the data directory is asked what it sees. Without one the
directory is opened for this question. With --source the sources named are
asked directly and nothing is remembered.`,
		flags: func(fs *flag.FlagSet) {
			conf.add(fs)
			fs.StringVar(&purpose, "purpose", locate.SymFirst.String(), "what the file is wanted for: `sym-first`, as the Mozilla interfaces ask; debug, symbols, unwind or sources, as Sentry's does; debug or returnpads, as Elastic's does for a FILEID")
			fs.StringVar(&kind, "type", "", "what the module is: `elf`, macho, pe, pe_dotnet or wasm; one of Mozilla's interfaces has none")
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
				return &usageError{text: fmt.Sprintf("there is no purpose %q", purpose)}
			}
			if q.Purpose == locate.SymFirst && !m.FileID.IsZero() {
				q.Purpose = locate.Debug
			}
			op, err := conf.asker(ctx, e)
			if err != nil {
				return err
			}
			defer op.close()
			x, err := op.explain(ctx, q)
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
