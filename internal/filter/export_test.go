package filter

import "time"

// Hurry shortens the waits for the server.
func (r *Remote) Hurry(stall, whole time.Duration) { r.limits = limits{stall, whole, time.Millisecond} }
