package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"

	"symbolon/internal/console"
	"symbolon/internal/demangle"
)

func demangleCommand() *command {
	var style string
	styles := map[string]demangle.Style{"full": demangle.Full, "noparams": demangle.NoParams, "simple": demangle.Simple}
	return &command{
		name:  "demangle",
		args:  "[NAME...]",
		short: "Turn mangled names into readable ones",
		long: `Names are arguments, or in the text on standard input. Mangled names of C++
(Itanium and MSVC), Rust, Swift, OCaml and Go are replaced, and other text is not
changed. A name of Go is recognized only if it is the whole line.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&style, "style", "full", "full, noparams (no parameters) or simple (no template arguments either) as `STYLE`")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			st, ok := styles[style]
			if !ok {
				return &usageError{text: fmt.Sprintf("invalid --style %q: must be full, noparams or simple", style)}
			}
			out := bufio.NewWriter(e.stdout)
			for _, a := range args {
				say(out, "%s\n", demangle.Name(a, st))
			}
			if len(args) > 0 {
				return out.Flush()
			}
			return console.EachLine(ctx, e.stdin, func(line string) error {
				say(out, "%s\n", demangle.Text(line, st))
				return out.Flush()
			})
		},
	}
}
