package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
)

// maxHeader limits the headers of a request.
const maxHeader = 64 << 10

// Serve serves requests from the listeners until ctx ends or one of them fails.
// Then it refuses new requests, /readyz fails, and running requests may end within
// Config.ShutdownTimeout. It closes the listeners.
func (f *Front) Serve(ctx context.Context, listeners ...net.Listener) error {
	srv := &http.Server{
		Handler:           f,
		ReadHeaderTimeout: f.cfg.HeaderTimeout,
		IdleTimeout:       f.cfg.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(f.opt.Log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, len(listeners))
	for _, ln := range listeners {
		go func() { ended <- srv.Serve(ln) }()
	}
	var failed error
	select {
	case failed = <-ended:
		ended <- failed
	case <-ctx.Done():
	}
	f.draining.Store(true)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.cfg.ShutdownTimeout)
	defer cancel()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		f.opt.Log.Warn("requests exceeded the time limit at shutdown; their connections are closed", "after", f.cfg.ShutdownTimeout)
		err = srv.Close()
	}
	for range listeners {
		<-ended
	}
	return cmp.Or(failed, err)
}
