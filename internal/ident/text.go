package ident

// MarshalText returns the text of String, and nothing for the zero id.
func (d DebugID) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText parses the text of MarshalText.
func (d *DebugID) UnmarshalText(text []byte) (err error) {
	*d = DebugID{}
	if len(text) > 0 {
		*d, err = ParseDebugID(string(text))
	}
	return err
}

// MarshalText returns the text of Base64, and nothing for the zero id.
func (f FileID) MarshalText() ([]byte, error) {
	if f.IsZero() {
		return nil, nil
	}
	return []byte(f.Base64()), nil
}

// UnmarshalText parses any text that ParseFileID accepts.
func (f *FileID) UnmarshalText(text []byte) (err error) {
	*f = FileID{}
	if len(text) > 0 {
		*f, err = ParseFileID(string(text))
	}
	return err
}

// MarshalText returns the name of the architecture.
func (a Arch) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses a name. An unknown name becomes ArchUnknown.
func (a *Arch) UnmarshalText(text []byte) error {
	*a = ParseArch(string(text))
	return nil
}

// MarshalText returns the name of the type.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses a name. An unknown name becomes TypeUnknown.
func (t *Type) UnmarshalText(text []byte) error {
	*t = ParseType(string(text))
	return nil
}
