package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"symbolon/internal/cli"
	"symbolon/internal/console"
	"symbolon/internal/demangle"
)

func demangleCommand(e *env) *cobra.Command {
	style := "full"
	styles := map[string]demangle.Style{"full": demangle.Full, "noparams": demangle.NoParams, "simple": demangle.Simple}
	c := &cobra.Command{
		Use: "demangle [NAME...]", Short: "Turn mangled names into readable ones",
		Long: `Without arguments, the names in the text on standard input are demangled. Mangled
names of C++ (Itanium and MSVC), Rust, Swift, OCaml and Go are replaced, and other
text is not changed. A name of Go is recognized only if it is the whole line.`,
		RunE: func(c *cobra.Command, args []string) error {
			st := styles[style]
			out := bufio.NewWriter(e.stdout)
			for _, a := range args {
				say(out, "%s\n", demangle.Name(a, st))
			}
			if len(args) > 0 {
				return out.Flush()
			}
			return console.EachLine(c.Context(), e.stdin, func(line string) error {
				say(out, "%s\n", demangle.Text(line, st))
				return out.Flush()
			})
		},
	}
	c.Flags().Var(cli.NewChoice(&style, []string{"full", "noparams", "simple"}), "style", "full, noparams (no parameters) or simple (no template arguments either) as `STYLE`")
	return c
}
