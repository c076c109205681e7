package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"symbolon/internal/answer"
	"symbolon/internal/cache/disk"
	"symbolon/internal/cli"
	"symbolon/internal/config"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/node"
	"symbolon/internal/source"
	"symbolon/internal/standin"
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
	sources      []string
	sets         []string
	folders      []source.Config // asked before sources
}

// add adds all flags.
func (f *configFlags) add(fs *pflag.FlagSet) {
	f.addBase(fs)
	fs.StringVar(&f.symbolicator, "symbolicator-config", "",
		"read the configuration `FILE` of Symbolicator, unchanged; all other settings override it, and sentry.allow_request_sources is on")
	fs.StringArrayVar(&f.sources, "source", nil,
		"use the symbol source `SPEC`: a preset, a URL or a directory; may be repeated, and replaces the sources of the configuration")
}

// addBase adds the flags of commands that use no sources.
func (f *configFlags) addBase(fs *pflag.FlagSet) {
	fs.StringVar(&f.file, "config", "", "read the configuration `FILE` (YAML)")
	fs.StringVar(&f.data, "data", "", "data directory `DIR` (default: symbolon in the user's cache directory)")
	fs.StringArrayVar(&f.sets, "set", nil, "set a key of the configuration, `KEY=VALUE`; may be repeated")
}

// read reads the configuration from the file, the environment and the flags. After an
// error other than a wrong flag, it returns the valid part.
func (f *configFlags) read(e *env) (*config.Config, *config.Loaded, error) {
	return f.readAnd(e, nil)
}

// readAnd reads the configuration and calls check for it, unless a file cannot be
// read.
func (f *configFlags) readAnd(e *env, check func(config.Config) error) (*config.Config, *config.Loaded, error) {
	opt := config.Options{File: f.file, Environ: e.environ, Others: []string{pushURLName, pushKeyName, standin.LLVMVariable}, Sets: f.sets, Check: check}
	var fileErr, symbolicatorErr error
	if f.file != "" {
		opt.Data, fileErr = os.ReadFile(f.file)
	}
	if f.symbolicator != "" {
		opt.Symbolicator, symbolicatorErr = os.ReadFile(f.symbolicator)
		opt.SymbolicatorFile = f.symbolicator
		if symbolicatorErr == nil && opt.Symbolicator == nil {
			opt.Symbolicator = []byte{}
		}
	}
	for _, flag := range []config.Flag{{Name: "--data", Key: "data", Value: f.data}, {Name: "--listen", Key: "http.listen", Value: f.listen}} {
		if flag.Value != "" {
			opt.Flags = append(opt.Flags, flag)
		}
	}
	opt.Sources = append(opt.Sources, f.folders...)
	for _, spec := range f.sources {
		s, err := source.ParseSpec(spec)
		if err != nil {
			return nil, nil, cli.Usage(err.Error())
		}
		opt.Sources = append(opt.Sources, s)
	}
	unread := errors.Join(fileErr, symbolicatorErr)
	if unread != nil {
		opt.Check = nil
	}
	cfg, loaded, err := config.Read(opt)
	if unread != nil {
		err = unread // other errors may follow from it
	}
	if _, ok := errors.AsType[*config.FlagError](err); ok {
		err = cli.Usage(err.Error())
	}
	return cfg, loaded, err
}

// load reads the configuration, returns its logger and logs the notices.
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

// operator has the methods of a node that commands call: those of the server that
// runs on a data directory, or of a node in this process if none runs.
type operator interface {
	Explain(ctx context.Context, q explain.Question) (*explain.Trail, error)
	Prefetch(ctx context.Context, m ident.Module) (node.Prefetched, error)
	Cache(ctx context.Context, q node.CacheQuery, w io.Writer) error
	Token(ctx context.Context, q node.TokenQuery, w io.Writer) error
	Project(ctx context.Context, q node.ProjectQuery, w io.Writer) error
	Maintain(ctx context.Context, q node.MaintainQuery, w io.Writer) error
	Missing(ctx context.Context, q node.MissingQuery) ([]*missing.Row, error)
	Frames(ctx context.Context, q node.FileQuery) ([]answer.Answer, error)
	Close()
}

// operator returns the server that runs on the data directory, or a node on the
// directory if none runs.
func (f *configFlags) operator(ctx context.Context, e *env) (operator, error) {
	cfg, log, err := f.load(e)
	if err != nil {
		return nil, err
	}
	r, data, err := node.Dial(ctx, cfg.Data)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return openNode(cfg, nil, log)
	case len(f.sources) > 0:
		r.Close()
		return nil, fmt.Errorf("a server runs on %s and uses its own sources: omit --source, or choose another --data", data)
	}
	return r, nil
}

// operate calls do with the operator.
func (f *configFlags) operate(ctx context.Context, e *env, do func(operator) error) error {
	op, err := f.operator(ctx, e)
	if err != nil {
		return err
	}
	defer op.Close()
	return do(op)
}

// uncached returns the operator, or if sources are named a node with these sources and
// an empty cache.
func (f *configFlags) uncached(ctx context.Context, e *env) (operator, error) {
	if len(f.sources) == 0 || f.data != "" {
		return f.operator(ctx, e)
	}
	return f.local(e)
}

// local returns a node in this process that also asks more sources: with an empty cache
// if sources are named, or if a server or another command uses the data directory.
func (f *configFlags) local(e *env, more ...source.Config) (*temporary, error) {
	cfg, log, err := f.load(e)
	if err != nil {
		return nil, err
	}
	cfg.Sources, cfg.Locate.Columns, cfg.Table.ManyNames = append(more, cfg.Sources...), true, true
	if len(more) > 0 || len(f.folders)+len(f.sources) > 0 && f.data == "" {
		return openTemporary(cfg, log)
	}
	n, err := openNode(cfg, nil, log)
	if errors.Is(err, disk.ErrInUse) {
		return openTemporary(cfg, log)
	}
	return &temporary{Node: n}, err
}

// openTemporary returns a node with an empty cache.
func openTemporary(cfg *config.Config, log *slog.Logger) (*temporary, error) {
	dir, err := os.MkdirTemp("", "symbolon-*")
	if err != nil {
		return nil, err
	}
	cfg.Data, cfg.Table.OnlyReused, cfg.Cache.Disk.Temporary = dir, true, true
	n, err := openNode(cfg, nil, log)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &temporary{n, dir}, nil
}

// temporary is a node whose data directory Close removes.
type temporary struct {
	*node.Node
	dir string // empty: the directory stays
}

// Close closes the node and removes the directory.
func (t *temporary) Close() {
	t.Node.Close()
	if t.dir != "" {
		os.RemoveAll(t.dir)
	}
}

func configCommand(e *env) *cobra.Command {
	return cli.Group("config", "Check or print the configuration", configCheckCommand(e), configPrintCommand(e), configReferenceCommand(e))
}

func configCheckCommand(e *env) *cobra.Command {
	var conf configFlags
	c := &cobra.Command{
		Use: "check [FILE]", Short: "Check the configuration",
		Long: `FILE is the configuration file, as with --config. The command lists all errors, and
logs the warnings of serve. It checks the files and folders of the configuration
with the rights of the user who runs it: run it as the user of the server. To check
that folders can be written, it creates and removes a folder there. It reads the
buckets of the state and of the shared cache. It makes no other requests over the
network, except for the credentials of these.`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return cli.Unexpected(args[1])
			case len(args) == 1 && conf.file != "":
				return cli.Usage("the configuration file must be named once, as FILE or with --config")
			case len(args) == 1:
				conf.file = args[0]
			}
			cfg, loaded, err := conf.readAnd(e, func(cfg config.Config) error { return node.Check(&cfg, warnings(e, &cfg)) })
			if cfg != nil {
				log := warnings(e, cfg)
				for _, n := range loaded.Notices {
					log.Warn(n)
				}
			}
			if err != nil {
				return err
			}
			if _, err := node.Complete(cfg); err != nil {
				return err
			}
			if noSymbols(cfg) {
				warnings(e, cfg).Warn(noSymbolsText)
			}
			text := "the configuration is good"
			if node.CheckState(cfg) != nil {
				text = "the configuration has no errors, but this user cannot write the folder of uploads"
			}
			log := warnings(e, cfg)
			for _, err := range node.CheckBuckets(c.Context(), cfg, log) {
				log.Warn("cannot read a bucket", "error", err)
				text = "the configuration has no errors, but see the warnings"
			}
			if c.Context().Err() == nil {
				say(e.stdout, "%s\n", text)
			}
			return c.Context().Err()
		},
	}
	conf.add(c.Flags())
	return c
}

func configPrintCommand(e *env) *cobra.Command {
	var conf configFlags
	c := &cobra.Command{
		Use: "print", Short: "Print the configuration in effect, and where each value comes from",
		Long: `The output is a configuration file without secrets. Folders and memory that are not
configured are those of this user and this machine.`,
		RunE: func(_ *cobra.Command, _ []string) error {
			cfg, loaded, err := conf.read(e)
			if err != nil {
				return err
			}
			if _, err := node.Complete(cfg); err != nil {
				return err
			}
			return config.Print(e.stdout, cfg, loaded.Origins)
		},
	}
	conf.add(c.Flags())
	return c
}

func configReferenceCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "reference", Short: "Print the reference of all keys, as Markdown",
		RunE: func(_ *cobra.Command, _ []string) error {
			return config.Reference(e.stdout)
		},
	}
}
