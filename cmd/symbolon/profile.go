package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/api/profiler"
	"symbolon/internal/cli"
	"symbolon/internal/filter/auto"
)

// profilerName is the variable with the address of the Firefox Profiler.
const profilerName = "PROFILER_URL"

// profileFlags are the values of the flags.
type profileFlags struct {
	conf       configFlags
	port       int
	isLocal    bool
	isHeadless bool
}

func profileCommand(e *env) *cobra.Command {
	f := profileFlags{}
	c := &cobra.Command{
		Use: "profile FILE", Short: "Open a profile in the Firefox Profiler, with names, source code and disassembly",
		Long: `FILE is a profile for the Firefox Profiler, as saved by samply and Firefox: JSON or
JSLB, plain or compressed with gzip. The command serves it unchanged on this machine,
and answers the requests of the page for names, source files and disassembly. The page
is https://profiler.firefox.com, or that of the variable PROFILER_URL. The profile does
not leave this machine unless it is uploaded in the page.

The address of the page is printed. It contains a secret: anyone who knows it can read
the profile, and the source files that the debug information of its modules names. The
command runs until it is interrupted.

Modules are looked up in the sources of the configuration, or in those of --source.
--local also reads the files at the paths of the libraries in the profile.`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), e, args[0]) },
	}
	fs := c.Flags()
	f.conf.add(fs)
	fs.IntVar(&f.port, "port", 0, "listen on port `N` of 127.0.0.1 (default: the first free one from 3000 to 3099)")
	fs.BoolVar(&f.isLocal, "local", false, "use the files of this machine at the paths in FILE, and their debug files in /usr/lib/debug")
	fs.BoolVar(&f.isHeadless, "no-open", false, "do not open the page in the browser, only print its address")
	return c
}

func (f *profileFlags) run(ctx context.Context, e *env, name string) error {
	if f.port < 0 || f.port > 65535 {
		return cli.Usage(fmt.Sprintf("invalid --port %d: must be 0 to 65535", f.port))
	}
	page := cmp.Or(environment(e, profilerName), "https://profiler.firefox.com")
	if !strings.HasPrefix(page, "http://") && !strings.HasPrefix(page, "https://") {
		return cli.Usage(fmt.Sprintf("invalid %s %q: must be http://HOST or https://HOST", profilerName, page))
	}
	if err := checkProfile(name); err != nil {
		return err
	}
	bar := e.progress("reading "+filepath.Base(name), "")
	defer bar.Close()
	f.conf.sets = append([]string{"log.level=warn"}, f.conf.sets...)
	files := &auto.Files{}
	defer files.Links.Remove()
	if f.isLocal {
		if err := files.AddLibraries(ctx, name); err != nil {
			return err
		}
	}
	n, err := f.conf.over(e, files, f.isLocal)
	if err != nil {
		return err
	}
	defer n.Close()
	ln, err := profiler.Listen(f.port)
	if err != nil {
		return err
	}
	v := profiler.NewViewer(name, n.ForProfile())
	address := v.Address(page, ln)
	bar.Close()
	say(e.stdout, "%s\n", address)
	if !f.isHeadless {
		profiler.Browse(address)
	}
	if err := v.Serve(ctx, ln); err != nil {
		return err
	}
	return ctx.Err() // a signal ended it
}

// checkProfile returns an error if a file is not a profile.
func checkProfile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return auto.CheckProfile(f)
}
