package main

import (
	"bytes"
	"io"
	"log/slog"

	"symbolon/internal/config"
	"symbolon/internal/node"
)

// jsonLog is the format of a log for machines.
const jsonLog = "json"

// logger writes the log to w as the configuration says.
func logger(cfg config.Log, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	cfg = cfg.Defaults()
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return nil, err
	}
	opt := &slog.HandlerOptions{Level: level}
	if cfg.Format == jsonLog {
		return slog.New(slog.NewJSONHandler(w, opt)), nil
	}
	return slog.New(slog.NewTextHandler(w, opt)), nil
}

// logged logs err, the end of a server, if its log is for machines. cfg may be
// nil.
func (e *env) logged(cfg *config.Config, err error) error {
	if err == nil || cfg == nil || cfg.Log.Format != jsonLog {
		return err
	}
	log, _ := logger(config.Log{Format: jsonLog}, e.stderr) // of a good level
	log.Error("the server ends", "error", err)
	return errTold
}

// warnings is the log of what a server would warn of.
func warnings(e *env, cfg *config.Config) *slog.Logger {
	log, _ := logger(config.Log{Level: "warn", Format: cfg.Log.Format}, e.stderr) // of a good level
	return log
}

const noSymbolsText = "no symbol source is named, so every module will be missing; name one with --source mozilla, --source https://symbols.example.com/ or --source DIRECTORY"

// noSymbols reports whether a server with this configuration, which is settled,
// could not find any symbols.
func noSymbols(cfg *config.Config) bool {
	return len(cfg.Sources) == 0 && !cfg.Sentry.AllowRequestSources && !node.HasUploads(cfg.State)
}

// unquoted passes on what libraries print by themselves, but not what they repeat
// of others, in quotes: a server that was sent a secret may have said it.
type unquoted struct{ w io.Writer }

func (u unquoted) Write(p []byte) (int, error) {
	text, _, quote := bytes.Cut(p, []byte{'"'})
	if quote {
		text = append(bytes.Clone(text), '\n')
	}
	if _, err := u.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
