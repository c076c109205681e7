package push

import "sync"

// progress counts the bytes of a file that several requests send.
type progress struct {
	mu          sync.Mutex
	report      func(name string, done, total int64)
	name        string
	done, total int64
}

// begin begins a file.
func (p *progress) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.done, p.total = name, 0, 0
	p.report(name, 0, 0)
}

// expect adds n bytes that will be sent.
func (p *progress) expect(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += n
}

// add adds n bytes that were sent.
func (p *progress) add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.report(p.name, p.done, p.total)
}
