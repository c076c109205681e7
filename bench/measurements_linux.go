package main

import (
	"context"

	"symbolon/bench/images"
	"symbolon/bench/sentry"
	"symbolon/bench/service"
)

// measurements returns the sub-commands that read figures from /proc.
func measurements() map[string]func(context.Context, []string) error {
	return map[string]func(context.Context, []string) error{
		"images":  images.Run,
		"sentry":  sentry.Run,
		"service": service.Run,
	}
}
