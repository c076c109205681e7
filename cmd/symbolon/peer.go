package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/node"
)

// The commands of Symbolicator, for its users.

// peerFlags adds the flags of cleanup and healthcheck, which read either form of
// configuration: ours, or Symbolicator's with -c.
func peerFlags(conf *configFlags, fs *flag.FlagSet) {
	conf.addBase(fs)
	fs.StringVar(&conf.symbolicator, "symbolicator-config", "", "read the configuration `FILE` of Symbolicator, as it is")
	fs.StringVar(&conf.symbolicator, "c", "", "the same as --symbolicator-config `FILE`")
}

func runCommand() *command {
	var conf configFlags
	return &command{
		name:  "run",
		short: "Serve with a configuration of Symbolicator",
		long: `The same as "symbolon serve --symbolicator-config FILE". At the start it lists the
keys of that file that have another meaning here, or none.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&conf.symbolicator, "config", "", "read the configuration `FILE` of Symbolicator")
			fs.StringVar(&conf.symbolicator, "c", "", "the same as --config `FILE`")
			fs.StringVar(&conf.data, "data", "",
				"data directory `DIR` (default: cache_dir of the file, else symbolon in the user's cache directory)")
			fs.Var(&conf.sets, "set", "set a key of the configuration, `KEY=VALUE`; may be given several times")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			return serve(ctx, e, &conf, false)
		},
	}
}

// A repeat is the value of --repeat, which may be omitted.
type repeat struct {
	every time.Duration
	bare  bool // the value is omitted, or the next argument
}

func (r *repeat) IsBoolFlag() bool { return true }

func (r *repeat) String() string { return "" }

func (r *repeat) Set(text string) error {
	if r.bare = text == "true"; r.bare {
		r.every = time.Hour
		return nil
	}
	days, rest := time.Duration(0), text
	if head, tail, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(head, 10, 16)
		if err != nil {
			return errRepeat
		}
		days, rest = time.Duration(n)*24*time.Hour, cmp.Or(tail, "0")
	}
	every, err := time.ParseDuration(rest)
	if every += days; err != nil || every < time.Second {
		return errRepeat
	}
	r.every = every
	return nil
}

var errRepeat = errors.New("must be a duration of at least 1s, such as 15m or 1d")

// take reads the value of --repeat from the arguments, as Symbolicator does, and
// returns the others.
func (r *repeat) take(args []string) ([]string, error) {
	if !r.bare || len(args) == 0 {
		return args, nil
	}
	if err := r.Set(args[0]); err != nil {
		return nil, &usageError{text: fmt.Sprintf("invalid value %q for flag --repeat: %v", args[0], err)}
	}
	return args[1:], nil
}

func cleanupCommand() *command {
	var conf configFlags
	var dry bool
	var again repeat
	return &command{
		name:  "cleanup",
		args:  "[DURATION]",
		short: "Remove expired entries from the cache",
		long: `A running server removes them itself, and keeps the cache within its limit. The
command is for caches that are not in use by a server.`,
		flags: func(fs *flag.FlagSet) {
			peerFlags(&conf, fs)
			fs.BoolVar(&dry, "dry-run", false, "only print the number of entries that would be removed")
			fs.Var(&again, "repeat", "repeat every hour, or every `DURATION`, which may be the next argument: --repeat 15m")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			args, err := again.take(args)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return unexpected(nil, args[0])
			}
			for {
				if err := cleanup(ctx, e, &conf, dry); err != nil || again.every == 0 {
					return err
				}
				select {
				case <-time.After(again.every):
				case <-ctx.Done():
					return nil
				}
			}
		},
	}
}

// cleanup removes the entries that were not used for the lifetime of their kind.
func cleanup(ctx context.Context, e *env, conf *configFlags, dry bool) error {
	cfg, log, err := conf.load(e)
	if err != nil {
		return err
	}
	data, err := node.DataDir(cfg.Data)
	if err != nil {
		return err
	}
	if r := node.Dial(ctx, data); r != nil {
		r.Close()
		say(e.stdout, "a server is running on %s and removes expired entries itself\n", data)
		return nil
	}
	open := cfg.Cache.Disk
	if dry { // opening removes expired entries
		open.ObjectsIdle, open.MetaIdle, open.SymcacheIdle = -1, -1, -1
	}
	store, err := disk.Open(open, data, time.Now, log)
	if err != nil {
		return err
	}
	limits := cfg.Cache.Disk.Defaults()
	count, bytes := int64(0), int64(0)
	for kind, idle := range map[cache.Kind]time.Duration{
		cache.Objects: limits.ObjectsIdle, cache.Meta: limits.MetaIdle, cache.Symcache: limits.SymcacheIdle,
	} {
		switch {
		case idle < 0:
		case dry:
			store.List(func(x disk.Entry) bool {
				if x.Kind == kind && x.Fault == nil && time.Since(x.Used) >= idle {
					count, bytes = count+1, bytes+x.Size
				}
				return true
			})
		default:
			n, size := store.Purge(disk.Filter{Kind: kind, Idle: idle})
			count, bytes = count+n, bytes+size
		}
	}
	words := "removed"
	if dry {
		words = "would remove"
	}
	say(e.stdout, "%s %s, %s\n", words, counted(count, "entry"), counted(bytes, "byte"))
	return store.Close()
}

func healthcheckCommand() *command {
	var conf configFlags
	var addr string
	var seconds int
	return &command{
		name:  "healthcheck",
		short: "Check the health of a running server",
		long:  `Prints OK, or prints ERROR with the reason and ends with status 1.`,
		flags: func(fs *flag.FlagSet) {
			peerFlags(&conf, fs)
			fs.StringVar(&addr, "addr", "", "`HOST:PORT` of the server (default: that of the configuration)")
			fs.StringVar(&addr, "a", "", "the same as --addr `HOST:PORT`")
			fs.IntVar(&seconds, "timeout", 30, "`SECONDS` to wait")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			cfg, _, err := conf.read(e)
			if err != nil {
				return err
			}
			at := cfg.HTTP.Defaults()
			if addr == "" {
				addr = at.Listen
			}
			secure := at.TLS.On() && (at.TLS.Address == "" || at.TLS.Address == addr)
			ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
			defer cancel()
			if err := wellAt(ctx, addr, secure); err != nil {
				say(e.stdout, "ERROR\n")
				return err
			}
			say(e.stdout, "OK\n")
			return nil
		},
	}
}

// wellAt checks the server at an address. The unspecified address means this
// machine. The certificate is not verified: the request has no secrets.
func wellAt(ctx context.Context, addr string, secure bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("invalid --addr %q: must be HOST:PORT", addr)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/healthcheck", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<10) // only the status counts
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("unexpected status: %s", resp.Status)
	}
	return nil
}
