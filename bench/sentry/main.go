//go:build linux

// Package sentry puts load on POST /symbolicate and prints what it costs the
// server: frames per second of its processor time, latency, memory; and what a
// first request for a large file costs.
//
//	go run ./bench sentry -warm libc.debug,libstdc++.debug,python.debug [-cold vmlinux,librbd.debug]
//
// The files are debug files of ELF with a build id. The server runs as a process
// of its own on a data directory that goes with it.
package sentry

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"symbolon/bench/process"
)

// Run runs the benchmark with the arguments of its command line.
func Run(ctx context.Context, args []string) error {
	o := options{ctx: ctx}
	var warm, cold string
	fs := flag.NewFlagSet("sentry", flag.ExitOnError)
	fs.StringVar(&o.binary, "binary", "", "measure the binary `PATH` instead of building one")
	fs.StringVar(&warm, "warm", "", "`FILES` whose functions warm requests ask for, separated by commas")
	fs.StringVar(&cold, "cold", "", "`FILES` that are asked for once, each with an empty cache")
	fs.IntVar(&o.clients, "clients", 8, "how many clients send requests at the same time")
	fs.DurationVar(&o.load, "load", 5*time.Second, "how long each load lasts")
	_ = fs.Parse(args) // it exits
	o.warm, o.cold = list(warm), list(cold)
	return run(o)
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

type options struct {
	ctx        context.Context
	binary     string
	warm, cold []string
	clients    int
	load       time.Duration
}

func run(o options) error {
	tmp, err := os.MkdirTemp("", "bench-sentry-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	runtime.LockOSThread() // for process.Launch
	if o.binary, err = process.Build(o.ctx, o.binary, tmp); err != nil {
		return err
	}
	if len(o.warm) > 0 {
		if err := runWarm(o, tmp); err != nil {
			return err
		}
	}
	for _, file := range o.cold {
		if err := runCold(o, tmp, file); err != nil {
			return err
		}
	}
	return nil
}

// runWarm measures answers whose tables are open.
func runWarm(o options, tmp string) error {
	modules, err := lay(filepath.Join(tmp, "files"), o.warm)
	if err != nil {
		return err
	}
	s, err := start(o, filepath.Join(tmp, "warm"), "--source", filepath.Join(tmp, "files"))
	if err != nil {
		return err
	}
	defer s.stop()
	time.Sleep(time.Second)
	fmt.Printf("idle: %d MiB resident\n", s.bytes("VmRSS")>>20)
	for _, kind := range []struct {
		name           string
		stacks, frames int
	}{{"small", 1, 30}, {"big", 50, 100}} {
		var bodies [][]byte
		for seed := range 64 {
			bodies = append(bodies, request(modules, kind.stacks, kind.frames, uint64(seed)))
		}
		if err := s.settle(bodies[0]); err != nil {
			return err
		}
		for _, clients := range []int{1, o.clients} {
			r, err := s.load(bodies, clients, o.load)
			if err != nil {
				return err
			}
			frames := float64(r.requests * kind.stacks * kind.frames)
			fmt.Printf("%s, %d clients: %.0f requests/s, %.0f frames per cpu second, p50 %v, p99 %v, %d MiB resident, %d B in, %d B out\n",
				kind.name, clients, float64(r.requests)/r.took.Seconds(), frames/r.cpu.Seconds(), r.p50, r.p99,
				s.bytes("VmRSS")>>20, len(bodies[0]), r.size)
		}
	}
	fmt.Printf("highest: %d MiB resident\n", s.bytes("VmHWM")>>20)
	return nil
}

// runCold measures the first request for a file: until the answer, and until its
// table is there.
func runCold(o options, tmp, file string) error {
	dir := filepath.Join(tmp, "cold", filepath.Base(file))
	modules, err := lay(filepath.Join(dir, "files"), []string{file})
	if err != nil {
		return err
	}
	up := serveFiles(filepath.Join(dir, "files"))
	defer up.Close()
	data := filepath.Join(dir, "data")
	s, err := start(o, data, "--source", up.URL)
	if err != nil {
		return err
	}
	defer s.stop()
	before, began := s.used(), time.Now()
	answer, err := s.ask(request(modules, 1, 1, 1))
	if err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte(`"status":"symbolicated"`)) {
		return fmt.Errorf("%s: the first answer has no frame: %.200s", file, answer)
	}
	first, took := s.used()-before, time.Since(began)
	s.idle()
	all := s.used() - before
	fmt.Printf("%s: answer after %v and %v cpu; table after %v cpu; highest %d MiB resident, %d MiB of it anonymous at the end; table %d bytes\n",
		filepath.Base(file), took.Round(time.Millisecond), first.Round(time.Millisecond), all.Round(time.Millisecond),
		s.bytes("VmHWM")>>20, s.bytes("RssAnon")>>20, size(filepath.Join(data, "cache", "symcache")))
	began = time.Now()
	if _, err := s.ask(request(modules, 1, 1, 1)); err != nil {
		return err
	}
	fmt.Printf("%s: the second answer after %v\n", filepath.Base(file), time.Since(began).Round(time.Microsecond))
	return os.RemoveAll(dir)
}
