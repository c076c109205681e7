package standin

import (
	"io"

	"symbolon/internal/console"
)

// An Env is the environment of a tool.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(name string) string
	HasColors      bool         // Stdout is a terminal with colors
	Look           console.Look // of text on Stdout that is not the output of another tool
	Version        string       // of this program
}

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
)
