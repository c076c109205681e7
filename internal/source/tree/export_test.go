package tree

import "time"

// SetPatience sets how long questions to s wait for its first index.
func SetPatience(s *Source, d time.Duration) { s.patience = d }
