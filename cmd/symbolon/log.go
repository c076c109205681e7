package main

import (
	"bytes"
	"io"
	"log/slog"

	"symbolon/internal/config"
	"symbolon/internal/node"
)

// jsonLog is the format of logs that programs read.
const jsonLog = "json"

// logger returns the configured logger, which writes to w.
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

// logged logs err, which ends a server, if the log is JSON, and returns the error of
// the command. cfg may be nil.
func (e *env) logged(cfg *config.Config, err error) error {
	if err == nil || cfg == nil || cfg.Log.Format != jsonLog {
		return err
	}
	log, _ := logger(config.Log{Format: jsonLog}, e.stderr) // the level is valid
	log.Error("the server ends", "error", err)
	return errReported
}

// warnings returns a logger for the warnings that a server would log.
func warnings(e *env, cfg *config.Config) *slog.Logger {
	log, _ := logger(config.Log{Level: "warn", Format: cfg.Log.Format}, e.stderr) // the level is valid
	return log
}

const noSymbolsText = "no symbol source is named, so only uploaded files are found; upload some with symbolon upload, or " +
	"name one with --source mozilla, --source https://symbols.example.com/ or --source DIRECTORY"

// noSymbols reports whether a server could not find any symbols with a configuration
// that node.Complete has completed.
func noSymbols(cfg *config.Config) bool {
	return len(cfg.Sources) == 0 && !cfg.Sentry.AllowRequestSources && !node.HasUploads(cfg.State)
}

// unquoted drops the rest of each message from the first quote on: libraries quote
// texts of servers, which may repeat a secret.
type unquoted struct{ w io.Writer }

func (u unquoted) Write(p []byte) (int, error) {
	text, _, isQuoted := bytes.Cut(p, []byte{'"'})
	if isQuoted {
		text = append(bytes.Clone(text), '\n')
	}
	if _, err := u.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
