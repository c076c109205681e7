package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"symbolon/internal/crash/hint"
	"symbolon/internal/fault"
	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
	"symbolon/internal/unwind/rule"
)

// WriteJSON writes a *Report in the schema of rust-minidump, or a report of another type
// in its own schema; with isCompact in one line that does not end.
func WriteJSON(w io.Writer, report any, isCompact bool) error {
	j := &jsonWriter{w: bufio.NewWriter(w), isCompact: isCompact}
	if r, ok := report.(*Report); ok {
		r.write(j)
	} else {
		_, _ = j.w.Write(j.encode(report, 0))
	}
	j.line(0)
	if j.err != nil {
		return j.err
	}
	return j.w.Flush()
}

// A jsonWriter writes a document whose lists are in memory one element at a time.
type jsonWriter struct {
	w         *bufio.Writer
	buf       bytes.Buffer
	isCompact bool
	err       error // the first one of encode
}

// encode returns a value in JSON, inside some lists and objects, until the next call.
func (j *jsonWriter) encode(v any, depth int) []byte {
	j.buf.Reset()
	enc := json.NewEncoder(&j.buf)
	enc.SetEscapeHTML(false)
	if !j.isCompact {
		enc.SetIndent(strings.Repeat("  ", depth), "  ")
	}
	if err := enc.Encode(v); err != nil && j.err == nil {
		j.err = err
	}
	return bytes.TrimSuffix(j.buf.Bytes(), []byte("\n"))
}

// line begins a line, unless the document has only one.
func (j *jsonWriter) line(depth int) {
	if !j.isCompact {
		_, _ = j.w.WriteString("\n" + strings.Repeat("  ", depth))
	}
}

// key begins a member of the document that is not the first one.
func (j *jsonWriter) key(name string) {
	_ = j.w.WriteByte(',')
	j.line(1)
	_, _ = j.w.WriteString(`"` + name + `":`)
	if !j.isCompact {
		_ = j.w.WriteByte(' ')
	}
}

// member writes a member of the document that is not the first one.
func (j *jsonWriter) member(name string, v any) {
	j.key(name)
	_, _ = j.w.Write(j.encode(v, 1))
}

// writeList writes a member that is a list of n elements.
func writeList[T any](j *jsonWriter, name string, n int, element func(i int) T) {
	j.key(name)
	_ = j.w.WriteByte('[')
	for i := range n {
		if i > 0 {
			_ = j.w.WriteByte(',')
		}
		j.line(2)
		_, _ = j.w.Write(j.encode(element(i), 2))
	}
	if n > 0 {
		j.line(1)
	}
	_ = j.w.WriteByte(']')
}

// A document has the first members of a document, all but the lists.
type document struct {
	Status     string                 `json:"status"`
	PID        *uint32                `json:"pid"`
	Uptime     *uint64                `json:"process_uptime"`
	Crash      jsonCrash              `json:"crash_info"`
	System     jsonSystem             `json:"system_info"`
	LSB        *minidump.LSB          `json:"lsb_release"`
	Limits     map[string][]jsonLimit `json:"proc_limits"`
	Maps       *int                   `json:"linux_memory_map_count"`
	SoftErrors json.RawMessage        `json:"soft_errors"`
	MacCrash   *jsonMac               `json:"mac_crash_info"`
	BootArgs   *string                `json:"mac_boot_args"`

	Crashpad   *minidump.Crashpad `json:"crashpad_info,omitempty"` // not in rust-minidump
	MainModule int                `json:"main_module"`
	HasCerts   bool               `json:"modules_contains_cert_info"`
}

type jsonCrash struct {
	Type            *string              `json:"type"`
	Address         *string              `json:"address"`
	Adjusted        *jsonAdjusted        `json:"adjusted_address"`
	Instruction     *string              `json:"instruction"`
	Accesses        []jsonAccess         `json:"memory_accesses"`
	Update          map[string]string    `json:"instruction_pointer_update"`
	Flips           []jsonFlip           `json:"possible_bit_flips"`
	Inconsistencies []hint.Inconsistency `json:"crash_inconsistencies"`
	Thread          *int                 `json:"crashing_thread"`
	Assertion       *string              `json:"assertion"`
}

type jsonSystem struct {
	OS        string  `json:"os"`
	Version   string  `json:"os_ver"`
	Arch      string  `json:"cpu_arch"`
	CPUInfo   *string `json:"cpu_info"`
	CPUs      int     `json:"cpu_count"`
	Microcode *string `json:"cpu_microcode_version"`
}

type jsonModule struct {
	Base      string  `json:"base_addr"`
	End       string  `json:"end_addr"`
	DebugFile string  `json:"debug_file"`
	DebugID   string  `json:"debug_id"`
	File      string  `json:"filename"`
	CodeID    string  `json:"code_id"`
	Version   *string `json:"version"`
	Cert      *string `json:"cert_subject"`
	Missing   bool    `json:"missing_symbols"`
	Loaded    bool    `json:"loaded_symbols"`
	Corrupt   bool    `json:"corrupt_symbols"`
	URL       *string `json:"symbol_url"`
}

type jsonUnloaded struct {
	Base   string  `json:"base_addr"`
	End    string  `json:"end_addr"`
	CodeID string  `json:"code_id"`
	File   string  `json:"filename"`
	Cert   *string `json:"cert_subject"`
}

type jsonThread struct {
	ID        uint32      `json:"thread_id"`
	Name      *string     `json:"thread_name"`
	LastError *string     `json:"last_error_value"`
	Count     int         `json:"frame_count"`
	Frames    []jsonFrame `json:"frames"`
	Index     *int        `json:"threads_index,omitempty"` // of the crashing thread only
}

type jsonFrame struct {
	Index          int               `json:"frame"`
	Trust          string            `json:"trust"`
	Offset         string            `json:"offset"`
	Module         *string           `json:"module"`
	ModuleOffset   *string           `json:"module_offset"`
	Unloaded       []jsonPlace       `json:"unloaded_modules"`
	Function       *string           `json:"function"`
	FunctionOffset *string           `json:"function_offset"`
	File           *string           `json:"file"`
	Line           *uint32           `json:"line"`
	Inlines        []jsonInline      `json:"inlines"`
	Missing        bool              `json:"missing_symbols"`
	Registers      map[string]string `json:"registers,omitempty"` // of the first frame of the crashing thread only
}

type jsonPlace struct {
	Module  string   `json:"module"`
	Offsets []string `json:"offsets"`
}

type jsonInline struct {
	Function string  `json:"function"`
	File     *string `json:"file"`
	Line     *uint32 `json:"line"`
}

// write writes r in the schema of rust-minidump.
func (r *Report) write(j *jsonWriter) {
	d := &document{
		Status: "OK", PID: r.PID, Uptime: r.Uptime, HasCerts: len(r.Certificates) > 0,
		System: jsonSystem{
			OS: r.System.OSName, Version: strings.TrimSpace(r.System.Version + " " + r.System.Build), Arch: r.System.CPUName,
			CPUInfo: known(r.System.CPUInfo), CPUs: r.System.CPUs, Microcode: known(r.System.Microcode),
		},
	}
	d.Crash.Assertion = known(r.Assertion)
	if r.Exception != nil {
		r.addCrash(&d.Crash)
	}
	var handles []minidump.Handle
	if r.Minidump != nil {
		handles = r.Minidump.Handles
		d.add(r.Minidump)
	}
	var crashing *jsonThread
	if i := r.Requesting; i >= 0 {
		crashing = new(r.thread(i))
		if crashing.Index = &i; crashing.Count > 0 {
			crashing.Frames[0].Registers = r.registers(&r.Threads[i])
		}
		d.Crash.Thread = &i
	}
	_, _ = j.w.Write(bytes.TrimRight(j.encode(d, 0), "\n}")) // its last member is a bool
	writeList(j, "modules", len(r.Modules), r.module)
	writeList(j, "unloaded_modules", len(r.Unloaded), func(i int) jsonUnloaded {
		m := &r.Unloaded[i]
		return jsonUnloaded{r.Hex(m.Base), r.Hex(m.Base + m.Size), m.CodeID.String(), m.Name, r.certificate(m.Name)}
	})
	if handles == nil {
		j.member("handles", nil)
	} else {
		writeList(j, "handles", len(handles), func(i int) minidump.Handle { return handles[i] })
	}
	j.member("thread_count", len(r.Threads))
	writeList(j, "threads", len(r.Threads), r.thread)
	j.member("crashing_thread", crashing)
	j.line(0)
	_ = j.w.WriteByte('}')
}

// Hex returns an address with all its digits.
func (r *Report) Hex(v uint64) string { return fmt.Sprintf("0x%0*x", r.System.Digits(), v) }

func (r *Report) module(i int) jsonModule {
	m, s := &r.Modules[i], &r.Symbols[i].Debug
	out := jsonModule{
		Base: r.Hex(m.Base), End: r.Hex(m.Base + m.Size), DebugFile: ident.FileName(m.DebugFile), DebugID: m.DebugID.Breakpad(),
		File: ident.FileName(m.CodeFile), CodeID: m.CodeID.String(), Version: known(m.Version), Cert: r.certificate(ident.FileName(m.CodeFile)),
		Loaded: s.Found, Missing: s.Asked && !s.Found,
	}
	for _, t := range s.Trail {
		switch {
		case t.Chosen && strings.HasPrefix(t.Location, "http"):
			out.URL = known(t.Location)
		case t.Fault != nil && t.Fault.Kind == fault.Malformed && !s.Found:
			out.Corrupt, out.Missing = true, false
		}
	}
	return out
}

func (r *Report) thread(i int) jsonThread {
	t, s := &r.Threads[i], &r.Stacks[i]
	out := jsonThread{ID: t.ID, LastError: known(t.LastError), Count: len(s.Frames), Frames: make([]jsonFrame, len(s.Frames))}
	if t.IsNamed {
		out.Name = &t.Name
	}
	for k := range s.Frames {
		out.Frames[k] = r.frame(k, &s.Frames[k])
	}
	return out
}

func (r *Report) frame(i int, f *Frame) jsonFrame {
	out := jsonFrame{Index: i, Trust: f.Trust.String(), Offset: r.Hex(f.Addr), Missing: len(f.Functions) == 0}
	if f.Module >= 0 {
		m := &r.Modules[f.Module]
		out.Module, out.ModuleOffset = new(ident.FileName(m.CodeFile)), new(r.Hex(f.Addr-m.Base))
	}
	for _, p := range f.Unloaded {
		name, off := r.Unloaded[p.Module].Name, r.Hex(p.Offset)
		if n := len(out.Unloaded); n > 0 && out.Unloaded[n-1].Module == name {
			out.Unloaded[n-1].Offsets = append(out.Unloaded[n-1].Offsets, off)
			continue
		}
		out.Unloaded = append(out.Unloaded, jsonPlace{name, []string{off}})
	}
	for k := range f.Functions {
		x := &f.Functions[k]
		if k < len(f.Functions)-1 {
			out.Inlines = append(out.Inlines, jsonInline{x.Name, known(x.File), known(x.Line)})
			continue
		}
		out.Function, out.FunctionOffset, out.File, out.Line = &x.Name, new(r.Hex(f.Addr-x.Entry)), known(x.File), known(x.Line)
	}
	return out
}

// certificate returns the subject of the certificate of a module, nil if it is
// unknown.
func (r *Report) certificate(file string) *string { return known(r.Certificates[file]) }

// registers returns the registers of a thread by name.
func (r *Report) registers(t *Thread) map[string]string {
	all := map[string]string{}
	for k := range r.System.CPU.Count() {
		if v, ok := t.Registers.Get(rule.Reg(k)); ok {
			all[r.System.CPU.RegName(rule.Reg(k))] = fmt.Sprintf("0x%0*x", r.System.RegisterDigits(), v)
		}
	}
	return all
}

// known returns a pointer to v, nil if it is zero.
func known[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
