package mozilla

import (
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/symbolicate"
)

// request is a decoded request. The frames of all jobs are in one list, job by
// job and stack by stack.
type request struct {
	jobs       []job
	stacks     []int32         // for each stack, the end of its frames
	maps       []int32         // the memoryMaps, as indexes of modules
	modules    []module        // distinct, in the order in which they first occur
	special    []specialOffset // by frame
	query      symbolicate.Request
	debug      bool // v4: the body asks for the debug block
	extensions bool
}

// job has the ranges of its stacks and its memoryMap in the lists of the request.
type job struct{ stacks, maps span }

type span struct{ from, to int }

// specialOffset is the offset of a frame that is not an address.
type specialOffset struct {
	frame  int
	text   string // of the offset in the answer
	isBare bool   // the answer has the text without the module
}

// module is a file and its ids as they were sent. The code id is optional.
// Modules that differ only in it are the same.
type module struct{ file, id, code string }

// isNamed reports whether the module has a name and an id. Others are not looked
// up.
func (m module) isNamed() bool { return m.file != "" && m.id != "" }

// Limits of modules that are looked up. That of the name of a file is in
// ident.CheckFileName.
const (
	maxCodeID     = 128     // hexadecimal digits of a code id
	maxText       = 4 << 10 // bytes of a name or an id, and of a name in a frame
	minID         = 32      // the digits of a UUID: a shorter debug id is a code id in its place
	buildIDDigits = 40      // of a build id in the place of a debug id
)

// ident returns the identity that the engine looks up, or the reason why the
// module cannot be looked up.
func (m module) ident() (ident.Module, error) {
	code := ident.ParseCodeID(m.code)
	switch {
	case len(m.file) > maxText:
		return ident.Module{}, fault.New(fault.NotFound, "", "%w", ident.CheckFileName(m.file))
	case len(m.id) > maxText:
		return ident.Module{}, fault.New(fault.NotFound, "", "invalid debug id %.64q: must be at most %d bytes", m.id, maxText)
	case len(code) != len(m.code) || len(code) > maxCodeID:
		return ident.Module{}, fault.New(fault.NotFound, "", "invalid code id %.64q: must be at most %d hexadecimal digits", m.code, maxCodeID)
	}
	id, err := ident.ParseDebugID(m.id)
	if err != nil || len(m.id) < minID {
		id = ident.DebugID{}
	}
	if len(code) >= minID && !id.IsZero() && !ident.BuildID(code).Fits(id) {
		return ident.Module{}, fault.New(fault.NotFound, "", "code id %s does not belong to debug id %s", code, id.Breakpad())
	}
	return ident.Module{DebugFile: m.file, DebugID: id, DebugIDText: m.id, CodeID: code}, nil
}

// prepare fills in the modules of the query. One with an invalid identity becomes
// the empty module, which no source has.
func (r *request) prepare(nearest bool) {
	r.query.Nearest, r.query.Called = nearest, true
	r.query.Modules = make([]ident.Module, len(r.modules))
	for i, m := range r.modules {
		r.query.Modules[i], _ = m.ident() // Door.answer reports the error
	}
}
