package extract

// WithoutClone is withoutClone.
func WithoutClone(name string) string { return string(withoutClone([]byte(name))) }
