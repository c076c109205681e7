package main

import (
	"io"

	"symbolon/internal/console"
	"symbolon/internal/scratch"
)

// say prints for people; see console.Printf.
func say(w io.Writer, format string, args ...any) { console.Printf(w, format, args...) }

func counted[N int | int64 | uint64](n N, noun string) string { return console.Count(n, noun) }

func printable(s string) string { return console.Printable(s) }

// writeFile writes the file name, completely or not at all; "-" is stdout.
func writeFile(e *env, name string, fill func(io.Writer) error) error {
	if name == "-" {
		return fill(e.stdout)
	}
	return scratch.WriteFile(name, fill)
}
