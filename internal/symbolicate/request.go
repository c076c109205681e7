package symbolicate

import (
	"sync/atomic"

	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/table"
)

// Frame is a question: which function is at Addr of the module with this
// index. Addresses are module-relative. A negative Module asks nothing.
type Frame struct {
	Module int32
	Addr   uint64
}

// Request is the questions of one caller. A module that no frame names is not
// looked up.
type Request struct {
	Modules []ident.Module
	Frames  []Frame
	Nearest bool // answer with the function or symbol that starts at or next below the address, however far
}

// Module is what became of one module of a request.
type Module struct {
	Asked  bool   // a frame named it, so it was looked up
	Found  bool   // there is something to look addresses up in
	Name   string // file name of the code, if the debug file tells another than its own
	Report table.Report

	handle *table.Handle
	frames []sym.Frame
}

// Result holds the answers to a Request. It keeps tables open: Release it, and
// use nothing of it afterwards.
type Result struct {
	Modules []Module

	req    *Request
	spans  []span       // into the frames of the module, by index of the request's frames
	frames atomic.Int64 // of all modules
}

type span struct{ from, to uint32 }

// Frames is the answer to frame i of the request, innermost first; empty when
// nothing is known.
func (r *Result) Frames(i int) []sym.Frame {
	s := r.spans[i]
	if s.from == s.to {
		return nil
	}
	return r.Modules[r.req.Frames[i].Module].frames[s.from:s.to:s.to]
}

// AppendText appends the string behind a handle that a frame of module m
// carries.
func (r *Result) AppendText(dst []byte, m int32, t sym.Text) []byte {
	return r.Modules[m].handle.AppendText(dst, t)
}

// Release lets go of the tables. It may be called once.
func (r *Result) Release() {
	for i := range r.Modules {
		if h := r.Modules[i].handle; h != nil {
			h.Release()
		}
	}
}
