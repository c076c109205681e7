package ident_test

import (
	"regexp"
	"testing"

	"symbolon/internal/ident"
)

func TestNewUUIDHasItsVersionAndVariant(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if id := ident.NewUUID(); !form.MatchString(id) {
		t.Errorf("NewUUID() = %q, want the form of version 4", id)
	}
}

func TestNewUUIDsDiffer(t *testing.T) {
	if a, b := ident.NewUUID(), ident.NewUUID(); a == b {
		t.Errorf("two calls returned %q", a)
	}
}

func TestParseUUIDNormalizesCaseAndDashes(t *testing.T) {
	const want = "6d1f0a5c-3b2e-4f71-8c9d-0e1f2a3b4c5d"
	for _, text := range []string{want, "6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D", "6d1f0a5c3b2e-4f718c9d-0e1f2a3b4c5d"} {
		if got, ok := ident.ParseUUID(text); got != want || !ok {
			t.Errorf("ParseUUID(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestParseUUIDRejectsOtherText(t *testing.T) {
	for _, text := range []string{"", "6d1f0a5c", "6d1f0a5c3b2e4f718c9d0e1f2a3b4c5dff", "zd1f0a5c3b2e4f718c9d0e1f2a3b4c5d"} {
		if got, ok := ident.ParseUUID(text); ok {
			t.Errorf("ParseUUID(%q) = %q, want none", text, got)
		}
	}
}
