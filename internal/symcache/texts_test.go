package symcache

import (
	"errors"
	"strings"
	"testing"
)

func TestSpawnReturnsPanicAsError(t *testing.T) {
	if err := <-spawn(func() error { panic("oops") }); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("error %v", err)
	}
	bad := errors.New("bad")
	if err := <-spawn(func() error { return bad }); err != bad {
		t.Errorf("error %v", err)
	}
}
