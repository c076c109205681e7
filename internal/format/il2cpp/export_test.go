package il2cpp

// Limits exports limits.
type Limits = struct{ Lines, InFile, Names, Text, Depth int }

// ReadWithin is Read with limits that are small enough for a test.
func ReadWithin(text []byte, l Limits) (*Map, error) {
	return read(text, nil, limits{l.Lines, l.InFile, l.Names, l.Text, l.Depth})
}
