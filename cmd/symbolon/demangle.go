package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"

	"symbolon/internal/demangle"
)

func demangleCommand() *command {
	var style string
	styles := map[string]demangle.Style{"full": demangle.Full, "noparams": demangle.NoParams, "simple": demangle.Simple}
	return &command{
		name:  "demangle",
		args:  "[NAME...]",
		short: "Turn mangled names into readable ones",
		long:  "Names are arguments or lines of standard input. Mangled names of C++\n(Itanium and MSVC), Rust, Swift, OCaml and Go are read; every other one stays\nas it is.",
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&style, "style", "full", "full, noparams (no parameters) or simple (no template arguments either) as `STYLE`")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			st, ok := styles[style]
			if !ok {
				return &usageError{text: fmt.Sprintf("unknown --style %q; there are full, noparams and simple", style)}
			}
			out := bufio.NewWriter(e.stdout)
			for _, a := range args {
				say(out, "%s\n", demangle.Name(a, st))
			}
			if len(args) > 0 {
				return out.Flush()
			}
			return eachLine(ctx, e.stdin, func(line string) error {
				say(out, "%s\n", demangle.Name(line, st))
				return out.Flush()
			})
		},
	}
}
