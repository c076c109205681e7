package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"symbolon/internal/demangle"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/sym"
)

// A Function is a function or symbol of a debug file.
type Function struct {
	Addr string `json:"addr"`
	Size uint64 `json:"size,omitempty"` // bytes; zero: unknown
	Name string `json:"name"`
}

// Matches are the functions and source files that contain a text.
type Matches struct {
	Functions []Function `json:"functions"`
	Files     []string   `json:"files"`
	IsCut     bool       `json:"cut"` // there are more, or the context ended before all were read
}

// errEnough ends a search.
var errEnough = errors.New("enough matches")

// Search returns the functions and source files of an object whose name contains a text,
// ignoring case, at most most of each. When ctx ends it returns the matches so far.
func Search(ctx context.Context, o *object.Object, text string, most int) (*Matches, error) {
	s := search{
		names: o.Names(), text: bytes.ToLower([]byte(text)), most: most, isMangled: o.Mangled(), files: map[sym.Text]bool{},
		out: &Matches{Functions: []Function{}, Files: []string{}},
	}
	err := o.Blocks(object.BlockOptions{Scratch: scratch.Dir(os.TempDir())}, func(b *sym.Block) error {
		s.functions(b)
		s.sources(b)
		if s.out.IsCut && len(s.out.Files) == most && len(s.out.Functions) == most {
			return errEnough
		}
		return ctx.Err()
	})
	s.out.IsCut = s.out.IsCut || ctx.Err() != nil
	if errors.Is(err, errEnough) || ctx.Err() != nil {
		err = nil
	}
	slices.Sort(s.out.Files)
	return s.out, err
}

// search is the state of Search.
type search struct {
	names     *object.Names
	text      []byte // in lower case
	most      int
	isMangled bool
	files     map[sym.Text]bool // that were compared
	name      []byte
	out       *Matches
}

// matches reports whether a name contains the text and has a place in a list of n matches.
func (s *search) matches(name []byte, n int) bool {
	isMatch := bytes.Contains(bytes.ToLower(name), s.text)
	s.out.IsCut = s.out.IsCut || isMatch && n == s.most
	return isMatch && n < s.most
}

// functions adds the functions of a block.
func (s *search) functions(b *sym.Block) {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Parent >= 0 {
			continue
		}
		s.name = s.names.AppendText(s.name[:0], n.Name)
		name := string(s.name)
		if s.isMangled {
			name = demangle.Name(name, demangle.Full)
		}
		if s.matches([]byte(name), len(s.out.Functions)) {
			s.out.Functions = append(s.out.Functions, Function{fmt.Sprintf("%#x", n.Entry), n.Size, name})
		}
	}
}

// sources adds the source files of a block.
func (s *search) sources(b *sym.Block) {
	for i := range b.Rows {
		f := b.Rows[i].File
		if f == 0 || s.files[f] {
			continue
		}
		s.files[f] = true
		s.name = s.names.AppendText(s.name[:0], f)
		if s.matches(s.name, len(s.out.Files)) {
			s.out.Files = append(s.out.Files, string(s.name))
		}
	}
}
