// Command bench measures symbolon and compares its answers with those of other
// tools:
//
//	go run ./bench mozilla   answers, memory and start-up of a server
//	go run ./bench pings     crash pings, as an input of batches
//	go run ./bench sentry    load on Sentry's interface
//	go run ./bench images    tables and lookups of linked binaries
//	go run ./bench oracle    frames beside those of other symbolizers
//	go run ./bench names    names in test suites of other demanglers
//	go run ./bench standin   output as addr2line and llvm-symbolizer, line by line
//
// Mozilla, pings, sentry and images need Linux. README.md describes each.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"symbolon/bench/names"
	"symbolon/bench/oracle"
	"symbolon/bench/standin"
)

// errDiffers ends a comparison that has printed what differs.
var errDiffers = errors.New("too many differences")

// commands returns the sub-commands by name.
func commands() map[string]func(context.Context, []string) error {
	all := map[string]func(context.Context, []string) error{
		"oracle":  comparison(oracle.Run),
		"names":   comparison(names.Run),
		"standin": comparison(standin.Run),
	}
	maps.Copy(all, measurements())
	return all
}

func comparison(compare func(context.Context, []string) (bool, error)) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		ok, err := compare(ctx, args)
		if err == nil && !ok {
			return errDiffers
		}
		return err
	}
}

func main() {
	all := commands()
	if len(os.Args) < 2 || all[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: bench COMMAND [flags]; the commands are %s\n", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := all[os.Args[1]](ctx, os.Args[2:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
