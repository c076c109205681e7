package tree

import "time"

// SetWait sets how long questions to s wait for its first index.
func SetWait(s *Source, d time.Duration) { s.wait = d }
