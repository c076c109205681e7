package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/cli"
	"symbolon/internal/node"
)

// The commands of Symbolicator, for its users.

// peerFlags adds the flags of cleanup and healthcheck, which read either form of
// configuration: ours, or Symbolicator's with -c.
func peerFlags(conf *configFlags, fs *pflag.FlagSet) {
	conf.addBase(fs)
	fs.StringVarP(&conf.symbolicator, "symbolicator-config", "c", "", "read the configuration `FILE` of Symbolicator, as it is")
}

func runCommand(e *env) *cobra.Command {
	var conf configFlags
	c := &cobra.Command{
		Use: "run", Short: "Serve with a configuration of Symbolicator",
		Long: `The same as "symbolon serve --symbolicator-config FILE". At the start it lists the
keys of that file that have another meaning here, or none.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return serve(c.Context(), e, &conf, false)
		},
	}
	fs := c.Flags()
	fs.StringVarP(&conf.symbolicator, "config", "c", "", "read the configuration `FILE` of Symbolicator")
	fs.StringVar(&conf.data, "data", "",
		"data directory `DIR` (default: cache_dir of the file, else symbolon in the user's cache directory)")
	fs.StringArrayVar(&conf.sets, "set", nil, "set a key of the configuration, `KEY=VALUE`; may be repeated")
	return c
}

// A repeat is the value of --repeat, which may be omitted.
type repeat struct {
	every time.Duration
	bare  bool // the value is omitted, or the next argument
}

// set sets the value; "true" is an omitted one.
func (r *repeat) set(text string) error {
	if r.bare = text == "true"; r.bare {
		r.every = time.Hour
		return nil
	}
	every, err := cli.ParseTime(text)
	if err == nil {
		r.every = every
	}
	return err
}

// take reads the value of --repeat from the arguments, as Symbolicator does, and
// returns the others.
func (r *repeat) take(args []string) ([]string, error) {
	if !r.bare || len(args) == 0 {
		return args, nil
	}
	if err := r.set(args[0]); err != nil {
		return nil, cli.Usage(fmt.Sprintf("invalid --repeat %q: %v", args[0], err))
	}
	return args[1:], nil
}

func cleanupCommand(e *env) *cobra.Command {
	var conf configFlags
	var dry bool
	var again repeat
	c := &cobra.Command{
		Use: "cleanup [DURATION]", Short: "Remove expired entries from the cache",
		Long: `A running server removes them itself, and keeps the cache within its limit. The
command is for caches that are not in use by a server.`,
		RunE: func(c *cobra.Command, args []string) error {
			args, err := again.take(args)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return cli.Unexpected(args[0])
			}
			for {
				if err := cleanup(c.Context(), e, &conf, dry); err != nil || again.every == 0 {
					return err
				}
				select {
				case <-time.After(again.every):
				case <-c.Context().Done():
					return context.Cause(c.Context())
				}
			}
		},
	}
	fs := c.Flags()
	peerFlags(&conf, fs)
	fs.BoolVar(&dry, "dry-run", false, "only print the number of entries that would be removed")
	fs.BoolFunc("repeat", "repeat every hour, or every `DURATION`, which may be the next argument: --repeat 15m", again.set)
	return c
}

// cleanup removes the entries that were not used for the lifetime of their kind.
func cleanup(ctx context.Context, e *env, conf *configFlags, dry bool) error {
	cfg, log, err := conf.load(e)
	if err != nil {
		return err
	}
	r, data, err := node.Dial(ctx, cfg.Data)
	if err != nil {
		return err
	}
	if r != nil {
		r.Close()
		say(e.stdout, "a server is running on %s and removes expired entries itself\n", data)
		return nil
	}
	return node.Cleanup(cfg, data, dry, e.stdout, log)
}

func healthcheckCommand(e *env) *cobra.Command {
	var conf configFlags
	var addr string
	var seconds int
	c := &cobra.Command{
		Use: "healthcheck", Short: "Check the health of a running server",
		Long: `Prints OK, or prints ERROR with the reason and ends with status 1.`,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, _, err := conf.read(e)
			if err != nil {
				return err
			}
			at := cfg.HTTP.Defaults()
			if addr == "" {
				addr = at.Listen
			}
			secure := at.TLS.On() && (at.TLS.Address == "" || at.TLS.Address == addr)
			ctx, cancel := context.WithTimeout(c.Context(), time.Duration(seconds)*time.Second)
			defer cancel()
			if err := node.CheckHealth(ctx, addr, secure); err != nil {
				say(e.stdout, "ERROR\n")
				return err
			}
			say(e.stdout, "OK\n")
			return nil
		},
	}
	fs := c.Flags()
	peerFlags(&conf, fs)
	fs.StringVarP(&addr, "addr", "a", "", "`HOST:PORT` of the server (default: that of the configuration)")
	fs.IntVar(&seconds, "timeout", 30, "`SECONDS` to wait")
	return c
}
