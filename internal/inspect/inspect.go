// Package inspect describes the objects of a debug file, for people and as JSON.
package inspect

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/sym"
)

// readFunctions reads all functions of an object.
func readFunctions(ctx context.Context, o *object.Object) error {
	const relaxEach = 32 // blocks
	blocks := 0
	opt := object.BlockOptions{Workers: runtime.GOMAXPROCS(0), Scratch: scratch.Dir(os.TempDir())}
	return o.Blocks(opt, func(*sym.Block) error {
		if blocks++; blocks%relaxEach == 0 {
			o.Relax()
		}
		return ctx.Err()
	})
}

// A Description describes an object. Its JSON is that of the command inspect.
type Description struct {
	Format      string      `json:"format"`
	Name        string      `json:"name,omitempty"`
	Kind        string      `json:"kind"`
	Arch        string      `json:"arch"`
	DebugFile   string      `json:"debug_file,omitempty"`
	DebugID     string      `json:"debug_id"`
	BreakpadID  string      `json:"breakpad_id,omitempty"`
	CodeFile    string      `json:"code_file,omitempty"`
	CodeID      string      `json:"code_id,omitempty"`
	LoadAddress string      `json:"load_address"`
	Overlapping int         `json:"overlapping_sections,omitempty"`
	Symbols     bool        `json:"has_symbols"`
	Debug       bool        `json:"has_debug_info"`
	Unwind      bool        `json:"has_unwind_info"`
	Sources     bool        `json:"has_sources"`
	Producer    string      `json:"producer,omitempty"`
	Needs       []need      `json:"needs,omitempty"`
	Functions   int         `json:"functions"`
	Publics     int         `json:"symbols"`
	Bad         uint64      `json:"bad_records"`
	BadList     []badRecord `json:"bad_records_by_kind,omitempty"`
}

// A need is a file that has parts of the debug information of an object.
type need struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	ID   string `json:"id,omitempty"`
}

// A badRecord is the number of invalid records of a kind, and the places of some.
type badRecord struct {
	Kind   string   `json:"kind"`
	Count  uint64   `json:"count"`
	Lines  []uint32 `json:"first_lines,omitempty"`
	Places []string `json:"first_places,omitempty"`
}

// Object describes an object. It reads all functions, to count them and to find the
// damage in them.
func Object(ctx context.Context, o *object.Object) (*Description, error) {
	if err := readFunctions(ctx, o); err != nil {
		return nil, err
	}
	return describe(o.Info(), o.Needs()), nil
}

func describe(info object.Info, needs []object.Need) *Description {
	has := func(f object.Features) bool { return info.Features&f != 0 }
	x := &Description{
		Format: info.Kind, Name: info.Name, Kind: info.Type, Arch: info.Module.Arch.String(),
		DebugFile: info.Module.DebugFile, DebugID: info.Module.DebugID.String(), BreakpadID: info.Module.DebugID.Breakpad(),
		CodeFile: info.Module.CodeFile, CodeID: info.Module.CodeID.String(),
		LoadAddress: fmt.Sprintf("0x%x", info.LoadAddress), Overlapping: info.Overlapping,
		Symbols: has(object.HasSymbols), Debug: has(object.HasDebug), Unwind: has(object.HasUnwind), Sources: has(object.HasSources),
		Producer: info.Producer, Functions: info.Counts.Functions, Publics: info.Counts.Publics, Bad: info.BadRecords,
	}
	if info.Module.DebugID.IsZero() {
		x.DebugID, x.BreakpadID = "", ""
	}
	for _, n := range needs {
		name := n.Name
		if n.Member != "" {
			name += "(" + n.Member + ")"
		}
		x.Needs = append(x.Needs, need{n.Kind.String(), name, fmt.Sprintf("%x", n.ID)})
	}
	for _, d := range info.Damage {
		x.BadList = append(x.BadList, badRecord{d.Kind, d.Count, d.Lines, d.Places})
	}
	return x
}

// WriteText writes the description for people.
func (x *Description) WriteText(w io.Writer) {
	line := func(label, value string) {
		if value != "" {
			console.Printf(w, "%-13s %s\n", label, console.Printable(value))
		}
	}
	line("name", x.Name)
	line("format", x.Format+", "+x.Kind)
	line("arch", x.Arch)
	line("debug file", x.DebugFile)
	if x.DebugID != "" {
		line("debug id", x.DebugID+"  (Breakpad: "+x.BreakpadID+")")
	}
	line("code file", x.CodeFile)
	line("code id", x.CodeID)
	line("load address", x.LoadAddress)
	if x.Overlapping > 0 {
		line("code", fmt.Sprintf("%d sections that begin at address 0", x.Overlapping))
	}
	line("producer", x.Producer)
	console.Printf(w, "%-13s %s, %s\n", "has", console.Count(x.Functions, "function"), console.Count(x.Publics, "public symbol"))
	for _, f := range []struct {
		has  bool
		text string
	}{{x.Debug, "debug information"}, {x.Symbols, "symbol table"}, {x.Unwind, "unwind information"}, {x.Sources, "sources"}} {
		if f.has {
			console.Printf(w, "%-13s %s\n", "", f.text)
		}
	}
	for _, n := range x.Needs {
		line("needs", strings.Join(slices.DeleteFunc([]string{n.Kind, n.Name, n.ID}, func(s string) bool { return s == "" }), " "))
	}
	if x.Bad > 0 {
		console.Printf(w, "%-13s %d\n", "bad records", x.Bad)
		for _, b := range x.BadList {
			if len(b.Lines) > 0 {
				console.Printf(w, "%-13s %s: %d, the first in lines %s\n", "", b.Kind, b.Count, strings.Trim(fmt.Sprint(b.Lines), "[]"))
				continue
			}
			console.Printf(w, "%-13s %s: %d\n", "", b.Kind, b.Count)
			for _, p := range b.Places {
				console.Printf(w, "%-13s   %s\n", "", console.Printable(p))
			}
		}
	}
}
