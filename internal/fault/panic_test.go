package fault_test

import (
	"strings"
	"testing"

	"symbolon/internal/fault"
)

func TestRecoverReturnsThePanicAsAFault(t *testing.T) {
	work := func() (err error) {
		defer fault.Recover("file", &err)
		panic("boom")
	}
	err := work()
	if kind := fault.KindOf(err); kind != fault.Internal {
		t.Errorf("kind %v", kind)
	}
	if text := err.Error(); !strings.HasPrefix(text, "file: internal: panic: boom\n") {
		t.Errorf("text %q", text)
	}
	if text := err.Error(); !strings.Contains(text, "panic_test.go") {
		t.Errorf("no stack in %q", text)
	}
}

func TestRecoverKeepsTheResultWithoutAPanic(t *testing.T) {
	work := func() (err error) {
		defer fault.Recover("file", &err)
		return nil
	}
	if err := work(); err != nil {
		t.Error(err)
	}
}
