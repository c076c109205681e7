package sentry

import (
	"sync"

	"symbolon/internal/demangle"
)

const (
	namesBytes = 10 << 20 // bytes of cached names
	maxName    = 4 << 10  // bytes of one name
)

// names is a cache of demangled names, since the same names occur again and again.
// It has two generations, each of half of the memory; names of the older one that
// were not used are evicted when the newer one is full.
type names struct {
	mu       sync.RWMutex
	new, old map[string]string // demangled by mangled; "" if it is the same
	size     int               // bytes of new
}

// readable demangles a name, with parameters and without the type of the result.
// If the budget of work is exhausted, the name stays mangled.
func (n *names) readable(raw []byte, work *demangle.Work) (text string, mangled bool) {
	if !demangle.Candidate(raw) {
		return "", false
	}
	n.mu.RLock()
	text, known := n.new[string(raw)]
	n.mu.RUnlock()
	if !known {
		text = n.demangle(string(raw), work)
	}
	return text, text != ""
}

func (n *names) demangle(raw string, work *demangle.Work) (text string) {
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
	if len(raw)+len(text) > maxName {
		return text
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.new == nil || n.size > namesBytes/2 {
		n.new, n.old, n.size = map[string]string{}, n.new, 0
	}
	if _, known := n.new[raw]; !known {
		n.new[raw] = text
		n.size += len(raw) + len(text) + nameCost
	}
	return text
}

// nameCost is about the memory of an entry besides its bytes.
const nameCost = 64
