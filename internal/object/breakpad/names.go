package breakpad

import (
	"sync"

	"symbolon/internal/sym"
)

// maxNames is how many bytes of names a file keeps that is not in memory.
const maxNames = 512 << 10

// names are the names that were requested first, so that the most frequent files and
// functions are read once.
type names struct {
	mu   sync.Mutex
	at   map[sym.Text]nameSpan
	text []byte
}

type nameSpan struct{ from, to uint32 }

// find appends a name, if it is there.
func (n *names) find(dst []byte, t sym.Text) ([]byte, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.at[t]
	if !ok {
		return nil, false
	}
	return append(dst, n.text[s.from:s.to]...), true
}

func (n *names) add(t sym.Text, name []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.text)+len(name) > maxNames || len(n.at) > maxNames/64 {
		return
	}
	if n.at == nil {
		n.at = map[sym.Text]nameSpan{}
	}
	from := len(n.text)
	n.text = append(n.text, name...)
	n.at[t] = nameSpan{uint32(from), uint32(len(n.text))}
}
