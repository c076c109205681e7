package applecrash

import (
	"fmt"
	"strings"
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

// File returns the name of the file of the image, by which symbols are stored. The name in a
// text may be the identifier of its bundle.
func (i *Image) File() string {
	if file := i.Path[strings.LastIndexByte(i.Path, '/')+1:]; file != "" {
		return file
	}
	return i.Name
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

// setIncident sets the identifier, a UUID in any spelling that Symbolicator reads.
func (r *Report) setIncident(place, text string) error {
	uuid, ok := ident.ParseUUID(strings.Trim(strings.TrimPrefix(text, "urn:uuid:"), "{}"))
	if !ok && text != "" {
		return bad(place, "invalid incident identifier %.60q: must be a UUID", text)
	}
	r.Incident = uuid
	return nil
}

// layouts are the forms of times: that of ReportCrash, and those of other writers, such
// as HockeyApp's in RFC 3339. Seconds may have a fraction in all of them.
var layouts = [...]string{
	"2006-1-2 15:4:5 -0700", "2006-1-2 15:4:5 Z07:00", "2006-1-2 15:4:5-0700", "2006-1-2 15:4:5Z07:00", "2006-1-2T15:4:5-0700", "2006-1-2T15:4:5Z07:00",
}

func (r *Report) setTime(text string) {
	for _, layout := range layouts {
		t, err := time.Parse(layout, text)
		if t = t.UTC(); err == nil && t.Year() >= 0 && t.Year() <= 9999 { // others have no JSON
			r.Time = t.Truncate(time.Second)
			return
		}
	}
}

// addImage adds an image whose UUID has any spelling. Memory without an image has the
// name ???, and the UUID of zeros.
func (r *Report) addImage(i Image) {
	i.UUID, _ = ident.ParseUUID(i.UUID)
	if name, _, _ := strings.Cut(i.Name, " "); name == "???" && strings.Trim(i.UUID, "0-") == "" {
		return
	}
	r.Images = append(r.Images, i)
}
