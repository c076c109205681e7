package main

import (
	"context"

	"symbolon/bench/images"
	"symbolon/bench/mozilla"
	"symbolon/bench/sentry"
)

// measurements returns the sub-commands that need Linux.
func measurements() map[string]func(context.Context, []string) error {
	return map[string]func(context.Context, []string) error{
		"images":  images.Run,
		"sentry":  sentry.Run,
		"mozilla": mozilla.Run,
		"pings":   mozilla.Pings,
	}
}
