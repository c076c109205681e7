package symbolicate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"symbolon/internal/ident"
	"symbolon/internal/symbolicate"
	"symbolon/internal/trial/rig"
)

// TestSlowModuleDoesNotDelayOthers reads the modules as they are decided, and
// their frames, while another one is never decided.
func TestSlowModuleDoesNotDelayOthers(t *testing.T) {
	e := engine(t, symbolicate.Config{Deadline: -1})
	req := &symbolicate.Request{
		Modules: []ident.Module{rig.Module("slow.so"), rig.Module("a.so"), rig.Module("unasked.so"), rig.Module("gone.so"), rig.Module("b.so")},
		Bases:   []uint64{0, 0x10000, 0, 0, 0},
		Frames: []symbolicate.Frame{
			{Module: 0, Addr: 0x1000}, {Module: 1, Addr: 0x11000}, {Module: 1, Addr: 0x11011, Step: symbolicate.Before},
			{Module: 0, Addr: 0x1000}, {Module: 4, Addr: 0x1000}, {Module: 3, Addr: 0x1000},
		},
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	res := e.Begin(ctx, req)
	var told []int32
	for len(told) < 4 {
		next, more := res.Next()
		if !more {
			t.Fatalf("no more than %v", told)
		}
		told = append(told, next...)
	}
	if told[0] != 2 || slices.Contains(told, 0) {
		t.Errorf("decided: %v", told)
	}
	name := func(i int) string {
		calls, err := res.Frames(i)
		if err != nil || len(calls) != 1 {
			return fmt.Sprint(calls, err)
		}
		text, _ := res.AppendText(nil, req.Frames[i].Module, calls[0].Func)
		return string(text)
	}
	res.Open(4, 6)
	if got := name(4); got != "one_b.so" {
		t.Errorf("b.so: %s", got)
	}
	if calls, err := res.Frames(5); len(calls) > 0 || err != nil {
		t.Errorf("gone.so: %v, %v", calls, err)
	}
	res.Open(1, 3) // before those that were answered
	if a, b := name(1), name(2); a != "one_a.so" || b != "two_a.so" {
		t.Errorf("a.so: %s, %s", a, b)
	}
	begun := time.Now()
	leave()
	if next, _ := res.Next(); len(next) != 1 || next[0] != 0 || res.Modules[0].Found {
		t.Errorf("decided at the end: %v", next)
	}
	if next, more := res.Next(); len(next) > 0 || more {
		t.Errorf("told afterwards: %v", next)
	}
	res.Release()
	if spent := time.Since(begun); spent > 5*time.Second {
		t.Errorf("a canceled caller waited %v", spent)
	}
}

// TestReleaseDoesNotWait releases a result while modules are pending.
func TestReleaseDoesNotWait(t *testing.T) {
	e := engine(t, symbolicate.Config{})
	req := &symbolicate.Request{Modules: []ident.Module{rig.Module("slow.so"), rig.Module("a.so")}, Frames: []symbolicate.Frame{{Module: 0}, {Module: 1, Addr: 0x1000}}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Begin(t.Context(), req).Release()
		e.Begin(t.Context(), &symbolicate.Request{}).Release()
		ctx, leave := context.WithCancelCause(t.Context())
		leave(errors.New("left"))
		res := e.Begin(ctx, req)
		if err := res.All(ctx); err == nil || err.Error() != "left" {
			t.Errorf("all: %v", err)
		}
		res.Release()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("they wait")
	}
}
