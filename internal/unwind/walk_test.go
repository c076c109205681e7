package unwind_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/unwind"
)

// Functions of the first module that tests use; they have no unwind information.
const named = "FUNC 1000 100 0 one\nFUNC 2000 100 0 two\nFUNC 3000 100 0 three\n"

func TestThreadWithoutStackHasOneFrame(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=0 rbp=0", first: named}.expect(t, "40001010 context")
}

func TestWithoutProgramCounterThereAreNoFrames(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rsp=80000000", first: named}.expect(t, "")
}

func TestFramePointersAreFollowed(t *testing.T) {
	for _, c := range []struct {
		name  string
		scene scene
	}{
		{"amd64", scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000 rbp=80000010",
			stack: at(16, 2, slot64(8), 3, 0x40002010, 8, slot64(12), 9, 0x40003010)}},
		{"x86", scene{arch: ident.ArchX86, regs: "eip=40001010 esp=80000000 ebp=80000008",
			stack: at(16, 2, slot32(8), 3, 0x40002010, 8, slot32(12), 9, 0x40003010)}},
		{"arm64", scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000010 lr=40001008",
			stack: at(16, 2, slot64(8), 3, 0x40002010, 8, 0, 9, 0x40003010)}},
		{"arm of Apple", scene{arch: ident.ArchARMv7, system: "apple", regs: "pc=40001010 sp=80000000 r7=80000008",
			stack: at(16, 2, slot32(8), 3, 0x40002010, 8, 0, 9, 0x40003010)}},
		{"riscv64", scene{arch: ident.ArchRISCV64, regs: "pc=40001010 sp=80000000 s0=80000020",
			stack: at(16, 2, slot64(10), 3, 0x40002010, 8, slot64(14), 9, 0x40003010)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.scene.first = named
			c.scene.expect(t, "40001010 context, 40002010 frame_pointer, 40003010 frame_pointer")
		})
	}
}

func TestFramePointerThatPointsToItselfEndsTheChain(t *testing.T) {
	for _, arch := range []ident.Arch{ident.ArchX86_64, ident.ArchARM64} {
		names := map[ident.Arch]string{ident.ArchX86_64: "rip=40001010 rsp=80000000 rbp=80000010", ident.ArchARM64: "pc=40001010 sp=80000000 fp=80000010"}
		s := scene{arch: arch, regs: names[arch], first: named, stack: at(8, 2, slot64(2), 3, 0x40002010)}
		if got := strings.Count(s.walk(t), "frame_pointer"); got > 1 {
			t.Errorf("%v: %d frames by frame pointers, want at most 1", arch, got)
		}
	}
}

func TestFramePointerNearTheEndOfMemoryIsRefused(t *testing.T) {
	scene{arch: ident.ArchX86, regs: "eip=40001010 esp=80000000 ebp=fffffff8", first: named, stack: at(8)}.expect(t, "40001010 context")
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000 rbp=fffffffffffffff8", first: named, stack: at(8)}.expect(t, "40001010 context")
	scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=fffffffffffffff8", first: named, stack: at(8)}.expect(t, "40001010 context")
}

func TestFramePointerOfWindowsMayBeInsideOfTheFrame(t *testing.T) {
	for _, offset := range []uint64{0, 16, 240, 256} {
		want := "40001010 context, 40002010 frame_pointer"
		if offset > 240 {
			want = "40001010 context"
		}
		i := 2 + offset/8
		scene{arch: ident.ArchX86_64, system: "windows", regs: "rip=40001010 rsp=80000000 rbp=80000010", first: named,
			// The scan, which would find it as well, stops at memory that is missing.
			stack: at(int(i)+2, i, slot64(i+1), i+1, 0x40002010)}.expectTrust(t, want, offset)
	}
}

// expectTrust is expect for frames that a scan may find too.
func (s scene) expectTrust(t *testing.T, want string, offset uint64) {
	t.Helper()
	got := strings.ReplaceAll(strings.TrimSpace(s.walk(t)), "\n", ", ")
	got, _, _ = strings.Cut(got, ", 40002010 scan")
	if got != want {
		t.Errorf("offset %d: got %s, want %s", offset, got, want)
	}
}

func TestFramePointerOfAnOuterFunctionDoesNotSkipFrames(t *testing.T) {
	// RBP is that of a function further out, in which it has a number.
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000 rbp=80000040", first: named,
		stack: at(16, 1, 0x40002010, 8, 3, 9, 0x40003010)}.expect(t, "40001010 context, 40002010 scan, 40003010 scan")
}

func TestScanFindsReturnAddresses(t *testing.T) {
	for _, c := range []struct {
		arch ident.Arch
		regs string
	}{
		{ident.ArchX86, "eip=40001010 esp=80000000 ebp=1"}, {ident.ArchX86_64, "rip=40001010 rsp=80000000 rbp=1"},
		{ident.ArchARM, "pc=40001010 sp=80000000 fp=1"}, {ident.ArchARM64, "pc=40001010 sp=80000000 fp=1"},
		{ident.ArchMIPS, "pc=40001010 sp=80000000"}, {ident.ArchMIPS64, "pc=40001010 sp=80000000"},
		{ident.ArchRISCV64, "pc=40001010 sp=80000000 s0=1"},
	} {
		s := scene{arch: c.arch, regs: c.regs, stack: at(32, 1, 0x90000000, 3, 0x40009010, 9, 0x40002010, 20, 0x40003010)}
		t.Run(fmt.Sprint(c.arch, " with symbols"), func(t *testing.T) {
			s.first = named
			s.expect(t, "40001010 context, 40002010 scan, 40003010 scan")
		})
		t.Run(fmt.Sprint(c.arch, " without"), func(t *testing.T) {
			s.first = ""
			s.expect(t, "40001010 context, 40009010 scan, 40002010 scan, 40003010 scan")
		})
	}
}

func TestScanAfterAGuessIsShort(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named,
		stack: at(300, 159, 0x40002010, 199, 0x40003010, 240, 0x40003020)}.
		expect(t, "40001010 context, 40002010 scan, 40003010 scan")
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named, stack: at(300, 160, 0x40002010)}.
		expect(t, "40001010 context")
}

func TestFarReturnAddressIsFoundIfUnwindInformationConfirmsIt(t *testing.T) {
	confirmed := "STACK CFI INIT 4000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named + confirmed,
		stack: at(2000, 500, 0x40004010, 502, 0x40004020, 504, 0x40004030, 506, 0x40004040)}.
		expect(t, "40001010 context, 40004010 scan, 40004020 cfi, 40004030 cfi, 40004040 cfi")
}

func TestScanSkipsAReturnAddressWhoseOwnCallersAreRefused(t *testing.T) {
	stale := "STACK CFI INIT 4000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named + stale, second: "FUNC 1000 10 0 other\n",
		stack: at(16, 1, 0x40004010, 3, 0x50007777, 5, 0x40002010)}.
		expect(t, "40001010 context, 40002010 scan")
}

func TestScanSkipsACopyOfTheProgramCounter(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named, stack: at(16, 1, 0x40001010, 5, 0x40002010)}.
		expect(t, "40001010 context, 40002010 scan")
}

func TestScanIsBetweenFramesOfUnwindInformation(t *testing.T) {
	rules := "STACK CFI INIT 2000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	scene{arch: ident.ArchX86_64, regs: "rip=40002010 rsp=80000000", first: rules + "FUNC 1000 100 0 one\nFUNC 2000 100 0 two\n",
		second: "FUNC 1000 100 0 other\n",
		stack:  at(16, 1, 0x50001010, 4, 0x40002020, 6, 0x50001020)}.
		expect(t, "40002010 context, 50001010 cfi, 40002020 scan, 50001020 cfi")
}

func TestScanRecoversTheFramePointerThatCallersPush(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000 rbp=80000018", first: named,
		// The frame pointer's link is refused: it does not point to the stack's words.
		stack: at(32, 3, slot64(16), 4, 0x40002010, 16, slot64(20), 17, 0x40003010)}.
		expect(t, "40001010 context, 40002010 frame_pointer, 40003010 frame_pointer")
}

func TestReturnAddressOfALeafIsInItsRegister(t *testing.T) {
	// Breakpad's two cases: with and without a change of the stack.
	for _, lr := range []string{"40002010", "7d000040002010"} {
		scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000010 lr=" + lr, first: named, top: 1 << 40,
			stack: at(16, 2, 0, 3, 0x40003010)}.
			expect(t, "40001010 context, 40002010 frame_pointer, 40003010 frame_pointer")
	}
}

func TestLinkRegisterIsIgnoredAfterACall(t *testing.T) {
	scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000010 lr=40001008", first: named, stack: at(16, 2, 0, 3, 0x40002010)}.
		expect(t, "40001010 context, 40002010 frame_pointer")
	// It was saved, and no call was made since.
	scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000010 lr=40002010", first: named, stack: at(16, 2, 0, 3, 0x40002010)}.
		expect(t, "40001010 context, 40002010 frame_pointer")
}

func TestLinkRegisterIsComparedWithTheCallBeforeIt(t *testing.T) {
	// BL at 40002010-4 of another function: what that one had called, on a CPU that returns by POP.
	s := scene{arch: ident.ArchARM, regs: "pc=40001010 sp=80000000 fp=1 lr=40002010", first: named, stack: at(16, 3, 0x40003010),
		code: map[uint64]string{0x4000200c: "\xfb\x03\x00\xeb"}}
	s.expect(t, "40001010 context, 40003010 scan")
	s.code[0x4000200c] = "\xfb\xfb\xff\xeb" // BL of the function itself
	s.expect(t, "40001010 context, 40002010 frame_pointer, 40003010 scan")
}

func TestLinkRegisterIsUsedAtTheStartOfAFunction(t *testing.T) {
	// The function calls itself: its link register is in itself.
	scene{arch: ident.ArchARM64, regs: "pc=40001000 sp=80000000 fp=80000010 lr=40001008", first: named, stack: at(16, 2, 0, 3, 0x40002010)}.
		expect(t, "40001000 context, 40001008 frame_pointer, 40002010 frame_pointer")
}

func TestNullFramePointerIsNotTheEndIfACallIsCertain(t *testing.T) {
	s := scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000010 lr=40001008", first: named, stack: at(16, 2, 0, 3, 0x40002010, 5, 0x40003010)}
	s.expect(t, "40001010 context, 40002010 frame_pointer")
	s.code = map[uint64]string{0x4000300c: "\xfd\xfb\xff\x97"} // BL of the second function
	s.expect(t, "40001010 context, 40002010 frame_pointer, 40003010 scan")
}

func TestLinkRegisterIsUsedAfterACallOfAWrongPointer(t *testing.T) {
	scene{arch: ident.ArchARM64, regs: "pc=18 sp=80000000 fp=80000010 lr=40002010", first: named, stack: at(16, 2, 0, 3, 0x40003010)}.
		expect(t, "18 context, 40002010 frame_pointer, 40003010 frame_pointer")
	scene{arch: ident.ArchARM, regs: "pc=0 sp=80000000 fp=0 lr=40002011", first: named, stack: at(16, 3, 0x40003011)}.
		expect(t, "0 context, 40002011 frame_pointer, 40003011 scan")
}

func TestWordAtTheStackPointerIsUsedAfterACallOfAWrongPointer(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=0 rsp=80000000 rbp=80000020", first: named, stack: at(16, 0, 0x40002010, 4, slot64(8), 5, 0x40003010)}.
		expect(t, "0 context, 40002010 frame_pointer, 40003010 frame_pointer")
	scene{arch: ident.ArchX86, regs: "eip=1234 esp=80000000 ebp=80000010", first: named, stack: at(16, 0, 0x40002010, 4, slot32(8), 5, 0x40003010)}.
		expect(t, "1234 context, 40002010 frame_pointer, 40003010 frame_pointer")
}

func TestWordAtTheStackPointerIsUsedAtTheStartOfAFunction(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40001000 rsp=80000000 rbp=80000020", first: named, stack: at(16, 0, 0x40002010, 4, slot64(8), 5, 0x40003010)}.
		expect(t, "40001000 context, 40002010 frame_pointer, 40003010 frame_pointer")
}

func TestPointerAuthenticationIsRemoved(t *testing.T) {
	const signed = 0x1b7e << 48
	rules := "STACK CFI INIT 1000 100 .cfa: sp 32 + x29: .cfa -32 + ^ .ra: .cfa -24 + ^\n"
	t.Run("unwind information", func(t *testing.T) {
		scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000", first: named + rules, top: 1 << 47,
			stack: at(16, 0, signed|slot64(4), 1, signed|0x40002010, 4, 0, 5, signed|0x40003010)}.
			expect(t, "40001010 context, 40002010 cfi, 40003010 frame_pointer")
	})
	t.Run("frame pointer", func(t *testing.T) {
		scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000000", first: named, top: 1 << 47,
			stack: at(16, 0, signed|slot64(4), 1, signed|0x40002010, 4, 0, 5, signed|0x40003010)}.
			expect(t, "40001010 context, 40002010 frame_pointer, 40003010 frame_pointer")
	})
	t.Run("scan", func(t *testing.T) {
		scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=1", first: named, top: 1 << 47,
			stack: at(16, 3, signed|0x40002010)}.
			expect(t, "40001010 context, 40002010 scan")
	})
}

func TestCodeOutsideOfModulesIsBelievedIfItIsExecutable(t *testing.T) {
	rules := "STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	s := scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000 rbp=80000020", first: named + rules,
		stack: at(16, 1, anonymous+0x10, 4, slot64(8), 5, 0x40002010)}
	s.expect(t, "40001010 context, 60000010 cfi, 40002010 frame_pointer")
	s.stack[1] = 0x70000010
	s.expect(t, "40001010 context, 40002010 cfi_scan")
}

func TestFramesAreCapped(t *testing.T) {
	rules := "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	stack := make([]uint64, 5000)
	for i := range stack {
		stack[i] = 0x40001010
	}
	s := scene{arch: ident.ArchX86_64, regs: "rip=40001018 rsp=80000000", first: rules, stack: stack}
	if got := strings.Count(s.walk(t), "\n"); got != 4096 {
		t.Errorf("%d frames, want 4096", got)
	}
	s.options.Frames = 7
	if got := strings.Count(s.walk(t), "\n"); got != 7 {
		t.Errorf("%d frames, want the 7 of the options", got)
	}
}

func TestScansOfAllThreadsAreBounded(t *testing.T) {
	s := scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named, stack: at(2049, 0, 0x40002010)}
	p, regs := s.process(t)
	if got := len(p.Walk(regs, unwind.Options{})); got != 2 {
		t.Errorf("got %d frames of the first thread, want 2", got)
	}
	empty := regs
	empty.Set(p.CPU.SP, stackBase+8)
	for range 1<<13 + 1 {
		p.Walk(empty, unwind.Options{})
	}
	if got := len(p.Walk(regs, unwind.Options{})); got != 1 {
		t.Errorf("got %d frames after scans of 16 million words, want 1", got)
	}
}

func TestLookupIsInTheCall(t *testing.T) {
	for _, c := range []struct {
		arch ident.Arch
		regs string
		step uint64
	}{
		{ident.ArchX86, "eip=40001010 esp=80000000", 1}, {ident.ArchX86_64, "rip=40001010 rsp=80000000", 1},
		{ident.ArchARM, "pc=40001010 sp=80000000", 2}, {ident.ArchARM64, "pc=40001010 sp=80000000", 4},
		{ident.ArchMIPS, "pc=40001010 sp=80000000", 8},
	} {
		p, regs := scene{arch: c.arch, regs: c.regs, first: named, stack: at(16, 3, 0x40002010)}.process(t)
		frames := p.Walk(regs, unwind.Options{})
		if len(frames) != 2 || frames[0].Lookup != 0x40001010 || frames[1].Lookup != 0x40002010-c.step {
			t.Errorf("%v: frames %v, want the address %d before the return address", c.arch, frames, c.step)
		}
	}
}

func TestReasonsAreGivenIfAskedFor(t *testing.T) {
	rules := "STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	p, regs := scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named + rules, stack: at(16, 1, 0x70000010, 4, 0x40002010)}.process(t)
	frames := p.Walk(regs, unwind.Options{Explain: true})
	got := fmt.Sprint(frames[1].Why)
	for _, want := range []string{"unwind information: 0x70000010: in no module", "found by stack scan"} {
		if !strings.Contains(got, want) {
			t.Errorf("reasons %s, want %q among them", got, want)
		}
	}
	if frames = p.Walk(regs, unwind.Options{}); frames[1].Why != nil {
		t.Errorf("reasons %q without the option", frames[1].Why)
	}
}

// why returns the reasons of frame i.
func (s scene) why(t *testing.T, i int) string {
	t.Helper()
	p, regs := s.process(t)
	s.options.Explain = true
	return strings.Join(p.Walk(regs, s.options)[i].Why, "; ")
}

func TestReasonsOfFrames(t *testing.T) {
	chain := at(16, 2, slot64(8), 3, 0x40002010, 8, slot64(12), 9, 0x40003010)
	limited := scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000 rbp=80000010", first: named, stack: chain,
		options: unwind.Options{Frames: 2}}
	interrupted := scene{arch: ident.ArchX86_64, regs: "rip=40003010 rsp=80000000", first: named + "PUBLIC 5000 0 __restore_rt\n",
		stack: signalFrame(8, 8+168, 0x40002000, 8+160, otherStack), other: at(16)}
	interrupted.stack[0] = 0x40005000
	restored := scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000020 lr=40002010", stack: at(16, 4, 0, 5, 0x40003010),
		first: named + "STACK CFI INIT 1000 100 .cfa: x29 16 + x29: .cfa -16 + ^ .ra: .cfa -8 + ^\n"}
	for name, x := range map[string]struct {
		scene scene
		frame int
		want  string
	}{
		"at the limit":             {limited, 1, "found by frame pointer; end of the walk: 0x40002010: the limit of 2 frames"},
		"interrupted by a signal":  {interrupted, 2, "found by saved registers of the signal; "},
		"with corrected registers": {restored, 1, "found by link register"},
	} {
		if got := x.scene.why(t, x.frame); !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: got %q, want %q", name, got, x.want)
		}
	}
}
