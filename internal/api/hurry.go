package api

import (
	"time"

	"symbolon/internal/bin"
)

const (
	// memoryPatience is how long a large request waits for memory.
	memoryPatience = 10 * time.Second
	// hurryGrace and hurryRate are what is asked of a client whose large request
	// holds memory that others wait for: bytes a second, after a grace.
	hurryGrace = 15 * time.Second
	hurryRate  = 64 << 10
)

// hurry is the claim of a large request.
type hurry struct {
	since  time.Time
	memory *bin.Budget
}

// bound is end, or the time by which n bytes should have passed if others wait
// for the memory. No claim bounds nothing.
func (h *hurry) bound(end time.Time, n int64) time.Time {
	if h == nil || !h.memory.Wanted() {
		return end
	}
	if due := h.since.Add(hurryGrace + time.Duration(n)*time.Second/hurryRate); due.Before(end) {
		return due
	}
	return end
}
