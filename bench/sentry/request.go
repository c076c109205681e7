//go:build linux

package sentry

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// module is a file that requests ask for.
type module struct {
	codeID, debugID string
	base            uint64
	entries         []uint64
}

// lay puts debug files into a folder, by their build ids, and samples their
// functions.
func lay(dir string, files []string) ([]module, error) {
	var out []module
	for i, file := range files {
		m, err := sample(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		m.base = uint64(i+1) << 40
		path := filepath.Join(dir, m.codeID[:2], m.codeID[2:]+".debug")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := copyFile(path, file); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// sample reads where the functions of a file begin.
func sample(file string) (m module, err error) {
	f, err := os.Open(file)
	if err != nil {
		return m, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	open, err := debugfile.Open(io.NewSectionReader(f, 0, info.Size()), object.Options{})
	if err != nil {
		return m, err
	}
	o := open.Objects()[0]
	id := o.Info().Module
	m.codeID, m.debugID = id.CodeID.String(), id.DebugID.String()
	err = o.Blocks(object.BlockOptions{Workers: 2}, func(b *sym.Block) error {
		for _, n := range b.Nodes {
			if n.Parent < 0 && n.Size > 8 && len(m.entries) < 200_000 {
				m.entries = append(m.entries, n.Entry)
			}
		}
		return nil
	})
	if err == nil && (len(m.entries) == 0 || len(m.codeID) < 8) {
		err = fmt.Errorf("it has %d functions and the code id %q", len(m.entries), m.codeID)
	}
	return m, err
}

// request asks for random functions of the modules.
func request(modules []module, stacks, frames int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	b.WriteString(`{"platform":"native","stacktraces":[`)
	for s := range stacks {
		b.WriteString([]string{`{"frames":[`, `,{"frames":[`}[min(s, 1)])
		for f := range frames {
			m := modules[r.IntN(len(modules))]
			addr := m.base + m.entries[r.IntN(len(m.entries))] + 5
			fmt.Fprintf(&b, `%s{"instruction_addr":"0x%x"}`, []string{"", ","}[min(f, 1)], addr)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`],"modules":[`)
	for i, m := range modules {
		fmt.Fprintf(&b, `%s{"type":"elf","code_id":"%s","debug_id":"%s","code_file":"/lib/m%d.so","image_addr":"0x%x","image_size":%d}`,
			[]string{"", ","}[min(i, 1)], m.codeID, m.debugID, i, m.base, uint64(1)<<36)
	}
	b.WriteString(`],"options":{"apply_source_context":false}}`)
	return []byte(b.String())
}
