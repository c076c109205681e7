package shared

import "sync"

// maxMarks is the largest number of marks.
const maxMarks = 10_000

// marks are the objects that this process has seen and that are not entries. An
// object whose mark is evicted is found again.
type marks struct {
	mu  sync.Mutex
	ids map[id]struct{}
}

// add marks an object and reports whether the mark is new.
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
