package main

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	stdlog "log"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/config"
	"symbolon/internal/metric"
	"symbolon/internal/node"
	"symbolon/internal/source"
)

func serveCommand(e *env) *cobra.Command {
	var conf configFlags
	var demo bool
	c := &cobra.Command{
		Use: "serve", Short: "Run a server with all interfaces on one port",
		Long: `The server answers requests for symbolication as Mozilla's services do (POST
/symbolicate/v5 and v4), as Sentry's Symbolicator (POST /symbolicate, GET
/requests/ID and /proxy/), and as the backend of Elastic's profilers.

It is also a symbol server. It stores debug files that are uploaded by "symbolon
upload", sentry-cli, clients of Mozilla's Tecken, and Elastic's profilers; "symbolon
token add" creates tokens for clients on other machines. It serves these files, and
those of its sources, to clients of debuginfod (gdb, lldb, perf), to WinDbg and Visual
Studio, to sentry-cli, and as Breakpad symbol files.

It contacts only the sources that are named. SPEC is a preset, an http(s) URL, or a
directory of symbol files named NAME/ID/NAME.sym; add ",layout=NAME" for other
layouts. Of equally good files, that of the first source is used.

Presets:
` + presets() + `
Without --config and --source only uploaded files are found; try --demo.
When the server accepts connections, it prints "listening on http://HOST:PORT" to
standard output, or "listening on https://HOST:PORT" with TLS, and a second line for
plain HTTP if both are configured.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return serve(c.Context(), e, &conf, demo)
		},
	}
	fs := c.Flags()
	conf.add(fs)
	fs.StringVar(&conf.listen, "listen", "", "listen on `HOST:PORT` (default 127.0.0.1:3021)")
	fs.BoolVar(&demo, "demo", false, "add a small built-in symbol store, and use a temporary data directory unless --data is given")
	return c
}

// presets returns a line for each preset.
func presets() string {
	var b strings.Builder
	for _, p := range source.Presets() {
		fmt.Fprintf(&b, "  %-11s %s\n", p.Name, p.About)
	}
	return b.String()
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, e *env, conf *configFlags, demo bool) error {
	metric.BuildInfo.Set(1, version(), runtime.Version())
	cfg, loaded, err := conf.read(e)
	if err != nil {
		return e.logged(cfg, err)
	}
	log, err := logger(cfg.Log, e.stderr)
	if err != nil {
		return err
	}
	stdlog.SetFlags(0)
	stdlog.SetOutput(unquoted{slog.NewLogLogger(log.Handler(), slog.LevelWarn).Writer()})
	s := server{env: e, cfg: cfg, log: log, notices: loaded.Notices}
	if demo {
		s.key = base64.StdEncoding.EncodeToString([]byte("demo:" + rand.Text()))
	}
	return e.logged(cfg, s.run(ctx))
}

// server is the state of serve.
type server struct {
	env     *env
	cfg     *config.Config
	log     *slog.Logger
	notices []string
	key     string // for uploads to the demo; empty without --demo
}

func (s *server) run(ctx context.Context) error {
	var built *node.Builtin
	var err error
	if s.key != "" {
		if built, err = demoStore(ctx); err != nil {
			return err
		}
		s.cfg.Elastic.APIKeys = append(s.cfg.Elastic.APIKeys, bin.NewSecret(s.key))
		if s.cfg.Data == "" {
			if s.cfg.Data, err = os.MkdirTemp("", "symbolon-demo-*"); err != nil {
				return err
			}
			defer os.RemoveAll(s.cfg.Data)
		}
	}
	note, err := node.Complete(s.cfg)
	if err != nil {
		return err
	}
	s.logStart()
	s.warn(note)
	n, err := openNode(s.cfg, built, s.log)
	if err != nil {
		return err
	}
	defer n.Close()
	front, err := n.Front(s.cfg)
	if err != nil {
		return err
	}
	stop, err := node.ListenControl(s.cfg.Data, n, front)
	if err != nil {
		s.log.Warn("commands on this machine cannot reach this server", "error", err)
	} else {
		defer stop()
	}
	s.env.signals.onHangup(func() {
		s.notify("RELOADING=1")
		n.RereadTokens(ctx)
		s.notify("READY=1")
	})
	ports, bases, err := api.Listen(s.cfg.HTTP.Defaults(), s.log)
	if err != nil {
		return err
	}
	s.printDemo(bases[0]) // before the lines that scripts wait for
	lines := "listening on " + strings.Join(bases, "\nlistening on ") + "\n"
	if _, err := io.WriteString(s.env.stdout, lines); err != nil { // at once: scripts wait for the first
		return errors.Join(err, api.CloseAll(ports))
	}
	s.notify("READY=1")
	told := make(chan struct{})
	isRunning := context.AfterFunc(ctx, func() {
		s.notify("STOPPING=1")
		close(told)
	})
	err = front.Serve(ctx, ports...)
	if !isRunning() {
		<-told
	}
	return err
}

// notify sends a state to the service manager that started the server, if it asks for
// that; see sd_notify(3).
func (s *server) notify(state string) {
	address := environment(s.env, "NOTIFY_SOCKET")
	if address == "" {
		return
	}
	c, err := net.Dial("unixgram", address)
	if err == nil {
		_, err = c.Write([]byte(state))
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		s.log.Warn("cannot notify the service manager", "state", state, "error", err)
	}
}

// logStart logs the first line. node.Complete has completed the configuration.
func (s *server) logStart() {
	sources := make([]string, 0, len(s.cfg.Sources))
	for _, c := range s.cfg.Sources {
		sources = append(sources, c.ID)
	}
	if s.key != "" {
		sources = append(sources, demoName)
	}
	s.log.Info("symbolon starts", "version", version(), "data", s.cfg.Data, "state", s.cfg.State,
		"memory", s.cfg.Memory.String(), "sources", sources)
}

// warn logs the warnings about a configuration that node.Complete has completed.
func (s *server) warn(note string) {
	for _, n := range s.notices {
		s.log.Warn(n)
	}
	if note != "" {
		s.log.Warn(note)
	}
	if err := node.CheckState(s.cfg); err != nil {
		s.log.Warn(err.Error())
	}
	if noSymbols(s.cfg) && s.key == "" {
		s.log.Warn(noSymbolsText)
	}
}

// printDemo prints commands to try.
func (s *server) printDemo(base string) {
	if s.key == "" {
		return
	}
	text := fmt.Sprintf("Symbolicate with the built-in store (v5, then the older v4), and read one of its files:\n\n"+
		"curl -s %[1]s/symbolicate/v5 -d '%[2]s'\n\ncurl -s %[1]s/symbolicate/v4 -d '%[3]s'\n\ncurl -s %[1]s/%[4]s\n\n"+
		"Send it the symbols of a program. The key is valid until this demo ends:\n\n"+
		"export %[6]s=%[5]s\nsymbolon push -e FILE -u %[1]s\n",
		base, demoV5, demoV4, demoFile, s.key, pushKeyName)
	if s.cfg.Log.Format == jsonLog {
		s.log.Info(text)
		return
	}
	say(s.env.stderr, "\n%s\n", text)
}

// Requests that --demo prints.
const (
	demoV5 = `{"jobs":[{"memoryMap":[["teapot.pdb","6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"],` +
		`["libkettle.so","0F1E2D3C4B5A69788796A5B4C3D2E1F00"]],"stacks":[[[0,4136],[0,4248],[1,8228],[-1,16]]]}]}`
	demoV4   = `{"memoryMap":[["teapot.pdb","6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"]],"stacks":[[[0,4136],[0,4304]]],"version":4}`
	demoFile = "libkettle.so/0F1E2D3C4B5A69788796A5B4C3D2E1F00/libkettle.so.sym"
)

// demoName is the id of the built-in source.
const demoName = "demo"

//go:embed demo
var demoFiles embed.FS

// demoStore returns a source with the built-in files.
func demoStore(ctx context.Context) (*node.Builtin, error) {
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
		_, err = b.Put(ctx, strings.TrimPrefix(path, "demo/"), f, bucket.Attrs{Size: -1})
		return err
	})
	return &node.Builtin{Name: demoName, Bucket: b, Example: demoV5}, err
}
