package ident

// MarshalText gives the text that String gives, and nothing for no id.
func (d DebugID) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *DebugID) UnmarshalText(text []byte) (err error) {
	*d = DebugID{}
	if len(text) > 0 {
		*d, err = ParseDebugID(string(text))
	}
	return err
}

// MarshalText gives the text that Base64 gives, and nothing for no id.
func (f FileID) MarshalText() ([]byte, error) {
	if f.IsZero() {
		return nil, nil
	}
	return []byte(f.Base64()), nil
}

// UnmarshalText reads any text of a file id.
func (f *FileID) UnmarshalText(text []byte) (err error) {
	*f = FileID{}
	if len(text) > 0 {
		*f, err = ParseFileID(string(text))
	}
	return err
}

// MarshalText gives the name of the architecture.
func (a Arch) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a name; one that is not known is no error.
func (a *Arch) UnmarshalText(text []byte) error {
	*a = ParseArch(string(text))
	return nil
}

// MarshalText gives the name of the type.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a name; one that is not known is no error.
func (t *Type) UnmarshalText(text []byte) error {
	*t = ParseType(string(text))
	return nil
}
