package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// signals says what signals do to this process.
type signals struct {
	terminal bool // the process began on a terminal
	reload   atomic.Pointer[func()]
}

// onHangup has reload called at each SIGHUP, if the process was not started on a
// terminal.
func (s *signals) onHangup(reload func()) { s.reload.Store(&reload) }

// stopped is the cause of a context that a signal ended.
type stopped struct{ syscall.Signal }

func (s stopped) Error() string { return s.String() }

func (s stopped) Unwrap() error { return context.Canceled }

// status is the exit status of a command that a signal ended, as shells have it.
func (s stopped) status() int { return 128 + int(s.Signal) }

// watch returns a context that ends when a signal asks the process to end. A
// second signal ends the process at once.
//
// A SIGHUP is such a signal, unless the process has no terminal and a reload. A
// pipe that closes is none: it is an error of the write, so that a command
// removes its temporary files.
func (s *signals) watch() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	end, hangup := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as below nohup
		signal.Notify(hangup, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s.terminal = hasTerminal()
	go func() {
		for {
			select {
			case got := <-end:
				signal.Stop(end)
				cancel(stopped{got.(syscall.Signal)})
			case <-hangup:
				if reload := s.reload.Load(); reload != nil && !s.terminal {
					go (*reload)() // which may take long
				} else {
					// Several come when a terminal closes, so it is not stopped.
					cancel(stopped{syscall.SIGHUP})
				}
			}
		}
	}()
	return ctx
}

// hasTerminal reports whether the process has a controlling terminal, whatever
// its standard files are.
func hasTerminal() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	_ = f.Close() // it was only opened
	return true
}
