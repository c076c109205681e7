package sentry

import (
	"time"

	"symbolon/internal/api/wire"
	"symbolon/internal/fault"
	"symbolon/internal/locate"
	"symbolon/internal/object"
)

// crashed is the part of an answer that describes the crash of a process, besides
// its stack traces and modules.
type crashed struct {
	written    time.Time // zero: unknown
	system     system
	isCrash    bool
	reason     wire.Optional
	details    wire.Optional
	assertion  wire.Optional
	unwindings []unwinding // for each module; nil: the stacks were walked by the sender
}

// system describes the machine of a process.
type system struct{ os, version, build, arch, device string }

// unwinding is the outcome of the search for the unwind information of a module.
type unwinding struct {
	asked    bool
	found    bool
	fault    *fault.Error
	features object.Features
	trail    []locate.Tried
}

// crashFields writes the fields of an answer about a crash.
func (e *encoder) crashFields() {
	c := e.crash
	if !c.written.IsZero() {
		e.Key("timestamp").Int(int(c.written.Unix()))
	}
	e.Key("system_info").Open('{')
	for _, field := range [...]struct{ name, value string }{
		{"os_name", c.system.os}, {"os_version", c.system.version}, {"os_build", c.system.build},
		{"cpu_arch", c.system.arch}, {"device_model", c.system.device},
	} {
		e.Key(field.name).String(field.value)
	}
	e.Close('}')
	e.Key("crashed").Bool(c.isCrash)
	for _, field := range [...]struct {
		name  string
		value wire.Optional
	}{{"crash_reason", c.reason}, {"crash_details", c.details}, {"assertion", c.assertion}} {
		if field.value.OK {
			e.Key(field.name).String(field.value.Text)
		}
	}
}

// unwinding returns the outcome of the search for the unwind information of a
// module; nil if there was none.
func (e *encoder) unwinding(m int32) *unwinding {
	if e.crash == nil || e.crash.unwindings == nil {
		return nil
	}
	return &e.crash.unwindings[m]
}
