package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"symbolon/internal/answer"
	"symbolon/internal/config"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/source"
)

// Environment variables of push.
const (
	pushURLName = "SYMBOLON_PUSH_URL"
	pushKeyName = "SYMBOLON_PUSH_KEY"
)

// configFlags are the flags of commands that work with a configuration.
type configFlags struct {
	file         string
	symbolicator string // a configuration file of Symbolicator
	data         string
	listen       string
	sources      list
	sets         list
}

func (f *configFlags) add(fs *flag.FlagSet) {
	f.addBase(fs)
	fs.StringVar(&f.symbolicator, "symbolicator-config", "", "read the configuration `FILE` of Symbolicator, as it is; all else wins over it, and sentry.allow_request_sources is on")
	fs.Var(&f.sources, "source", "ask the symbol source `SPEC`: a preset, a URL or a directory; may be given several times, and replaces the sources of the configuration")
}

// addBase is for commands that ask no source.
func (f *configFlags) addBase(fs *flag.FlagSet) {
	fs.StringVar(&f.file, "config", "", "read the configuration `FILE` (YAML)")
	fs.StringVar(&f.data, "data", "", "data directory `DIR` (default: symbolon in the user's cache directory)")
	fs.Var(&f.sets, "set", "set a key of the configuration, `KEY=VALUE`; may be given several times")
}

// read reads the configuration of the file, the environment and the flags. After
// an error other than a wrong flag, the configuration has what could be read.
func (f *configFlags) read(e *env) (*config.Config, *config.Loaded, error) {
	return f.readAnd(e, nil)
}

// readAnd reads the configuration and lets check look at it.
func (f *configFlags) readAnd(e *env, check func(config.Config) error) (*config.Config, *config.Loaded, error) {
	opt := config.Options{File: f.file, Environ: e.environ, Others: []string{pushURLName, pushKeyName}, Sets: f.sets, Check: check}
	var fileErr, otherErr error
	if f.file != "" {
		opt.Data, fileErr = os.ReadFile(f.file)
	}
	if f.symbolicator != "" {
		opt.Symbolicator, otherErr = os.ReadFile(f.symbolicator)
		opt.SymbolicatorFile = f.symbolicator
		if otherErr == nil && opt.Symbolicator == nil {
			opt.Symbolicator = []byte{}
		}
	}
	for key, value := range map[string]string{"data": f.data, "http.listen": f.listen} {
		if value != "" {
			opt.Sets = append(opt.Sets, key+"="+value)
		}
	}
	for _, spec := range f.sources {
		s, err := source.ParseSpec(spec)
		if err != nil {
			return nil, nil, &usageError{text: err.Error()}
		}
		opt.Sources = append(opt.Sources, s)
	}
	unread := errors.Join(fileErr, otherErr)
	if unread != nil {
		opt.Check = nil
	}
	cfg, loaded, err := config.Read(opt)
	if unread != nil {
		err = unread // other mistakes may follow from it
	}
	return cfg, loaded, err
}

// load reads the configuration and makes the logger, which says what the
// reading had to say.
func (f *configFlags) load(e *env) (*config.Config, *slog.Logger, error) {
	cfg, loaded, err := f.read(e)
	if err != nil {
		return nil, nil, err
	}
	log, err := logger(cfg.Log, e.stderr)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range loaded.Notices {
		log.Warn(n)
	}
	return cfg, log, nil
}

// operator is what the commands for operators need of a data directory: the
// node itself when no server runs on it, else the way to that server.
type operator interface {
	Explain(ctx context.Context, q explain.Question) (*explain.Trail, error)
	Prefetch(ctx context.Context, m ident.Module) (node.Prefetched, error)
	Cache(ctx context.Context, q node.CacheQuery, w io.Writer) error
	Key(ctx context.Context, q node.KeyQuery, w io.Writer) error
	Frames(ctx context.Context, q node.FileQuery) ([]answer.Answer, error)
	Close()
}

// operator is what answers the commands of operators: the server that runs on
// the data directory, or the directory itself when none does.
func (f *configFlags) operator(ctx context.Context, e *env) (operator, error) {
	cfg, log, err := f.load(e)
	if err != nil {
		return nil, err
	}
	data, err := node.DataDir(cfg.Data)
	if err != nil {
		return nil, err
	}
	r := node.Dial(ctx, data)
	switch {
	case r == nil:
		return openNode(cfg, nil, log)
	case len(f.sources) > 0:
		r.Close()
		return nil, fmt.Errorf("a server runs on %s and asks its own sources: leave --source out, or choose another --data", data)
	}
	return r, nil
}

// asker is an operator that asks the sources which are named, if any are, and
// remembers nothing: to see what they say now.
func (f *configFlags) asker(ctx context.Context, e *env) (operator, error) {
	if len(f.sources) == 0 || f.data != "" {
		return f.operator(ctx, e)
	}
	cfg, log, err := f.load(e)
	if err != nil {
		return nil, err
	}
	if cfg.Data, err = os.MkdirTemp("", "symbolon-*"); err != nil {
		return nil, err
	}
	n, err := openNode(cfg, nil, log)
	if err != nil {
		os.RemoveAll(cfg.Data)
		return nil, err
	}
	return &passing{n, cfg.Data}, nil
}

// passing is a node whose directory goes with it.
type passing struct {
	*node.Node
	dir string
}

func (p *passing) Close() {
	p.Node.Close()
	os.RemoveAll(p.dir)
}

func configCommand() *command {
	return &command{
		name:  "config",
		short: "Check or print the configuration",
		subs:  []*command{configCheckCommand(), configPrintCommand(), configReferenceCommand()},
	}
}

func configCheckCommand() *command {
	var conf configFlags
	return &command{
		name: "check", args: "[FILE]", short: "Say whether the configuration is right", flags: conf.add,
		long: `FILE is the configuration file, as with --config. All mistakes are listed, and
what serve would warn of is logged as serve does. The files and folders that the
configuration names are looked at as the user who runs the command; to see
whether the folders can be written, one is made there and removed. Nothing is
asked over the network.`,
		run: func(_ context.Context, e *env, args []string) error {
			switch {
			case len(args) > 1:
				return unexpected(nil, args[1])
			case len(args) == 1 && conf.file != "":
				return &usageError{text: "name the file once: as FILE or with --config"}
			case len(args) == 1:
				conf.file = args[0]
			}
			cfg, loaded, err := conf.readAnd(e, func(cfg config.Config) error { return check(e, &cfg) })
			if cfg != nil {
				log := warnings(e, cfg)
				for _, n := range loaded.Notices {
					log.Warn(n)
				}
			}
			if err != nil {
				return err
			}
			if _, err := node.Settle(cfg); err != nil {
				return err
			}
			if noSymbols(cfg) {
				warnings(e, cfg).Warn(noSymbolsText)
			}
			say(e.stdout, "the configuration is good\n")
			return nil
		},
	}
}

func configPrintCommand() *command {
	var conf configFlags
	return &command{
		name: "print", short: "Print the configuration in effect, and where each value comes from", flags: conf.add,
		long: `The output is a configuration file. Secrets are not shown. Folders and memory
that nobody configured are those of this user and this machine.`,
		run: func(_ context.Context, e *env, _ []string) error {
			cfg, loaded, err := conf.read(e)
			if err != nil {
				return err
			}
			if _, err := node.Settle(cfg); err != nil {
				return err
			}
			return config.Print(e.stdout, cfg, loaded.Origins)
		},
	}
}

func configReferenceCommand() *command {
	return &command{
		name: "reference", short: "Print the reference of all keys, as Markdown",
		run: func(_ context.Context, e *env, _ []string) error {
			return config.Reference(e.stdout)
		},
	}
}
