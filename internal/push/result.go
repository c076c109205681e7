package push

// Result is the outcome of a file.
type Result struct {
	File    string `json:"file"`
	Status  Status `json:"status"`
	FileID  string `json:"fileid,omitempty"`
	BuildID string `json:"build_id,omitempty"`
	Ranges  *Set   `json:"ranges,omitempty"`
	Pads    *Set   `json:"returnpads,omitempty"`
	Bytes   int64  `json:"bytes"` // sent, or to be sent in a dry run
	Detail  string `json:"detail,omitempty"`
}

// Status is the kind of an outcome.
type Status string

// The kinds of outcome.
const (
	Sent    Status = "sent"
	DryRun  Status = "dry-run"
	Known   Status = "known"   // the server has it
	Same    Status = "same"    // another file of this push has the same content
	Skipped Status = "skipped" // it has no symbols
	Failed  Status = "failed"
)

// Set describes the ranges or the return pads of a file.
type Set struct {
	Content string `json:"content"`
	Records int64  `json:"records"`
	Parts   int    `json:"parts"`
	Size    int64  `json:"size"`
	Known   bool   `json:"known"` // the server has it
}

// Summary counts the outcomes of a push.
type Summary struct {
	Sent, Failed int
	Packages     []string // packages with the debug information of skipped files
}
