package explain

import (
	"context"
	"encoding/json"
	"io"

	"symbolon/internal/bucket"
	"symbolon/internal/console"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

// A Form is the output format of trails.
type Form struct {
	JSON bool
	Look console.Look // of text
}

// Check looks modules up, and returns the number of those without symbols. It writes the
// trails of these for people, or of all as lines of JSON.
func Check(ctx context.Context, lookup func(context.Context, Question) (*Trail, error), modules []ident.Module, form Form, w io.Writer) (bad int, err error) {
	trails := make([]*Trail, len(modules))
	err = bucket.Each(len(modules), func(i int) (err error) {
		trails[i], err = lookup(ctx, Question{Module: modules[i], Purpose: locate.Debug})
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, t := range trails {
		if !t.Found {
			bad++
		}
		switch {
		case form.JSON:
			if err := json.NewEncoder(w).Encode(t); err != nil {
				return bad, err
			}
		case !t.Found:
			t.WriteText(w, form.Look, false)
			console.Printf(w, "\n")
		}
	}
	return bad, nil
}
