package breakpad

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

const (
	// maxOverlap is how many FUNC records may be open where another begins.
	maxOverlap = 64
	// outerStep is how many FUNC records share a list of those around them.
	outerStep = 64
)

// file is an open Breakpad file.
type file struct {
	src     bin.Source
	in      object.Input
	whole   []byte // the content, if it is in memory
	ix      *breakpad.Index
	funcs   []breakpad.Span    // with size, by address, then place
	ends    []uint64           // the greatest end up to each of funcs; nil: none overlap
	outer   [][]int32          // of every 64th of funcs: those before it that reach into it; nil as ends
	empty   []breakpad.Symbol  // FUNC records without size, by address, the first at each
	publics []breakpad.Symbol  // by address, the first at each
	nowhere map[int64]struct{} // FILE records, by offset, that are not paths
	frames  [3]object.Pieces   // STACK WIN with a program, STACK WIN without one, STACK CFI
	names   names

	mu     sync.Mutex
	inside *breakpad.Report // damage that a complete run of blocks found in the functions
}

// Scanner makes the index of a file whose bytes it is written. It belongs to one
// goroutine.
type Scanner struct{ file breakpad.Scanner }

// NewScanner returns a Scanner at the beginning of a file.
func NewScanner() *Scanner { return &Scanner{} }

// Write takes the next bytes of the file. It never fails: Open reports damage.
func (s *Scanner) Write(p []byte) (int, error) { return s.file.Write(p) }

// Open opens the file that was written and is now in src.
func (s *Scanner) Open(src bin.Source, in object.Input) (*object.Object, error) {
	ix, err := s.file.Finish()
	if err != nil {
		return nil, err
	}
	id, err := parseID(ix.Module.ID)
	if err != nil {
		return nil, fault.New(fault.Malformed, "breakpad file, line 1", "no usable MODULE record: %w", err)
	}
	f := &file{src: src, in: in, ix: ix}
	f.whole, _ = bin.Whole(src)
	f.sortFuncs()
	f.publics, ix.Publics = sortSymbols(ix.Publics), nil
	f.findNowhere()
	f.sortFrames()
	return object.New(f.describe(id), f, in), nil
}

// parseID reads the id of a MODULE, which some writers leave the age off.
func parseID(text string) (ident.DebugID, error) {
	if id, err := ident.ParseBreakpadID(text); err == nil {
		return id, nil
	}
	return ident.ParseDebugID(text)
}

// sortFuncs sorts the functions, without those that are empty or nested too deeply.
func (f *file) sortFuncs() {
	byAddr := func(a, b breakpad.Span) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Off, b.Off))
	}
	f.funcs = slices.DeleteFunc(f.ix.Funcs, func(s breakpad.Span) bool {
		if s.End() > s.Addr {
			return false
		}
		f.empty = append(f.empty, breakpad.Symbol{Addr: s.Addr, Off: s.Off})
		return true
	})
	f.empty = sortSymbols(f.empty)
	f.ix.Funcs = nil
	if !slices.IsSortedFunc(f.funcs, byAddr) {
		slices.SortFunc(f.funcs, byAddr)
	}
	clean := true
	for i := 1; i < len(f.funcs) && clean; i++ {
		clean = f.funcs[i-1].End() <= f.funcs[i].Addr
	}
	if clean {
		return
	}
	var open []inlinee // heap of those that are open, by their ends
	kept := f.funcs[:0]
	for _, fn := range f.funcs {
		for len(open) > 0 && open[0].addr <= fn.Addr {
			_, open = object.Pop(open, inlinee.less)
		}
		if len(open) == maxOverlap {
			f.ix.Bad.Add(breakpad.TooDeep, fn.Line)
			continue
		}
		if len(kept)%outerStep == 0 {
			var list []int32
			for _, o := range open {
				list = append(list, o.rec)
			}
			f.outer = append(f.outer, list)
		}
		open = object.Push(open, inlinee{addr: fn.End(), rec: int32(len(kept))}, inlinee.less)
		kept = append(kept, fn)
	}
	f.funcs = kept
	f.ends = make([]uint64, len(f.funcs))
	var most uint64
	for i, fn := range f.funcs {
		most = max(most, fn.End())
		f.ends[i] = most
	}
}

// sortSymbols sorts by address and keeps the first at each.
func sortSymbols(list []breakpad.Symbol) []breakpad.Symbol {
	byAddr := func(a, b breakpad.Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Off, b.Off))
	}
	if !slices.IsSortedFunc(list, byAddr) {
		slices.SortFunc(list, byAddr)
	}
	return slices.CompactFunc(list, func(a, b breakpad.Symbol) bool { return a.Addr == b.Addr })
}

// findNowhere finds the FILE records that are not paths.
func (f *file) findNowhere() {
	var buf []byte
	for _, off := range f.ix.Vague {
		buf = f.AppendText(buf[:0], textOf(textFile, off))
		if len(object.CleanPath(buf, 0)) == 0 {
			if f.nowhere == nil {
				f.nowhere = make(map[int64]struct{})
			}
			f.nowhere[off] = struct{}{}
		}
	}
	f.ix.Vague = nil
}

// end returns the end of all functions up to i.
func (f *file) end(i int) uint64 {
	if f.ends != nil {
		return f.ends[i]
	}
	return f.funcs[i].End()
}

func (f *file) describe(id ident.DebugID) object.Info {
	m := f.ix.Module
	info := object.Info{
		Module: ident.Module{Type: typeOf(m.OS), Arch: ident.ParseArch(m.Arch), DebugFile: m.Name, DebugID: id},
		Kind:   "breakpad",
		Type:   "dbg",
		Counts: object.Counts{
			Functions: len(f.funcs), Publics: len(f.publics), Files: len(f.ix.Files),
			InlineOrigins: len(f.ix.Origins), Unwind: f.ix.Unwind,
		},
	}
	for _, i := range f.ix.Infos {
		switch {
		case i.Scope == "CODE_ID" && i.Header && info.Module.CodeID.IsZero():
			code, file, _ := strings.Cut(i.Text, " ")
			info.Module.CodeID, info.Module.CodeFile = ident.ParseCodeID(code), object.Valid(strings.TrimSpace(file))
		case i.Scope == "GENERATOR" && info.Producer == "":
			info.Producer = object.Valid(i.Text)
		}
	}
	info.Module.DebugFile = object.Valid(info.Module.DebugFile)
	if len(f.publics) > 0 {
		info.Features |= object.HasSymbols
	}
	if len(f.funcs) > 0 {
		info.Features |= object.HasDebug
	}
	if info.Counts.Unwind > 0 {
		info.Features |= object.HasUnwind
	}
	return info
}

// typeOf returns the binary format of an operating system as MODULE names it.
func typeOf(os string) ident.Type {
	switch strings.ToLower(os) {
	case "linux", "android":
		return ident.TypeELF
	case "mac", "ios":
		return ident.TypeMachO
	case "windows":
		return ident.TypePE
	}
	return ident.TypeUnknown
}

// Describe sums up the bad records that are known.
func (f *file) Describe(info *object.Info) int64 {
	var sum breakpad.Report
	sum.Merge(&f.ix.Bad)
	f.mu.Lock()
	if f.inside != nil {
		sum.Merge(f.inside)
	}
	f.mu.Unlock()
	for k, n := range sum.Counts {
		if n == 0 {
			continue
		}
		d := object.Damage{Kind: breakpad.Kind(k).String(), Count: n}
		for _, b := range sum.First {
			if int(b.Kind) == k {
				d.Lines = append(d.Lines, b.Line)
			}
		}
		info.Damage = append(info.Damage, d)
	}
	info.BadRecords += sum.Total()
	return f.ix.Footprint() + int64(cap(f.funcs))*32 + int64(cap(f.ends))*(8+4) + int64(cap(f.publics)+cap(f.empty))*16 +
		int64(cap(f.frames[0])+cap(f.frames[1])+cap(f.frames[2]))*24
}

// HasNativeLines marks the lines as lines of machine code.
func (f *file) HasNativeLines() {}

// identifyHead is how much of a file is read for its MODULE and INFO records.
const identifyHead = 4 << 10

// Identify returns the identifiers in the first lines of a file.
func Identify(src bin.Source) ([]ident.Module, error) {
	info, err := readHead(src)
	return []ident.Module{info.Module}, err
}

// readHead describes a file by its first lines.
func readHead(src bin.Source) (info object.Info, err error) {
	head, err := bin.Read(src, 0, int(min(src.Size(), identifyHead)))
	if err != nil {
		return info, err
	}
	var s breakpad.Scanner
	_, _ = s.Write(head[:bytes.LastIndexByte(head, '\n')+1]) // never fails
	ix, err := s.Finish()
	if err != nil {
		return info, err
	}
	id, err := parseID(ix.Module.ID)
	if err != nil {
		return info, err
	}
	info = (&file{ix: ix}).describe(id)
	info.Counts = object.Counts{}
	return info, nil
}
