package missing

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/console"
)

// WriteCSV writes rows with a header. The first four columns are those of Mozilla's
// missingsymbols.csv.
func WriteCSV(w io.Writer, rows []*Row) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"debug_file", "debug_id", "code_file", "code_id", "count", "first", "last", "interface", "project", "reason", "product"}) // Error has it
	for _, r := range rows {
		_ = out.Write(Cells(
			r.DebugFile, r.DebugID, r.CodeFile, r.CodeID, strconv.FormatInt(r.Count, 10),
			r.First.Format(time.RFC3339), r.Last.Format(time.RFC3339), r.Door, r.Project, r.Reason, r.Product,
		))
	}
	out.Flush()
	return out.Error()
}

// Cells returns texts for a row of a CSV file. One that a spreadsheet would take for a
// formula gets an apostrophe before it: clients sent the names.
func Cells(texts ...string) []string {
	for i, text := range texts {
		if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
			texts[i] = "'" + text
		}
	}
	return texts
}

// WriteText writes rows as a table for people.
func WriteText(w io.Writer, rows []*Row, look console.Look) {
	form, out := "%8d  %s  %s%s  %s  %s\n", w
	if look != console.Plain {
		t := console.NewTable(w, look, "REQUESTS", "LAST", "MODULE", "CLIENT", "REASON")
		defer t.Flush() // its errors are those of a terminal
		form, out = "%8d\t%s\t%s%s\t%s\t%s\n", t
	}
	for _, r := range rows {
		name, id := r.DebugFile, r.DebugID
		if id == "" {
			name, id = r.CodeFile, r.CodeID
		}
		from := r.Door
		if r.Product != "" {
			from += "/" + r.Product
		}
		if name != "" { // a debuginfod client sends the id only
			name += "/"
		}
		console.Printf(out, form, r.Count, r.Last.Format("2006-01-02 15:04"), console.Printable(name), id,
			console.Printable(from), look.Paint(console.Faint, console.Printable(r.Reason)))
	}
}
