package applecrash

import (
	"fmt"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// A Report is a crash report. Its JSON is that of "symbolon crash --json".
type Report struct {
	Incident  string            `json:"incident_identifier,omitempty"` // UUID in lower case
	Time      time.Time         `json:"timestamp,omitzero"`            // in UTC, in whole seconds
	Version   uint32            `json:"report_version,omitempty"`      // of the text
	CodeType  string            `json:"code_type,omitempty"`           // X86-64 (Native)
	Path      string            `json:"path,omitempty"`                // of the program
	Info      string            `json:"application_specific_information,omitempty"`
	Syslog    string            `json:"filtered_syslog,omitempty"`
	Metadata  map[string]string `json:"metadata"` // all other fields, by the names that texts have for them
	Threads   []Thread          `json:"threads"`
	Exception []Frame           `json:"last_exception_backtrace,omitempty"` // where an uncaught exception was thrown
	Images    []Image           `json:"binary_images"`
}

// Keys of Metadata that both kinds of report have.
const (
	KeyOS               = "OS Version"        // macOS 13.3 (22E252)
	KeyModel            = "Hardware Model"    // Mac14,7
	KeyProcess          = "Process"           // Quince [4242]
	KeyException        = "Exception Type"    // EXC_BAD_ACCESS (SIGSEGV)
	KeyExceptionCodes   = "Exception Codes"   // KERN_INVALID_ADDRESS at 0x10, or numbers
	KeyExceptionSubtype = "Exception Subtype" // KERN_INVALID_ADDRESS at 0x10
	KeyExceptionMessage = "Exception Message"
)

// A Thread is a thread of the process.
type Thread struct {
	ID        uint64             `json:"id"`
	Name      string             `json:"name,omitempty"`
	Queue     string             `json:"dispatch_queue,omitempty"`
	Crashed   bool               `json:"crashed"`
	Frames    []Frame            `json:"frames"`
	Registers map[string]Address `json:"registers,omitempty"` // by the names of the report
}

// A Frame is a frame of a stack, which may be symbolicated already.
type Frame struct {
	Module string  `json:"module,omitempty"`
	Addr   Address `json:"instruction_addr"` // return address, except in the first frame
	Symbol string  `json:"symbol,omitempty"`
	File   string  `json:"file,omitempty"`
	Line   uint32  `json:"line,omitempty"`
	Inline bool    `json:"inline,omitempty"` // inlined into the next frame
}

// An Image is a loaded binary.
type Image struct {
	Addr    Address `json:"addr"`
	Size    uint64  `json:"size"`
	UUID    string  `json:"uuid,omitempty"` // in lower case
	Name    string  `json:"name,omitempty"`
	Arch    string  `json:"arch,omitempty"`
	Version string  `json:"version,omitempty"`
	Path    string  `json:"path,omitempty"`
}

// An Address is a number that is printed in hexadecimal.
type Address uint64

// MarshalText returns the number with the prefix 0x.
func (a Address) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(a)), nil }

func newReport() *Report {
	return &Report{Metadata: map[string]string{}, Threads: []Thread{}, Images: []Image{}}
}

func bad(place, format string, args ...any) error {
	return fault.New(fault.Malformed, "apple crash report, "+place, format, args...)
}

// set sets a metadata field that has a value and was not set before: later
// sections of a text have unrelated fields of the same name.
func (r *Report) set(key, value string) {
	if _, ok := r.Metadata[key]; !ok && value != "" {
		r.Metadata[key] = value
	}
}

func (r *Report) setIncident(place, text string) error {
	uuid, ok := ident.ParseUUID(text)
	if !ok && text != "" {
		return bad(place, "invalid incident identifier %.60q: must be a UUID", text)
	}
	r.Incident = uuid
	return nil
}

func (r *Report) setTime(place, text string) error {
	if text == "" {
		return nil
	}
	const layout = "2006-01-02 15:04:05 -0700"
	t, err := time.Parse(layout, text)
	if err != nil || t.UTC().Year() < 0 || t.UTC().Year() > 9999 { // others have no JSON
		return bad(place, "invalid timestamp %.60q: must be in the form %s", text, layout)
	}
	r.Time = t.UTC().Truncate(time.Second)
	return nil
}

// addImage adds an image whose UUID has any spelling.
func (r *Report) addImage(place string, i Image) error {
	uuid, ok := ident.ParseUUID(i.UUID)
	if !ok && i.UUID != "" {
		return bad(place, "invalid binary image identifier %.60q: must be a UUID", i.UUID)
	}
	i.UUID = uuid
	r.Images = append(r.Images, i)
	return nil
}
