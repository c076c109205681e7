package main

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/elastic"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/api/operate"
	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/config"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/metric"
	"symbolon/internal/source"
)

func serveCommand() *command {
	var conf configFlags
	var demo bool
	return &command{
		name:  "serve",
		short: "Serve all doors on one port",
		long: `Symbolication as Mozilla's services do it, POST /symbolicate/v5 and v4 and the
symbol store of all sources for reading, and as Sentry's Symbolicator does it,
POST /symbolicate, GET /requests/ID and /proxy/; uploads and lookups of Elastic's
profiler, for which "symbolon key add" makes keys. No source is contacted unless
one is named. SPEC is a preset, an http(s) URL, or a directory of symbol files
laid out as NAME/ID/NAME.sym; ",layout=NAME" may follow it for other layouts.
Among equals the source that is named first counts.

Presets:
` + presets() + `
Without --config and --source nothing can be found; try --demo.
The first line on standard output, once connections are accepted, is
"listening on http://HOST:PORT", with TLS "listening on https://HOST:PORT"; a
port for plain HTTP beside it has the second line.`,
		flags: func(fs *flag.FlagSet) {
			conf.add(fs)
			fs.StringVar(&conf.listen, "listen", "", "listen on `HOST:PORT` (default 127.0.0.1:3021)")
			fs.BoolVar(&demo, "demo", false, "add a tiny symbol store that is built in, and use a temporary data directory unless --data names one")
		},
		run: func(ctx context.Context, e *env, _ []string) error {
			return serve(ctx, e, &conf, demo)
		},
	}
}

// presets lists the presets, a line for each.
func presets() string {
	var b strings.Builder
	for _, p := range source.Presets() {
		fmt.Fprintf(&b, "  %-11s %s\n", p.Name, p.About)
	}
	return b.String()
}

func serve(ctx context.Context, e *env, conf *configFlags, demo bool) error {
	metric.BuildInfo.Set(1, version(), runtime.Version())
	metric.ProcessStart.Set(time.Now().Unix())
	cfg, log, err := conf.load(e)
	if err != nil {
		return err
	}
	var built *demoSource
	var key string // of the demo
	if demo {
		if built, err = demoStore(ctx); err != nil {
			return err
		}
		key = base64.StdEncoding.EncodeToString([]byte("demo:" + rand.Text()))
		cfg.Elastic.APIKeys = append(cfg.Elastic.APIKeys, bin.NewSecret(key))
		if cfg.Data == "" {
			if cfg.Data, err = os.MkdirTemp("", "symbolon-demo-*"); err != nil {
				return err
			}
			defer os.RemoveAll(cfg.Data)
		}
	}
	note, err := settle(cfg)
	if err != nil {
		return err
	}
	if note != "" {
		log.Warn(note)
	}
	n, err := newNode(cfg, built, log)
	if err != nil {
		return err
	}
	defer n.close()
	stop, err := listenControl(cfg.Data, n)
	if err != nil {
		log.Warn("the commands explain, cache and prefetch cannot reach this server", "error", err)
	} else {
		defer stop()
	}
	front, err := n.front(cfg)
	if err != nil {
		return err
	}
	e.signals.onHangup(func() { n.rereadKeys(ctx) })
	ports, bases, err := listen(cfg.HTTP.Defaults(), log)
	if err != nil {
		return err
	}
	startText(e.stderr, cfg, bases[0], key) // before the lines that scripts wait for
	for _, base := range bases {
		if _, err := fmt.Fprintf(e.stdout, "listening on %s\n", base); err != nil {
			return errors.Join(err, closeAll(ports))
		}
	}
	return front.Serve(ctx, ports...)
}

// front puts the doors of the node together.
func (n *node) front(cfg *config.Config) (*api.Front, error) {
	version, err := api.ReadVersion(cfg.HTTP.VersionFile)
	if err != nil {
		return nil, err
	}
	access := api.NewAccess(cfg.Access)
	n.open = n.locator
	if !access.Open() { // who has no token sees what is public
		n.open = n.locator.With("", n.public)
	}
	door := mozilla.New(cfg.Mozilla, mozilla.Deps{
		Run:     n.engine.With(n.tables.With(n.open)).Run,
		Symbols: n.symbolFile,
		Now:     time.Now,
		Log:     n.log,
	})
	desk := operate.New(operate.Deps{Access: access, Explain: n.explainText, Forget: n.forget, Log: n.log})
	var answers sentry.Store // nil: this node is alone
	if n.far.redis != nil {
		answers = n.far.redis.Answers()
	}
	n.sentry = sentry.New(cfg.Sentry, sentry.Deps{Store: answers, Access: access, Engine: n.engineFor, Fetch: n.client.Text, File: n.proxied, Sources: len(n.configured), Patience: cfg.Network.Defaults().MaxDownloadTimeout, Now: time.Now, Log: n.log})
	profilers := elastic.New(cfg.Elastic, elastic.Deps{Store: n.uploads.store, Keys: n.uploads.keys, Run: n.engine.Run, Forget: n.forget, Log: n.log})
	n.attend(cfg.Elastic.Uploads.Defaults().Expiry)
	opt := api.Options{Log: n.log, Now: time.Now, Version: version, Memory: n.memory.requests, Checks: []api.Check{{Name: "data_directory", Run: n.writable}}}
	return api.New(cfg.HTTP, opt, door.Routes(), desk.Routes(), n.sentry.Routes(), profilers.Routes()), nil
}

// proxied is a file of a module, of the configured sources.
func (n *node) proxied(ctx context.Context, a sentry.Asking, m ident.Module, kind string) (sentry.File, error) {
	l, err := n.locatorFor(a)
	if err != nil {
		return nil, err
	}
	return fileOf(ctx, l, m, kind)
}

// symbolFile is the .sym of a module, for those who want the file itself.
func (n *node) symbolFile(ctx context.Context, m ident.Module) (mozilla.File, error) {
	return fileOf(ctx, n.open, m, source.Breakpad)
}

// fileOf is the first file of a kind that a source has.
func fileOf(ctx context.Context, l *locate.Locator, m ident.Module, kind string) (*foundFile, error) {
	found, _, err := l.Any(ctx, m, kind)
	if err != nil {
		return nil, err
	}
	_, src, err := found.File(ctx)
	if err != nil {
		found.Close()
		return nil, err
	}
	found.Keep()
	return &foundFile{io.NewSectionReader(src, 0, src.Size()), found}, nil
}

// foundFile is a found file while it is read.
type foundFile struct {
	*io.SectionReader
	found *locate.Found
}

func (o *foundFile) Tag() string { return o.found.Tag() }

func (o *foundFile) Close() error {
	o.found.Close()
	return nil
}

// startText says on stderr what a person wants to know next. The key is that of
// the demo; without one it is no demo.
func startText(w io.Writer, cfg *config.Config, base, key string) {
	if len(cfg.Sources) == 0 && key == "" && !cfg.Sentry.AllowRequestSources {
		say(w, "No symbol source is named, so every module will be missing. Name one with\n--source mozilla, --source https://symbols.example.com/ or --source DIRECTORY.\n")
	}
	for _, s := range cfg.Sources {
		say(w, "source %s\n", s.ID)
	}
	if key != "" {
		say(w, "\nSymbolicate with the built-in store (v5, then the older v4), and read one of its files:\n\n"+
			"curl -s %[1]s/symbolicate/v5 -d '%[2]s'\n\ncurl -s %[1]s/symbolicate/v4 -d '%[3]s'\n\ncurl -s %[1]s/%[4]s\n\n"+
			"Send it the symbols of a program. The key is good until this demo ends:\n\n"+
			"export %[6]s=%[5]s\nsymbolon push -e FILE -u %[1]s\n\n",
			base, demoV5, demoV4, demoFile, key, pushKeyName)
	}
}

// The requests that serve --demo prints.
const (
	demoV5   = `{"jobs":[{"memoryMap":[["teapot.pdb","6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"],["libkettle.so","0F1E2D3C4B5A69788796A5B4C3D2E1F00"]],"stacks":[[[0,4136],[0,4248],[1,8228],[-1,16]]]}]}`
	demoV4   = `{"memoryMap":[["teapot.pdb","6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"]],"stacks":[[[0,4136],[0,4304]]],"version":4}`
	demoFile = "libkettle.so/0F1E2D3C4B5A69788796A5B4C3D2E1F00/libkettle.so.sym"
)

//go:embed demo
var demoFiles embed.FS

// demoStore fills a bucket with the built-in files.
func demoStore(ctx context.Context) (*demoSource, error) {
	b := mem.New()
	err := fs.WalkDir(demoFiles, "demo", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := demoFiles.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return b.Put(ctx, strings.TrimPrefix(path, "demo/"), f, bucket.Attrs{Size: -1})
	})
	return &demoSource{"demo", b}, err
}

// logger writes the log to w as the configuration says.
func logger(cfg config.Log, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	cfg = cfg.Defaults()
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return nil, err
	}
	opt := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opt)), nil
	}
	return slog.New(slog.NewTextHandler(w, opt)), nil
}
