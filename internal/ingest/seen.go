package ingest

import (
	"container/list"
	"sync"
)

// maxSeen is how many open uploads are remembered. Others are looked at from their
// first part on.
const maxSeen = 4096

// seen remembers of open uploads how many parts, counted from the first one, have
// been seen. It is a hint: parts may have gone since.
type seen struct {
	mu    sync.Mutex
	at    map[string]*list.Element
	order list.List // of *open, the one that was used last in front
}

type open struct {
	name string
	next int
}

func (s *seen) get(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.at[name]
	if e == nil {
		return 0
	}
	s.order.MoveToFront(e)
	return e.Value.(*open).next
}

// set remembers that the part next is the first one that is missing.
func (s *seen) set(name string, next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at[name]; e != nil {
		e.Value.(*open).next = next
		s.order.MoveToFront(e)
		return
	}
	if s.at == nil {
		s.at = map[string]*list.Element{}
	}
	s.at[name] = s.order.PushFront(&open{name, next})
	if s.order.Len() > maxSeen {
		last := s.order.Back()
		s.order.Remove(last)
		delete(s.at, last.Value.(*open).name)
	}
}

func (s *seen) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at[name]; e != nil {
		s.order.Remove(e)
		delete(s.at, name)
	}
}
