package sentry

import (
	"sync"

	"symbolon/internal/demangle"
)

const (
	mostNames   = 10 << 20 // bytes of names that are remembered
	longestName = 4 << 10  // of one of them
)

// names remembers what mangled names read as, since one name is met again and
// again. What was not asked for while half of the memory filled up is
// forgotten.
type names struct {
	mu       sync.RWMutex
	now, old map[string]string // readable by mangled; "" if it is the same
	size     int               // bytes of now
}

// readable is a name in the form for people: with parameters, and without the
// type of the result. Without any work left it stays mangled.
func (n *names) readable(raw []byte, work *demangle.Work) (text string, mangled bool) {
	if !demangle.Candidate(raw) {
		return "", false
	}
	n.mu.RLock()
	text, known := n.now[string(raw)]
	n.mu.RUnlock()
	if !known {
		text = n.learn(string(raw), work)
	}
	return text, text != ""
}

func (n *names) learn(raw string, work *demangle.Work) (text string) {
	n.mu.RLock()
	text, known := n.old[raw]
	n.mu.RUnlock()
	if !known {
		if text, known = work.Name(raw, demangle.Called); !known {
			return ""
		} else if text == raw {
			text = ""
		}
	}
	if len(raw)+len(text) > longestName {
		return text
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now == nil || n.size > mostNames/2 {
		n.now, n.old, n.size = map[string]string{}, n.now, 0
	}
	if _, known := n.now[raw]; !known {
		n.now[raw] = text
		n.size += len(raw) + len(text) + nameCost
	}
	return text
}

// nameCost is about what a name takes besides its bytes.
const nameCost = 64
