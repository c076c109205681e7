package shared

import "sync"

// maxMarks is how many objects that are no entries are remembered.
const maxMarks = 10_000

// marks are the objects that are no entries, as far as this process has seen.
// What falls out of it is found bad again.
type marks struct {
	mu  sync.Mutex
	ids map[id]struct{}
}

// add marks an object and tells whether that is new.
func (m *marks) add(of id) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.ids[of]; known {
		return false
	}
	if len(m.ids) >= maxMarks {
		for old := range m.ids {
			delete(m.ids, old)
			break
		}
	}
	m.ids[of] = struct{}{}
	return true
}

func (m *marks) has(of id) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.ids[of]
	return known
}

func (m *marks) drop(of id) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ids, of)
}
