package perf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Records and features of a file of perf record.
const (
	dataMagic      = "PERFILE2"
	dataHeader     = 104
	recordHeader   = 8
	recordMMAP2    = 10
	recordAuxtrace = 71
	featureIDs     = 2
	hasIDInMMAP2   = 1 << 14
	hasIDSize      = 1 << 15
)

// IDs returns the build ids of the files in a file of perf record, by path. Perf
// writes them for all files with samples at its end, or with --buildid-mmap in the
// record of each mapping. Records that perf compresses (-z) are skipped.
func IDs(src bin.Source) (map[string]ident.CodeID, error) {
	head, err := bin.Read(src, 0, int(min(dataHeader, src.Size())))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte(dataMagic)) || len(head) < dataHeader || binary.LittleEndian.Uint64(head[8:]) != dataHeader {
		return nil, fault.New(fault.Unsupported, "perf.data", "must be a little-endian file of perf record, and not one of a pipe")
	}
	c := bin.NewCursor(head[40:], binary.LittleEndian)
	data := [2]uint64{c.U64(), c.U64()}
	c.Skip(16)
	flags := c.U64()
	ids := map[string]ident.CodeID{}
	if err := readRecords(ids, src, data, false); err != nil || flags>>featureIDs&1 == 0 {
		return ids, err
	}
	// A table after the records has the place of each feature in the order of the flags.
	table, err := bin.Read(src, int64(data[0]+data[1]+16*(flags>>1&1)), 16)
	if err != nil {
		return nil, err
	}
	c = bin.NewCursor(table, binary.LittleEndian)
	return ids, readRecords(ids, src, [2]uint64{c.U64(), c.U64()}, true)
}

// readRecords reads the ids in a part of the file, an offset and a size. Its records
// are those of mappings and others, or a list of ids.
func readRecords(ids map[string]ident.CodeID, src bin.Source, part [2]uint64, isList bool) error {
	if size := uint64(src.Size()); part[0] > size || part[1] > size-part[0] {
		return fault.New(fault.Malformed, "perf.data", "is cut off: perf record has not ended, or the file is not complete")
	}
	r := bufio.NewReaderSize(io.NewSectionReader(src, int64(part[0]), int64(part[1])), 64<<10)
	for len(ids) < maxFiles {
		head, err := r.Peek(recordHeader)
		if err == io.EOF {
			return nil // also if a part of a record is left
		}
		if err != nil {
			return err
		}
		c := bin.NewCursor(head, binary.LittleEndian)
		kind, misc, size := c.U32(), c.U16(), int(c.U16())
		record, err := r.Peek(size)
		if err != nil && err != io.EOF {
			return err
		}
		if err != nil || size < recordHeader {
			return fault.New(fault.Malformed, "perf.data", "invalid record of %d bytes: must be at least 8, and no more than the file has", size)
		}
		c = bin.NewCursor(record[recordHeader:], binary.LittleEndian)
		id, length := []byte(nil), 20
		switch {
		case isList:
			c.Skip(4)
			id = c.Bytes(20)
			if n := int(c.U32() & 0xff); misc&hasIDSize != 0 {
				length = n
			}
		case kind == recordMMAP2 && misc&hasIDInMMAP2 != 0:
			c.Skip(32)
			length = int(c.U32() & 0xff)
			id = c.Bytes(20)
			c.Skip(8)
		}
		if path := c.CString(); id != nil && length <= len(id) && c.Err() == nil {
			if bytes.HasSuffix(path, []byte("]_text")) { // of a kernel
				path = path[:len(path)-len("_text")]
			}
			ids[string(path)] = ident.NewBuildID(id[:length]).CodeID()
		}
		skip := size
		if kind == recordAuxtrace && !isList && size >= 16 {
			skip += int(min(binary.LittleEndian.Uint64(record[8:]), 1<<62)) // its data follow it
		}
		if _, err := r.Discard(skip); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}
