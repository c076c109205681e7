package stackwalk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/format/minidump"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
)

const rustUsage = `Usage: minidump-stackwalk [FLAGS] [OPTIONS] <minidump> [--] [symbols-path]...
`

const rustHelp = `Prints a minidump as text or JSON

` + rustUsage + `
      --human                  Print text (the default)
      --json                   Print JSON
      --cyborg <FILE>          Print text, and write JSON to a file
      --brief                  Print only the crash and the thread that crashed
      --pretty                 Indent the JSON
      --output-file <FILE>     Write to a file instead of standard output
      --log-file <FILE>        Write errors to a file instead of standard error
      --verbose <LEVEL>        off, or error (the default), warn, info, debug and trace, which are equal
      --symbols-path <DIR>     A folder or file with symbols; may be repeated
      --symbols-url <URL>      A server with symbols; may be repeated
      --symbols-cache <DIR>    A folder that keeps the symbols of servers
      --use-local-debuginfo    Also read the modules of the dump from this machine
      --evil-json <FILE>       The .extra file of Firefox's crash reporter
  -h, --help                   Print this text
  -V, --version                Print the version

--features, --no-color, --no-interactive, --recover-function-args, --symbols-tmp and
--symbols-download-timeout-secs are accepted and have no effect. --dump is not supported.
`

// rustValues has the options of minidump-stackwalk: whether they take a value.
var rustValues = map[string]bool{
	"human": false, "json": false, "dump": false, "no-color": false, "pretty": false, "brief": false, "no-interactive": false,
	"recover-function-args": false, "use-local-debuginfo": false, "help": false, "version": false,
	"cyborg": true, "features": true, "verbose": true, "output-file": true, "log-file": true, "evil-json": true, "symbols-url": true,
	"symbols-cache": true, "symbols-tmp": true, "symbols-download-timeout-secs": true, "symbols-path": true,
}

// rustWords has the values of options that take few.
var rustWords = map[string][]string{
	"features": {"stable-basic", "stable-all", "unstable-all"}, "verbose": {"off", "error", "warn", "info", "debug", "trace"},
}

// A rustLine is a command line of minidump-stackwalk.
type rustLine struct {
	set   map[string][]string // values of the options, "" for those without
	files []string
}

func (l *rustLine) has(name string) bool { return l.set[name] != nil }

// value returns the last value of an option.
func (l *rustLine) value(name string) string {
	if v := l.set[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// parse reads the arguments. Options may be anywhere before "--".
func (l *rustLine) parse(args []string) error {
	l.set = map[string][]string{}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
			l.files, args = append(l.files, args...), nil
			continue
		case a == "-h":
			a = "--help"
		case a == "-V":
			a = "--version"
		case len(a) < 2 || a[0] != '-':
			l.files = append(l.files, a)
			continue
		}
		name, value, isGiven := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		takes, isKnown := rustValues[name]
		switch {
		case !isKnown || !strings.HasPrefix(a, "--"):
			return fmt.Errorf("unexpected argument '%s' found", a)
		case isGiven && !takes:
			return fmt.Errorf("unexpected value '%s' for '--%s' found; no more were expected", value, name)
		case takes && !isGiven && (len(args) == 0 || strings.HasPrefix(args[0], "--")):
			return fmt.Errorf("a value is required for '--%s' but none was supplied", name)
		case takes && !isGiven:
			value, args = args[0], args[1:]
		}
		if l.has(name) && name != "symbols-url" && name != "symbols-path" {
			return fmt.Errorf("the argument '--%s' cannot be used multiple times", name)
		}
		l.set[name] = append(l.set[name], value)
	}
	return l.check()
}

// check reports combinations and values that are not allowed.
func (l *rustLine) check() error {
	for name, words := range rustWords {
		if l.has(name) && !slices.Contains(words, l.value(name)) {
			return fmt.Errorf("invalid value '%s' for '--%s'\n  [possible values: %s]", l.value(name), name, strings.Join(words, ", "))
		}
	}
	const seconds = "symbols-download-timeout-secs"
	if _, err := strconv.ParseUint(l.value(seconds), 10, 64); l.has(seconds) && err != nil {
		return fmt.Errorf("invalid value '%s' for '--%s'", l.value(seconds), seconds)
	}
	used := ""
	for _, name := range []string{"json", "human", "cyborg", "dump"} {
		switch {
		case !l.has(name):
		case used != "":
			return fmt.Errorf("the argument '--%s' cannot be used with '--%s'", used, name)
		default:
			used = name
		}
	}
	if len(l.files) == 0 && !l.has("help") && !l.has("version") {
		return errors.New("the following required arguments were not provided:\n  <MINIDUMP>")
	}
	return nil
}

// rustMinidump runs as rust-minidump's minidump-stackwalk.
func rustMinidump(ctx context.Context, e *Env, args []string) int {
	var l rustLine
	err := l.parse(args[1:])
	switch {
	case err != nil:
		console.Printf(e.Stderr, "error: %s\n\n"+rustUsage+"\nFor more information, try '--help'.\n", console.Printable(err.Error()))
		return exitUsage
	case l.has("help"):
		console.Printf(e.Stdout, "%s", rustHelp)
		return exitDone
	case l.has("version"):
		console.Printf(e.Stdout, "minidump-stackwalk (symbolon) %s\n", e.Version)
		return exitDone
	}
	var log = e.Stderr
	if name := l.value("log-file"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			console.Printf(e.Stderr, "Error: %s\n", console.Printable(err.Error()))
			return exitFailed
		}
		defer f.Close()
		log = f
	}
	if err := l.run(ctx, e); err != nil {
		if l.value("verbose") != "off" {
			console.Printf(log, "ERROR %s\n", console.Printable(err.Error()))
		}
		return exitFailed
	}
	return exitDone
}

func (l *rustLine) run(ctx context.Context, e *Env) error {
	switch {
	case l.has("pretty") && !l.has("json") && !l.has("cyborg"):
		return errors.New("Humans must be hideous! (The --pretty and --human flags cannot both be set)")
	case l.has("brief") && l.has("json"):
		return errors.New("Robots cannot be brief! (The --brief flag is only valid for --human, --cyborg, and --dump)")
	case l.has("dump"):
		return errors.New("--dump is not supported: use the original, or minidump_dump of Breakpad")
	}
	d, src, err := e.open(l.files[0])
	if err != nil {
		return rustError(err)
	}
	defer src.Close()
	opt := Options{
		Symbols: append(l.set["symbols-path"], l.files[1:]...), Extra: l.value("evil-json"),
		JSON: l.has("json"), Compact: !l.has("pretty"), Cyborg: l.value("cyborg"), Brief: l.has("brief"),
	}
	for _, url := range l.set["symbols-url"] {
		c, err := source.ParseSpec(url)
		if err != nil {
			return err
		}
		opt.Sources = append(opt.Sources, c)
	}
	if len(opt.Sources) > 0 {
		opt.Data = filepath.Join(l.value("symbols-cache"), "symbolon")
		if !l.has("symbols-cache") {
			opt.Data = filepath.Join(os.TempDir(), "rust-minidump-cache", "symbolon")
		}
	}
	if l.has("use-local-debuginfo") {
		opt.Symbols = append(opt.Symbols, d.LocalFiles()...)
	}
	write := func(w io.Writer) error {
		return e.walk(ctx, d, opt, func(s *Session, r *crash.Report) error { return s.write(w, r) })
	}
	if name := l.value("output-file"); name != "" {
		return scratch.WriteFile(name, write)
	}
	return write(e.Stdout)
}

// rustError returns the error of a dump that cannot be read as the original names it.
func rustError(err error) error {
	for _, x := range []struct {
		err  error
		text string
	}{
		{minidump.ErrMissingHeader, "MissingHeader - Error reading dump: Missing minidump header (empty minidump?)"},
		{minidump.ErrHeaderMismatch, "HeaderMismatch - Error reading dump: Header mismatch"},
		{minidump.ErrVersionMismatch, "VersionMismatch - Error reading dump: Minidump version mismatch"},
		{minidump.ErrMissingDirectory, "MissingDirectory - Error reading dump: Missing stream directory (heavily truncated minidump?)"},
		{minidump.ErrMissingSystemInfo, "MissingSystemInfo - Error processing dump: The system information stream was not found"},
		{minidump.ErrMissingThreadList, "MissingThreadList - Error processing dump: The thread list stream was not found"},
		{fs.ErrNotExist, "FileNotFound - Error reading dump: File not found"},
	} {
		if errors.Is(err, x.err) {
			return errors.New(x.text)
		}
	}
	return fmt.Errorf("IoError - Error reading dump: %w", err)
}
