package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/console"
	"symbolon/internal/scratch"
)

// writeManual writes a manual page for top, and for each command below it, to a folder.
func writeManual(dir, version string, top *cobra.Command) error {
	err := os.MkdirAll(dir, 0o755)
	for c := range Tree(top) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		if err == nil {
			err = scratch.WriteFile(filepath.Join(dir, name+".1"), func(w io.Writer) error { writePage(w, name, version, c); return nil })
		}
	}
	return err
}

// writePage writes the manual page of a command, in the macros of man(7).
func writePage(w io.Writer, name, version string, c *cobra.Command) {
	console.Printf(w, ".TH %s 1 \"\" \"symbolon %s\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(name)), roff(version), roff(name), roff(c.Short))
	console.Printf(w, ".SH SYNOPSIS\n.B %s\n%s\n", roff(c.CommandPath()), roff(strings.TrimPrefix(usageLine(c), c.CommandPath()+" ")))
	if c.Long != "" {
		console.Printf(w, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(c.Long))
	}
	for i, sub := range c.Commands() {
		if i == 0 {
			console.Printf(w, ".SH COMMANDS\n")
		}
		console.Printf(w, ".TP\n.BR %s (1)\n%s.\n", roff(name+"-"+sub.Name()), roff(sub.Short))
	}
	for _, title := range flagTitles {
		if list := flagsOf(c, title); list != "" {
			console.Printf(w, ".SH %s\n.nf\n%s.fi\n", strings.ToUpper(title), roff(list))
		}
	}
	console.Printf(w, ".SH EXIT STATUS\n%s\n", roff(strings.TrimPrefix(ExitCodes, "Exit status: ")))
}

// roff escapes text: backslashes, hyphens, and the characters that begin a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
