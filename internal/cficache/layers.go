package cficache

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// A span is a range of addresses with a row.
type span struct {
	start, end uint64
	row        uint32
}

// A layer has the pieces of code of one kind. It yields their spans in the order
// of addresses, without overlaps.
type layer struct {
	pieces []piece
	rows   []byte // for each row of a piece uleb size of its range and number
	open   bool   // rows may be added to the last piece
	cuts   bool   // a piece ends where another starts, instead of hiding its start

	span          // the next one; at the end of addresses after the last one
	next   int    // piece
	left   []byte // rows of the piece before, which start at at
	at     uint64
	until  uint64 // end of that piece
	hidden uint64 // end of the spans that were yielded
}

// A piece is a part of code with consecutive rows.
type piece struct {
	start, end uint64
	at         int // offset of its rows
}

// held returns the bytes of memory that the layer needs.
func (l *layer) held() int64 { return int64(cap(l.pieces))*24 + int64(cap(l.rows)) }

// add adds a row after the last one of the open piece, or of a new one.
func (l *layer) add(start, end uint64, row uint32) {
	if !l.open {
		l.pieces = append(l.pieces, piece{start: start, at: len(l.rows)})
		l.open = true
	}
	l.pieces[len(l.pieces)-1].end = end
	l.rows = binary.AppendUvarint(binary.AppendUvarint(l.rows, end-start), uint64(row))
}

// close ends the piece of code of a record. Without rules there, or from the first
// invalid ones on, it is a hole: no other piece applies.
func (l *layer) close(of span) {
	if l.open {
		of.start = l.pieces[len(l.pieces)-1].end
	}
	if of.start < of.end {
		l.add(of.start, of.end, 0)
	}
	l.open = false
}

// sort sets span to the first one.
func (l *layer) sort() {
	byStart := func(a, b piece) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(l.pieces, byStart) {
		slices.SortStableFunc(l.pieces, byStart)
	}
	l.advance()
}

// advance sets span to the next one.
func (l *layer) advance() {
	for {
		for l.at < l.until {
			size, n := binary.Uvarint(l.left)
			row, m := binary.Uvarint(l.left[n:])
			l.left = l.left[n+m:]
			l.span = span{max(l.at, l.hidden), min(l.at+size, l.until), uint32(row)}
			if l.at += size; l.start < l.end {
				l.hidden = l.end
				return
			}
		}
		if l.next == len(l.pieces) {
			l.span = span{start: math.MaxUint64, end: math.MaxUint64}
			return
		}
		p := l.pieces[l.next]
		l.next++
		l.left, l.at, l.until = l.rows[p.at:], p.start, p.end
		if l.cuts {
			for l.next < len(l.pieces) && l.pieces[l.next].start == p.start {
				l.next++
			}
			if l.next < len(l.pieces) {
				l.until = min(l.until, l.pieces[l.next].start)
			}
		}
	}
}

// merge calls yield for each range of addresses with the same rows of all
// layers, zero for none.
func merge(layers *[3]layer, yield func(start, end uint64, rows [3]uint32) error) error {
	var used []int // numbers of the layers with pieces: in most files one
	for i := range layers {
		if len(layers[i].pieces) > 0 {
			layers[i].sort()
			used = append(used, i)
		}
	}
	for at := uint64(0); ; {
		start, end := uint64(math.MaxUint64), uint64(math.MaxUint64)
		for _, i := range used {
			start = min(start, max(layers[i].start, at))
		}
		if start == math.MaxUint64 {
			return nil
		}
		var rows [3]uint32
		for _, i := range used {
			if l := &layers[i]; l.start > start {
				end = min(end, l.start)
			} else {
				end, rows[i] = min(end, l.end), l.row
			}
		}
		if err := yield(start, end, rows); err != nil {
			return err
		}
		at = end
		for _, i := range used {
			if layers[i].end <= at {
				layers[i].advance()
			}
		}
	}
}
