package units

import (
	"errors"

	"symbolon/internal/object"
	"symbolon/internal/sym"
)

const (
	// handful is how many blocks change hands at once, and handsAhead how often
	// that may happen before the receiver is done with the first.
	handful    = 64
	handsAhead = 4
)

var errStopped = errors.New("blocks are not wanted any more")

// handover passes blocks to a receiver that works on them while the next ones are
// made.
type handover struct {
	full, empty chan []sym.Block
	stop        chan struct{} // closed when no more are wanted
	batch       []sym.Block
	n           int // of batch
	err         error
}

// beside makes blocks in another goroutine while yield works on earlier ones. The
// goroutine has ended when beside returns.
func beside(produce func(put func(*sym.Block) error) error, yield func(*sym.Block) error) error {
	h := &handover{
		full: make(chan []sym.Block, handsAhead), empty: make(chan []sym.Block, handsAhead+2), stop: make(chan struct{}),
	}
	go func() {
		defer close(h.full)
		if err := object.Safely(func(h *handover) { h.err = produce(h.put) }, h); err != nil {
			h.err = err
		}
		if h.err == nil {
			h.err = h.flush()
		}
	}()
	var err error
	for batch := range h.full {
		for i := range batch {
			if err == nil {
				if err = yield(&batch[i]); err != nil {
					close(h.stop)
				}
			}
		}
		h.empty <- batch[:handful]
	}
	if err != nil {
		return err
	}
	return h.err
}

// put takes the content of a block, and returns memory for the next one.
func (h *handover) put(b *sym.Block) error {
	if h.batch == nil {
		select {
		case h.batch = <-h.empty:
		default:
			h.batch = make([]sym.Block, handful)
		}
	}
	h.batch[h.n], *b = *b, h.batch[h.n]
	if h.n++; h.n < handful {
		return nil
	}
	return h.flush()
}

func (h *handover) flush() error {
	if h.n == 0 {
		return nil
	}
	batch := h.batch[:h.n]
	h.batch, h.n = nil, 0
	select {
	case h.full <- batch:
		return nil
	case <-h.stop:
		return errStopped
	}
}
