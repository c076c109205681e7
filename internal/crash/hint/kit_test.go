//go:build kit

package hint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/crash/hint"
	"symbolon/internal/crash/reason"
	"symbolon/internal/format/minidump"
	"symbolon/internal/unwind/rule"
)

// hints are the parts of rust-minidump's crash_info that the package computes.
type hints struct {
	Instruction *string
	Accesses    []struct {
		Address string
		Size    *int
		Type    string `json:"access_type"`
		Guard   bool   `json:"is_likely_guard_page"`
	} `json:"memory_accesses"`
	Update   *struct{ Address string }               `json:"instruction_pointer_update"`
	Adjusted *struct{ Kind, Address, Offset string } `json:"adjusted_address"`
	Flips    []flip                                  `json:"possible_bit_flips"`
	Wrong    []string                                `json:"crash_inconsistencies"`
}

type flip struct {
	Address    string
	Register   *string `json:"source_register"`
	Confidence float32
	Details    struct {
		WasNonCanonical bool `json:"was_non_canonical"`
		IsNull          bool `json:"is_null"`
		WasLow          bool `json:"was_low"`
		Nearby          int  `json:"nearby_registers"`
		HasPoison       bool `json:"poison_registers"`
	}
}

// better has the dumps with more, or other, hints than rust-minidump's.
var better = map[string]string{
	"linux-amd64-closed-plugin": "a jump to an unloaded module: zeros in the dump are not an instruction",
	"linux-x86-cfi":             "x86 is analyzed",
	"windows-x86-fpo":           "x86 is analyzed",
	"synth-windows-streams":     "a guard page does not allow a write",
}

// The kit, which SYMBOLON_CONFORMANCE names, has recorded the hints of rust-minidump
// for its dumps.
func TestHintsOfTheKit(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("SYMBOLON_CONFORMANCE"), "crash", "cases", "*", "stackwalk.json"))
	if err != nil || len(files) < 90 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	var overflows []string
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		text, err := os.ReadFile(file)
		var peer struct {
			Info hints `json:"crash_info"`
		}
		if err == nil {
			err = json.Unmarshal(text, &peer)
		}
		dump, err2 := os.ReadFile(filepath.Join(filepath.Dir(file), "dump.dmp"))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		c, ok := crash(t, dump)
		if !ok {
			continue
		}
		got := hint.Analyze(c)
		if got.StackOverflow {
			overflows = append(overflows, name)
		}
		if got.ExecutableStack {
			t.Errorf("%s: the stack is executable", name)
		}
		if diff := compare(&peer.Info, &got, c.CPU.Word); (diff != "") != (better[name] != "") {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if want := []string{"linux-amd64-overflow", "linux-amd64-writer-overflow", "synth-windows-exc-stack-overflow", "synth-windows-streams"}; !slices.Equal(overflows, want) {
		t.Errorf("overflows of the stack: %v, not %v", overflows, want)
	}
}

// crash reads the crash of a dump.
func crash(t *testing.T, dump []byte) (c hint.Crash, ok bool) {
	t.Helper()
	f, err := minidump.Open(bin.Bytes(dump))
	if err != nil {
		t.Fatal(err)
	}
	cpu := rule.For(f.System.Arch)
	if f.Exception == nil || cpu == nil {
		return c, false
	}
	e := reason.Exception{Arch: f.System.Arch, Code: f.Exception.Code, Flags: f.Exception.Flags, Address: f.Exception.Address}
	e.Count = copy(e.Params[:], f.Exception.Parameters)
	e.System = map[minidump.OS]reason.System{
		minidump.Windows: reason.Windows, minidump.Linux: reason.Linux, minidump.Android: reason.Linux,
		minidump.MacOS: reason.Apple, minidump.IOS: reason.Apple,
	}[f.System.OS]
	var registers rule.Registers
	if context, err := f.Context(f.Exception.Context); err == nil {
		for _, r := range context {
			if number, ok := cpu.Reg(r.Name); ok {
				registers.Set(number, r.Value)
			}
		}
	}
	c = hint.Crash{CPU: cpu, Registers: &registers, Exception: &e, Memory: f.Memory}
	for _, m := range f.Mappings {
		if m.IsMapped && m.Size > 0 {
			c.Regions = append(c.Regions, hint.Region{Start: m.Addr, End: m.Addr + m.Size - 1, Protection: m.Protection})
		}
	}
	return c, true
}

// compare describes the first difference between a peer's hints and ours.
func compare(peer *hints, got *hint.Hints, word int) string {
	hex := func(v uint64) string { return fmt.Sprintf("0x%0*x", 2*word, v) }
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	if text(peer.Instruction) != got.Instruction {
		return "instruction " + got.Instruction
	}
	if len(peer.Accesses) != len(got.Accesses) || (peer.Accesses == nil) != (got.Accesses == nil) {
		return fmt.Sprint("accesses ", got.Accesses)
	}
	for i, a := range peer.Accesses {
		if b := got.Accesses[i]; a.Address != hex(b.Address) || *a.Size != b.Size || a.Guard != b.Guard || a.Type != "" && a.Type != string(b.Kind) {
			return fmt.Sprint("access ", b)
		}
	}
	if (peer.Update == nil) != (got.Update == nil) || got.Update != nil && peer.Update.Address != hex(*got.Update) {
		return "update"
	}
	if peer.Adjusted == nil != (got.Adjusted == "") {
		return "adjusted " + string(got.Adjusted)
	}
	if p := peer.Adjusted; p != nil && (p.Kind != string(got.Adjusted) || p.Address+p.Offset != hex(got.Address)) {
		return "adjusted " + string(got.Adjusted) + hex(got.Address)
	}
	var flips []flip
	for _, f := range got.Flips {
		x := flip{Address: hex(f.Address), Confidence: f.Confidence}
		if f.Register != "" {
			x.Register = &f.Register
		}
		d := &x.Details
		d.WasNonCanonical, d.IsNull, d.WasLow, d.Nearby, d.HasPoison = f.WasNonCanonical, f.IsNull, f.WasLow, f.Nearby, f.HasPoison
		flips = append(flips, x)
	}
	if !reflect.DeepEqual(flips, peer.Flips) {
		return fmt.Sprint("flips ", got.Flips)
	}
	if !slices.EqualFunc(peer.Wrong, got.Inconsistencies, func(a string, b hint.Inconsistency) bool { return a == string(b) }) {
		return fmt.Sprint("inconsistencies ", got.Inconsistencies)
	}
	return ""
}
