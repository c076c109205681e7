package ident_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"symbolon/internal/ident"
)

// pattern returns n bytes; byte i is i mod 251.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

func TestNewFileID(t *testing.T) {
	for _, tc := range []struct {
		data        []byte
		hex, base64 string
	}{
		{nil, "af5570f5a1810b7af78caf4bc70a660f", "r1Vw9aGBC3r3jK9LxwpmDw"},
		{[]byte("abc"), "a7e79e8a85da69bad5c3fea209342ac9", "p-eeioXaabrVw_6iCTQqyQ"},
		{make([]byte, 123), "f4c1e5fe2f28034fcceb0776ec00b125", "9MHl_i8oA0_M6wd27ACxJQ"},
		{[]byte("\x7fELF\x00\x01\x02\x03\x04"), "caf6e5907166ac76eef618e5f7f59cd9", "yvblkHFmrHbu9hjl9_Wc2Q"},
		{pattern(4096), "6c3376bc183b0a4994bc0b2c2c9d8b05", "bDN2vBg7CkmUvAssLJ2LBQ"},
		{pattern(4097), "5caa6d2c6348b199ee7902cd00aa97b0", "XKptLGNIsZnueQLNAKqXsA"},
		{pattern(8192), "a7b0097f07ff25b7b48b13edc4aa7939", "p7AJfwf_Jbe0ixPtxKp5OQ"},
		{pattern(10000), "29e3194e821b97b5565d43a5156ad97a", "KeMZToIbl7VWXUOlFWrZeg"},
	} {
		id, err := ident.NewFileID(bytes.NewReader(tc.data), int64(len(tc.data)))
		if err != nil || id.Hex() != tc.hex || id.String() != tc.hex || id.Base64() != tc.base64 || id.IsZero() {
			t.Errorf("%d bytes: %s, %s, %v; want %s, %s", len(tc.data), id.Hex(), id.Base64(), err, tc.hex, tc.base64)
		}
	}
}

func TestNewFileIDOfTruncatedFile(t *testing.T) {
	if _, err := ident.NewFileID(strings.NewReader("abc"), 4); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("shorter than its size: %v", err)
	}
	if _, err := ident.NewFileID(strings.NewReader("abc"), -1); err == nil {
		t.Error("a negative size is accepted")
	}
	broken := errors.New("gone")
	if _, err := ident.NewFileID(failing{broken}, 9); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestFileIDForms(t *testing.T) {
	id, err := ident.ParseFileID("c34f3585fca1b579fb458e827851a599")
	if err != nil {
		t.Fatal(err)
	}
	if id.Base64() != "w081hfyhtXn7RY6CeFGlmQ" || id.UUID() != "c34f3585-fca1-b579-fb45-8e827851a599" {
		t.Errorf("%s, %s", id.Base64(), id.UUID())
	}
	if !(ident.FileID{}).IsZero() || id.IsZero() {
		t.Error("IsZero is wrong")
	}
	if s := id.Swapped(); s.Hex() != "fb458e827851a599c34f3585fca1b579" || s.Swapped() != id {
		t.Errorf("swapped: %s", s)
	}
}

func TestParseFileID(t *testing.T) {
	const want = "c34f3585fca1b579fb458e827851a599"
	for _, text := range []string{
		want, strings.ToUpper(want), "0x" + want, "c34f3585-fca1-b579-fb45-8e827851a599", "0xC34F3585-FCA1-B579-FB45-8E827851A599",
		"-" + want, "c-3-4-f-3-5-8-5-f-c-a-1-b-5-7-9-f-b-4-5-8-e-8-2-7-8-5-1-a-5-9-9", "w081hfyhtXn7RY6CeFGlmQ", "w081hfyhtXn7RY6CeFGlmQ==", "w081hfyhtXn7RY6CeFGlmQ=",
	} {
		if id, err := ident.ParseFileID(text); err != nil || id.Hex() != want {
			t.Errorf("%q = %s, %v", text, id, err)
		}
	}
	for text, want := range map[string]string{
		"EjRWeBJDl_-HZUMhh3SEqA": "12345678124397ff87654321877484a8", "EjRWeBJDl/+HZUMhh3SEqA": "12345678124397ff87654321877484a8",
		"EjRWeBJDl_WHZUMhh3SEng": "12345678124397f5876543218774849e", "d--nFqkSpJIXRFeHMp_Smg": "77efa716a912a49217445787329fd29a",
	} {
		if id, err := ident.ParseFileID(text); err != nil || id.Hex() != want {
			t.Errorf("%q = %s, %v; want %s", text, id, err, want)
		}
	}
}

func TestParseFileIDRejects(t *testing.T) {
	for _, text := range []string{
		"", "1", "c34f3585fca1b579", "c34f3585fca1b579fb458e827851a59", "c34f3585fca1b579fb458e827851a5990", "g34f3585fca1b579fb458e827851a599",
		"+34f3585fca1b579fb458e827851a599", "0Xc34f3585fca1b579fb458e827851a599", "{c34f3585-fca1-b579-fb45-8e827851a599}", " c34f3585fca1b579fb458e827851a599",
		"c34f3585fca1b57_fb458e827851a599", "w081hfyhtXn7RY6CeFGlm", "w081hfyhtXn7RY6CeFGlmQA", "w081hfyhtXn7RY6CeFGlmQ===", "w081hfyhtXn7RY6CeFGlmQAA",
		"w081hfyhtXn7RY6CeFGlmR", "*081hfyhtXn7RY6CeFGlmQ", "__+/hfyhtXn7RY6CeFGlmQ", " w081hfyhtXn7RY6CeFGlmQ", "w081hfyhtXnéRY6CeFGlmQ",
		"w081hfyhtXn7\nRY6CeFGlmQ", strings.Repeat("-", 100) + "c34f3585fca1b579fb458e827851a599", strings.Repeat("-", 32),
	} {
		if id, err := ident.ParseFileID(text); err == nil {
			t.Errorf("%q = %s", text, id)
		}
	}
}

func FuzzFileID(f *testing.F) {
	f.Add("c34f3585fca1b579fb458e827851a599")
	f.Add("0xc34f3585-fca1-b579-fb45-8e827851a599")
	f.Add("w081hfyhtXn7RY6CeFGlmQ==")
	f.Add("//+/hfyhtXn7RY6CeFGlmQ")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ident.ParseFileID(text)
		if err != nil {
			return
		}
		for _, form := range []string{id.Hex(), id.Base64(), id.UUID()} {
			if again, err := ident.ParseFileID(form); err != nil || again != id {
				t.Fatalf("%q prints as %s, which is %v, %v", text, form, again, err)
			}
		}
	})
}
