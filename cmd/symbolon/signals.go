package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// signals handles the signals of the process.
type signals struct {
	hasTerminal bool
	reload      atomic.Pointer[func()]
}

// onHangup makes reload be called for each SIGHUP, if the process has no terminal.
func (s *signals) onHangup(reload func()) { s.reload.Store(&reload) }

// stopped is the cause of a context that a signal canceled.
type stopped struct{ syscall.Signal }

func (s stopped) Error() string { return s.String() }

func (s stopped) Unwrap() error { return context.Canceled }

// status returns the exit status of a command that a signal ended, as in shells.
func (s stopped) status() int { return 128 + int(s.Signal) }

// watch returns a context that ends when a signal asks the process to end. A
// second signal ends the process at once.
//
// SIGHUP does, unless the process has no terminal and a reload function. SIGPIPE does
// not: it is an error of the write, so that a command removes its temporary files.
func (s *signals) watch() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	end, hangup := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(hangup, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s.hasTerminal = hasTerminal()
	go func() {
		for {
			select {
			case got := <-end:
				signal.Stop(end)
				cancel(stopped{got.(syscall.Signal)})
			case <-hangup:
				if reload := s.reload.Load(); reload != nil && !s.hasTerminal {
					go (*reload)() // it may take long
				} else {
					// Not signal.Stop: a terminal that closes sends several.
					cancel(stopped{syscall.SIGHUP})
				}
			}
		}
	}()
	return ctx
}

// hasTerminal reports whether the process has a controlling terminal. Its standard
// files may be others.
func hasTerminal() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}
