package firefox

import (
	"bufio"
	"io"

	"symbolon/internal/filter/rawjson"
)

// An edit is a change of the document at a position.
type edit struct {
	at    int
	write func(e *rawjson.Editor) error
}

// writeEdits writes a document with edits, which are in the order of their positions.
func writeEdits(data []byte, edits []edit, out io.Writer) error {
	w := bufio.NewWriterSize(out, 64<<10)
	e := rawjson.NewEditor(w, data)
	for _, edit := range edits {
		if err := edit.write(&e); err != nil {
			return err
		}
	}
	e.Finish()
	return w.Flush()
}
