package sentry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/wire"
	"symbolon/internal/bin"
	"symbolon/internal/crash"
	"symbolon/internal/fault"
	"symbolon/internal/format/applecrash"
	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

// A kind of crash file has a route of its own.
type kind struct {
	path    string
	part    string // the part of the form with the file
	name    string
	ignored string // a part of other forms, which is skipped
	// read makes a request for the frames of the file, which it closes then, or in the
	// walk of the request.
	read func(d *Door, q *request, f *form) error
}

var (
	minidumps    = kind{"/minidump", "upload_file_minidump", "minidump", "", (*Door).readMinidump}
	appleReports = kind{"/applecrashreport", "apple_crash_report", "apple crash report", "rewrite_first_module", (*Door).readApple}
)

// crash answers a request with a crash file.
func (d *Door) crash(w http.ResponseWriter, r *http.Request, k *kind) {
	client, ok := d.identify(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	timeout, refused := timeoutOf(query)
	if refused != nil {
		fail(w, r, refused.Status, refused.Text)
		return
	}
	scope, err := client.scope(query.Get("scope"))
	var f *form
	if err == nil {
		f, err = d.readForm(r, k)
	}
	if err != nil {
		d.refuseForm(w, r, err)
		return
	}
	began := false
	defer func() {
		if !began {
			f.Close()
		}
	}()
	q := &request{scope: scope}
	q.Request, err = wire.DecodeForm(f.parts, d.cfg.limits())
	switch {
	case err != nil:
	case f.file == nil:
		err = api.Refuse(http.StatusBadRequest, "missing %s", k.name)
	default:
		err = k.read(d, q, f)
	}
	if err == nil {
		began = d.run(w, r, client, timeout, q)
		return
	}
	if fault.KindOf(err) == fault.Malformed {
		api.WriteJSON(w, http.StatusOK, struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		}{"failed", failureText(err)})
		return
	}
	d.refuseForm(w, r, err)
}

// refuseForm answers that a form cannot be used. Symbolicator describes these
// errors in JSON.
func (d *Door) refuseForm(w http.ResponseWriter, r *http.Request, err error) {
	status, title := explain(err)
	if status == http.StatusInternalServerError {
		d.deps.Log.Error("cannot receive a crash file", "request_id", api.RequestID(r.Context()), "error", err)
		fail(w, r, status, title)
		return
	}
	detail(w, status, cmp.Or(title, http.StatusText(status)))
}

// hasForm reports whether a file begins as multipart/form-data does: some clients
// send the form as its own part.
func hasForm(file bin.Source) bool {
	head, _ := bin.Read(file, 0, int(min(2, file.Size())))
	return string(head) == "--"
}

// failureText returns the message for a file that cannot be read. Clients know those
// of Symbolicator.
func failureText(err error) string {
	for _, known := range [...]struct {
		err  error
		text string
	}{
		{minidump.ErrMissingHeader, "Missing minidump header (empty minidump?)"},
		{minidump.ErrHeaderMismatch, "Header mismatch"},
		{minidump.ErrVersionMismatch, "Minidump version mismatch"},
		{minidump.ErrMissingDirectory, "Missing stream directory (heavily truncated minidump?)"},
		{minidump.ErrMissingSystemInfo, "The system information stream was not found"},
		{minidump.ErrMissingThreadList, "The thread list stream was not found"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return err.Error()
}

// addStacks adds the stack traces of a crash file to q.
func (q *request) addStacks(ctx context.Context) (err error) {
	defer fault.Recover("", &err)
	if q.walk == nil {
		return nil
	}
	return q.walk(ctx)
}

// readMinidump makes q the request for the stacks of a minidump.
func (d *Door) readMinidump(q *request, f *form) error {
	if hasForm(f.file) {
		return api.Refuse(http.StatusBadRequest, "minidump contains multipart form data")
	}
	file, _ := bin.InPlace(f.file)
	dump, err := crash.OpenMinidump(file)
	if err != nil {
		return err
	}
	s := &dump.System
	q.crash = &crashed{
		system:    system{os: osNames[s.OS], version: s.Version, build: s.Build, arch: archName(s.Arch, ident.TypeUnknown)},
		written:   dump.Written,
		isCrash:   dump.Exception != nil,
		reason:    wire.Optional{OK: true},
		assertion: wire.Optional{Text: dump.Assertion, OK: true},
	}
	if e := dump.Exception; e != nil {
		q.crash.reason.Text = fmt.Sprintf("%s / %#x", e, e.CrashAddress())
	}
	// Symbolicator answers with the modules in this order.
	slices.SortStableFunc(dump.Modules, func(a, b minidump.Module) int { return cmp.Compare(a.Base, b.Base) })
	for i := range dump.Modules {
		q.Modules = append(q.Modules, moduleOf(&dump.Modules[i]))
	}
	if len(dump.Modules) > 0 {
		m := &dump.Modules[0]
		m.DebugFile = q.Rename(m.DebugFile)
		q.firstName = m.DebugFile
	}
	q.walkCost = int64(len(dump.Threads)) * threadCost
	q.walk = func(ctx context.Context) error {
		defer f.Close()
		p, err := d.deps.Crashes(ctx, q.search)
		if err != nil {
			return err
		}
		report, err := p.Walk(ctx, dump, crash.Options{Purpose: locate.Debug, Frames: maxStack})
		if err != nil {
			return err
		}
		defer report.Release()
		q.addReport(report)
		return nil
	}
	return nil
}

// osNames has the names of operating systems in the protocol.
var osNames = map[minidump.OS]string{
	minidump.Windows: "Windows", minidump.MacOS: "macOS", minidump.IOS: "iOS", minidump.Linux: "Linux",
	minidump.Solaris: "Solaris", minidump.Android: "Android", minidump.PS3: "PS3", minidump.NaCl: "NaCl",
}

// moduleOf returns a module of a dump.
func moduleOf(m *minidump.Module) wire.Module {
	return wire.Module{
		Kind: m.Type, CodeID: m.CodeID, DebugID: m.DebugID, HasDebug: !m.DebugID.IsZero(),
		CodeFile: wire.Optional{Text: m.CodeFile, OK: m.CodeFile != ""}, DebugFile: wire.Optional{Text: m.DebugFile, OK: m.DebugFile != ""},
		Addr: m.Base, Size: m.Size, HasSize: true,
	}
}

// maxStack is the number of frames of a stack in the answer, as in Symbolicator.
const maxStack = 256

// threadCost estimates the memory for the stack of a thread until it is written.
const threadCost = 16 << 10

// addReport adds the stacks of a report. Modules without ids on no stack are removed:
// Linux lists fonts and the like. So are those that overlap one before, whose addresses
// belong to that in the walks.
func (q *request) addReport(r *crash.Report) {
	q.crash.unwindings = make([]unwinding, 0, len(q.Modules))
	kept, end := q.Modules[:0], uint64(0)
	for i, m := range q.Modules {
		u := &r.Symbols[i].Unwind
		overlaps := m.Addr < end
		if !overlaps {
			end = m.Addr + m.Size
		}
		if overlaps || !u.Asked && !m.HasDebug && m.CodeID.IsZero() {
			if i == 0 {
				q.firstName = "" // no module is looked up by it
			}
			continue
		}
		if found := &u.Module; !m.HasDebug && !found.DebugID.IsZero() { // it was found by its code id
			m.DebugID, m.HasDebug = found.DebugID, true
			if name := ident.FileName(found.DebugFile); !m.DebugFile.OK && name != "" {
				m.DebugFile = wire.Optional{Text: name, OK: true}
			}
		}
		kept = append(kept, m)
		q.crash.unwindings = append(q.crash.unwindings, unwinding{u.Asked, u.Found, u.Report.Fault, u.Features, u.Trail})
	}
	q.Modules = kept
	client := map[uint32][]minidump.ClientFrame{} // found by Sentry's client, which count instead of ours
	for _, s := range r.Minidump.Client {
		client[s.ThreadID] = s.Frames[:min(len(s.Frames), maxStack)]
	}
	left := maxClientText
	for i := range r.Stacks {
		t := &r.Threads[i]
		if own := client[t.ID]; len(own) > 0 && len(q.Frames)+len(own) <= crash.MaxFrames {
			left = q.addClientFrames(own, left)
		} else {
			q.addFrames(r.Stacks[i].Frames)
		}
		st := wire.Stack{ThreadID: uint64(t.ID), HasID: true, ThreadName: wire.Optional{Text: t.Name, OK: t.IsNamed}, End: len(q.Frames)}
		switch {
		case i == r.Requesting:
			st.Requesting = wire.Yes
		case r.Requesting >= 0:
			st.Requesting = wire.No
		}
		st.Registers = registersOf(r.System.CPU, &t.Registers)
		q.Stacks = append(q.Stacks, st)
	}
}

// maxClientText limits the names of functions in stacks of Sentry's client, which may
// share their frames.
const maxClientText = 64 << 20

// addClientFrames adds the frames of a stack of Sentry's client. It returns how many
// bytes of names may still be added.
func (q *request) addClientFrames(frames []minidump.ClientFrame, text int) (left int) {
	for _, f := range frames {
		if text -= len(f.Function); text < 0 {
			f.Function = ""
		}
		q.AddFrame(wire.Frame{Addr: f.Addr, Trust: wire.TrustPrewalked}, "", f.Function)
	}
	return text
}

// addFrames adds the frames of a stack.
func (q *request) addFrames(frames []crash.Frame) {
	for i := range frames {
		f := &frames[i]
		out := wire.Frame{Addr: f.Resume, Trust: trustOf(f.Trust)}
		if i > 0 && f.Addr == f.Resume { // interrupted by a signal
			out.Adjust = wire.No
		}
		q.Frames = append(q.Frames, out)
	}
}

// registersOf returns the known registers of a thread by name. cpu may be nil.
func registersOf(cpu *rule.CPU, values *rule.Registers) (list []wire.Register) {
	if cpu == nil {
		return nil
	}
	for r := range rule.Reg(cpu.Count()) {
		if v, ok := values.Get(r); ok {
			list = append(list, wire.Register{Name: cpu.RegName(r), Value: v})
		}
	}
	slices.SortFunc(list, func(a, b wire.Register) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// trustOf returns the trust of the protocol.
func trustOf(t unwind.Trust) wire.Trust {
	switch t {
	case unwind.Context:
		return wire.TrustContext
	case unwind.CFI:
		return wire.TrustCFI
	case unwind.CFIScan:
		return wire.TrustCFIScan
	case unwind.FramePointer:
		return wire.TrustFP
	}
	return wire.TrustScan
}

// osVersion matches the name of a system with its version and its build. Symbolicator
// divides only those of macOS whose build is hexadecimal.
var osVersion = regexp.MustCompile(`^(\D+) (\d+(?:\.\d+)*)(?: \((\w+)\))?$`)

// newNames has the current names of Apple's systems.
var newNames = map[string]string{"Mac OS X": "macOS", "OS X": "macOS", "iPhone OS": "iOS"}

// readApple makes q the request for the stacks of an Apple crash report.
func (d *Door) readApple(q *request, f *form) error {
	file := f.file
	defer f.Close()
	if file.Size() > applecrash.MaxSize {
		return fault.New(fault.Malformed, "apple crash report", "invalid size: must be at most %d bytes", applecrash.MaxSize)
	}
	text, err := bin.Read(file, 0, int(file.Size()))
	if err != nil {
		return err
	}
	report, err := applecrash.Read(text)
	if err != nil {
		return err
	}
	q.crash = &crashed{
		written: report.Time,
		isCrash: true,
		system:  system{os: report.Metadata[applecrash.KeyOS], device: report.Metadata[applecrash.KeyModel], arch: archName(machineOf(report), ident.TypeMachO)},
	}
	if m := osVersion.FindStringSubmatch(q.crash.system.os); m != nil {
		s := &q.crash.system
		s.os, s.version, s.build = cmp.Or(newNames[m[1]], m[1]), m[2], m[3]
	}
	q.crash.reason.Text, q.crash.reason.OK = report.Metadata[applecrash.KeyException]
	for _, text := range []string{report.Info, report.Metadata[applecrash.KeyExceptionMessage],
		report.Metadata[applecrash.KeyExceptionSubtype], report.Metadata[applecrash.KeyExceptionCodes]} {
		if !q.crash.details.OK {
			q.crash.details = wire.Optional{Text: text, OK: text != ""}
		}
	}
	q.addApple(report)
	return nil
}

// machineOf returns the architecture of a report: the first word of its code type, or else
// that of the first image with a known one.
func machineOf(report *applecrash.Report) ident.Arch {
	word, _, _ := strings.Cut(report.CodeType, " ")
	arch := ident.ParseArch(word)
	for i := 0; arch == ident.ArchUnknown && i < len(report.Images); i++ {
		arch = ident.ParseArch(report.Images[i].Arch)
	}
	return arch
}

func (q *request) addApple(report *applecrash.Report) {
	for i := range report.Images {
		m := &report.Images[i]
		id, err := ident.ParseDebugID(m.UUID)
		file := wire.Optional{Text: cmp.Or(m.Path, m.Name), OK: true}
		q.Modules = append(q.Modules, wire.Module{
			Kind: ident.TypeMachO, CodeID: ident.ParseCodeID(m.UUID), DebugID: id, HasDebug: err == nil,
			CodeFile: file, DebugFile: file, Addr: uint64(m.Addr), Size: m.Size, HasSize: m.Size != 0,
		})
	}
	for i := range report.Threads {
		t := &report.Threads[i]
		st := wire.Stack{ThreadID: t.ID, HasID: true, ThreadName: wire.Optional{Text: t.Name, OK: t.Name != ""}, Requesting: wire.No}
		if t.Crashed {
			st.Requesting = wire.Yes
		}
		for _, f := range t.Frames {
			if f.Inline {
				continue
			}
			q.AddFrame(wire.Frame{Addr: uint64(f.Addr)}, f.Module, f.Symbol)
		}
		for _, name := range slices.Sorted(maps.Keys(t.Registers)) {
			st.Registers = append(st.Registers, wire.Register{Name: name, Value: uint64(t.Registers[name])})
		}
		st.End = len(q.Frames)
		q.Stacks = append(q.Stacks, st)
	}
}
