package applecrash

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An ipsReport is the JSON of a report.
type ipsReport struct {
	Incident, CaptureTime, CPUType, ProcPath, ProcName, ModelCode string
	PID                                                           uint64
	Translated                                                    bool
	OSVersion                                                     struct{ Train, Build string }
	BundleInfo                                                    ipsImage
	Exception                                                     struct{ Type, Signal, Codes, Subtype, Message string }
	Termination                                                   struct{ Namespace, Indicator string }
	ASI                                                           map[string][]string // by image
	FaultingThread                                                *uint64
	Threads                                                       []ipsThread
	LastExceptionBacktrace                                        []ipsFrame
	UsedImages                                                    []ipsImage
}

// An ipsHeader is the line before the report.
type ipsHeader struct {
	Incident string `json:"incident_id"`
	Time     string `json:"timestamp"`
	OS       string `json:"os_version"`
	Bundle   string `json:"bundleID"`
}

type ipsThread struct {
	Triggered   bool
	Name, Queue string
	ThreadState map[string]json.RawMessage
	Frames      []ipsFrame
}

type ipsFrame struct {
	ImageIndex         uint32
	ImageOffset        uint64
	Symbol, SourceFile string
	SourceLine         uint32
	Inline             bool
}

type ipsImage struct {
	Base, Size             uint64
	UUID, Name, Arch, Path string
	Identifier             string `json:"CFBundleIdentifier"`
	Short                  string `json:"CFBundleShortVersionString"`
	Version                string `json:"CFBundleVersion"`
}

// readJSON reads a report in JSON. The header may be empty.
func readJSON(header, body []byte) (*Report, error) {
	var (
		h      ipsHeader
		ips    ipsReport
		kind   *json.UnmarshalTypeError
		syntax *json.SyntaxError
	)
	if len(header) > 0 {
		_ = json.Unmarshal(header, &h) // is valid JSON; values of other types are skipped
	}
	err := json.Unmarshal(body, &ips)
	switch isOther := ips.UsedImages == nil; { // stack walkers write threads, too
	case errors.As(err, &syntax):
		return nil, bad(fmt.Sprintf("JSON, offset %d", syntax.Offset), "invalid report: %w", err)
	case err != nil && (isOther || !errors.As(err, &kind)):
		return nil, bad("JSON", "invalid report: %w", err)
	case isOther:
		return nil, bad("JSON", "invalid report: has no usedImages, as those of Apple have")
	}
	r := newReport()
	if err := r.setIncident("incident", cmp.Or(ips.Incident, h.Incident)); err != nil {
		return nil, err
	}
	r.setTime(cmp.Or(ips.CaptureTime, h.Time))
	for _, i := range ips.UsedImages {
		if i.Base != 0 || i.Name != "" {
			r.addImage(Image{Address(i.Base), i.Size, i.UUID, i.Name, i.Arch, join(i.Short, " - ", i.Version, ""), i.Path})
		}
	}
	ips.fields(r, &h)
	for n, t := range ips.Threads {
		id := uint64(n)
		crashed := t.Triggered || ips.FaultingThread != nil && *ips.FaultingThread == id
		r.Threads = append(r.Threads, Thread{id, t.Name, t.Queue, crashed, ips.frames(t.Frames), registers(t.ThreadState)})
	}
	r.Exception = ips.frames(ips.LastExceptionBacktrace)
	return r, nil
}

// fields sets the fields of the process and the exception.
func (ips *ipsReport) fields(r *Report, h *ipsHeader) {
	r.CodeType, r.Path = ips.CPUType, ips.ProcPath
	if ips.Translated {
		r.CodeType += " (Translated)"
	}
	if ips.ProcName != "" {
		r.set(KeyProcess, fmt.Sprintf("%s [%d]", ips.ProcName, ips.PID))
	}
	r.set(KeyOS, cmp.Or(join(ips.OSVersion.Train, " (", ips.OSVersion.Build, ")"), h.OS))
	r.set(KeyModel, ips.ModelCode)
	r.set("Identifier", cmp.Or(ips.BundleInfo.Identifier, h.Bundle))
	r.set("Version", join(ips.BundleInfo.Short, " (", ips.BundleInfo.Version, ")"))
	r.set(KeyException, join(ips.Exception.Type, " (", ips.Exception.Signal, ")"))
	r.set(KeyExceptionCodes, ips.Exception.Codes)
	r.set(KeyExceptionSubtype, ips.Exception.Subtype)
	r.set(KeyExceptionMessage, ips.Exception.Message)
	r.set("Termination Reason", join(ips.Termination.Namespace, ", ", ips.Termination.Indicator, ""))
	var lines []string
	for _, image := range slices.Sorted(maps.Keys(ips.ASI)) {
		lines = append(lines, ips.ASI[image]...)
	}
	r.Info = strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (ips *ipsReport) frames(list []ipsFrame) []Frame {
	frames := make([]Frame, len(list))
	for i, f := range list {
		var image ipsImage
		if int64(f.ImageIndex) < int64(len(ips.UsedImages)) {
			image = ips.UsedImages[f.ImageIndex]
		}
		frames[i] = Frame{image.Name, Address(image.Base + f.ImageOffset), f.Symbol, f.SourceFile, f.SourceLine, f.Inline}
	}
	return frames
}

// registers returns the registers of a thread: objects with a value, by name,
// and on ARM the array x. Other values are descriptions.
func registers(state map[string]json.RawMessage) map[string]Address {
	type register struct{ Value *Address }
	found := map[string]Address{}
	for name, text := range state {
		var (
			one  register
			list []register
		)
		if json.Unmarshal(text, &one) == nil && one.Value != nil {
			found[name] = *one.Value
		} else if json.Unmarshal(text, &list) == nil {
			for i, r := range list {
				if r.Value != nil {
					found[fmt.Sprint(name, i)] = *r.Value
				}
			}
		}
	}
	return found
}

// join joins two texts, either of which may be empty.
func join(a, before, b, after string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + before + b + after
}
