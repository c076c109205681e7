package text_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/crash"
	"symbolon/internal/crash/text"
	"symbolon/internal/fixture"
	"symbolon/internal/symbolicate"
	"symbolon/internal/trial/rig"
)

func FuzzWrite(f *testing.F) {
	for _, cpu := range []uint16{fixture.DumpAMD64, fixture.DumpX86, fixture.DumpARM64, fixture.DumpMIPS, fixture.DumpPPC, fixture.DumpSPARC} {
		d := &fixture.Minidump{Order: binary.LittleEndian, CPU: cpu, OS: fixture.DumpWindows, Version: [3]uint32{10, 0, 1}}
		d.System()
		context := d.Context(nil)
		d.Threads(fixture.DumpThread{ID: 1, StackAddr: 0x1000, Stack: make([]byte, 64), Context: context}, fixture.DumpThread{ID: 2})
		d.Modules(fixture.DumpModule{Base: 0x400000, Size: 0x1000, Name: "a|b\n\x1b[31m", Record: d.PDB70([16]byte{1}, 1, "a.pdb")})
		d.Unloaded(fixture.DumpModule{Size: 0x100, Name: `C:\gone.dll`})
		d.Stream(fixture.DumpSoftErrors, `[{"code":7}]`)
		d.Exception(fixture.DumpCrash{Thread: 1, Code: 0xc0000005, Params: []uint64{0, 8}, Context: context})
		f.Add(d.Bytes())
	}
	tables := rig.Open(f, rig.Options{}).Tables
	p := crash.New(crash.Deps{Engine: symbolicate.New(symbolicate.Config{}, tables, time.Now), Tables: tables})
	f.Fuzz(func(t *testing.T, file []byte) {
		d, _, err := crash.Open(bin.Bytes(file))
		if err != nil || d == nil {
			return
		}
		r, err := p.Process(t.Context(), d, crash.Options{Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		for name, write := range map[string]func(b *bytes.Buffer) error{
			"human": func(b *bytes.Buffer) error {
				return text.WriteHuman(b, r, text.Options{Explain: true, Now: time.Unix(1, 0)})
			},
			"brief":    func(b *bytes.Buffer) error { return text.WriteBreakpad(b, r, text.BreakpadOptions{Brief: true}) },
			"Breakpad": func(b *bytes.Buffer) error { return text.WriteBreakpad(b, r, text.BreakpadOptions{}) },
			"machine":  func(b *bytes.Buffer) error { return text.WriteMachine(b, r) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if bytes.ContainsAny(b.Bytes(), "\x1b\x00\r") {
				t.Errorf("%s has control characters: %q", name, &b)
			}
		}
	})
}
