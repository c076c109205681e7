package retain

import (
	"io"

	"symbolon/internal/console"
	"symbolon/internal/store"
)

const maxBroken = 100

// A Report is the outcome of a collection.
type Report struct {
	Dry     bool         `json:"dry_run"`
	Usage   store.Usage  `json:"usage"` // after the run
	Rules   []RuleReport `json:"rules,omitempty"`
	Uploads int          `json:"uploads"`       // that are not deleted after the run
	Deleted int          `json:"deleted"`       // uploads that are not visible, also by this run, and whose keys are removed later
	Erased  int          `json:"erased"`        // deleted uploads whose keys were removed
	Marked  int          `json:"marked"`        // copies that no upload names, and that are removed in a day at the earliest
	Waiting int          `json:"waiting"`       // copies that were marked before
	Removed int          `json:"removed"`       // copies
	Bytes   int64        `json:"removed_bytes"` // of them, as stored
	Entries int          `json:"entries"`       // identifiers of uploads that were not accepted
	Chunks  int          `json:"chunks"`        // pieces of files
	// Broken has ids of uploads whose record is lost or cannot be read, at most 100.
	Broken []string `json:"broken,omitempty"`
}

// note notes an upload whose record is lost or cannot be read.
func (r *Report) note(id string) {
	if len(r.Broken) < maxBroken {
		r.Broken = append(r.Broken, id)
	}
}

// Write writes the report for people.
func (r *Report) Write(w io.Writer, look console.Look) {
	removed, deletes := "removed", "deleted"
	if r.Dry {
		removed, deletes = "would remove", "would delete"
	}
	for i := range r.Rules {
		one := &r.Rules[i]
		console.Printf(w, "rule %d, %s: %s, %s; %s %d, %s\n", i+1, one.Rule.Keep, console.Count(one.Uploads, "upload"), console.Count(one.Bytes, "byte"),
			deletes, one.Expired, console.Count(one.Freed, "byte"))
	}
	console.Printf(w, "%s, %s; %d deleted\n", look.Paint(console.Bold, console.Count(r.Uploads, "upload")+" in use"), console.Count(r.Usage.Total, "byte"), r.Deleted)
	console.Printf(w, "%s the keys of %s\n", removed, console.Count(r.Erased, "deleted upload"))
	console.Printf(w, "%s the bytes of %s, %s; those of %d more are not in use, and removed in a day\n",
		removed, console.Count(r.Removed, "file"), console.Count(r.Bytes, "byte"), r.Marked+r.Waiting)
	console.Printf(w, "%s %s of uploads that were not accepted, and %s of files\n",
		removed, console.Count(r.Entries, "identifier"), console.Count(r.Chunks, "piece"))
	for _, id := range r.Broken {
		console.Printf(w, "%s\n", look.Paint(console.Bad, "upload "+id+": its record is lost or cannot be read; see symbolon store check"))
	}
}
