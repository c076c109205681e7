package main

import (
	"context"
	"runtime"
	"runtime/debug"
)

func versionCommand() *command {
	return &command{
		name:  "version",
		short: "Print the version of this binary",
		run: func(_ context.Context, e *env, _ []string) error {
			say(e.stdout, "symbolon %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// version is that of the module, with the commit when it was built from one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
