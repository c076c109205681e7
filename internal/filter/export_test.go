package filter

import "time"

// SetLimits sets the limits of the waits for the server.
func (r *Remote) SetLimits(stall, whole time.Duration) {
	r.limits = limits{stall, whole, time.Millisecond}
}
