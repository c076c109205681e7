package standin

import "io"

// An Env is the environment of a tool.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(name string) string
	HasColors      bool   // Stdout is a terminal with colors
	Version        string // of this program
}

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
)
