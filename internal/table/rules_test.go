package table_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/table"
	"symbolon/internal/trial/rig"
	"symbolon/internal/unwind/rule"
)

// unwindFile is file with unwind information.
const unwindFile = file + "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI INIT 2000 10 invalid\n"

// serveSym serves body as the .sym file, and counts how often.
func serveSym(body string, count *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".sym") {
			http.NotFound(w, r)
			return
		}
		count.Add(1)
		fmt.Fprint(w, body)
	}
}

// stack is memory whose words are their addresses.
type stack struct{}

func (stack) ReadAt(dst []byte, addr uint64) int {
	for i := range dst {
		dst[i] = byte(addr >> (8 * i))
	}
	return len(dst)
}

// callers formats the callers of frames at some addresses.
func callers(r table.Rules) (out []string) {
	cpu := rule.For(ident.ArchX86_64)
	for _, addr := range []uint64{0xfff, 0x1000, 0x1001, 0x103f, 0x1040, 0x2000} {
		var callee rule.Registers
		callee.Set(cpu.SP, 0x8000)
		c, outcome, _ := r.Row(addr).Eval(cpu, &callee, stack{}, false, rule.Windows{})
		pc, _ := c.Get(cpu.PC)
		out = append(out, fmt.Sprintf("%x: %s %x", addr, outcome, pc))
	}
	return out
}

var wantCallers = []string{"fff: failed 0", "1000: found 8000", "1001: found 8008", "103f: found 8008", "1040: failed 0", "2000: failed 0"}

func TestNamesAndUnwindInformationComeFromOneFetch(t *testing.T) {
	var fetched atomic.Int32
	b := newBench(t, serveSym(unwindFile, &fetched))
	tables, stop := b.start(t)
	defer stop()
	m := rig.Module("a.so")
	r, report := tables.Unwind(t.Context(), m)
	if r == nil {
		t.Fatal(report.Fault)
	}
	defer r.Close()
	h, report := tables.Symbols(t.Context(), m, locate.SymFirst)
	if h == nil {
		t.Fatal(report.Fault)
	}
	defer h.Close()
	if n := fetched.Load(); n != 1 {
		t.Errorf("the file was fetched %d times, want once", n)
	}
	if got := callers(r); !r.HasRules() || fmt.Sprint(got) != fmt.Sprint(wantCallers) {
		t.Errorf("got %q, want %q", got, wantCallers)
	}
	if f := h.Lookup(nil, 0x1000); len(f) != 1 || text(h, f[0].Func) != "outer" {
		t.Errorf("got frames %+v", f)
	}
}

func TestModuleWithoutUnwindInformation(t *testing.T) {
	b := newBench(t, serveSym(file, new(atomic.Int32)))
	tables, stop := b.start(t)
	defer stop()
	for range 2 { // the second time it is remembered
		if r, report := tables.Unwind(t.Context(), rig.Module("a.so")); r != nil || report.Fault == nil {
			t.Errorf("got rules %v, fault %v", r != nil, report.Fault)
		}
	}
}
