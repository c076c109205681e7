package ppdb

import (
	"encoding/binary"
	"math/bits"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Tables with their own names, and the number of tables.
const (
	tableMethodDef = 0x06
	tableDocument  = 0x30
	tableMethod    = 0x31 // MethodDebugInformation
	tableCustom    = 0x37 // CustomDebugInformation
	numTables      = 0x38
)

// Types of columns. A value below colHeap is an index into the table of that
// number, one from colCoded on a coded index into one of several tables.
const (
	colHeap = 0x40 + iota
	colBlob
	colGUID
	col2
	col4

	colString = colHeap
	colCoded  = 0x80
)

// Coded indexes into one of several tables. Their lowest bits select the table.
const (
	typeDefOrRef = colCoded + iota
	hasConstant
	hasCustomAttribute
	hasFieldMarshal
	hasDeclSecurity
	memberRefParent
	hasSemantics
	methodDefOrRef
	memberForwarded
	implementation
	customAttributeType
	resolutionScope
	typeOrMethodDef
	hasCustomDebug
)

// coded lists the tables of each coded index, in the order of their tags.
var coded = [...]string{
	"\x02\x01\x1b",
	"\x04\x08\x17",
	"\x06\x04\x01\x02\x08\x09\x0a\x00\x0e\x17\x14\x11\x1a\x1b\x20\x23\x26\x27\x28\x2a\x2c\x2b",
	"\x04\x08",
	"\x02\x06\x20",
	"\x02\x01\x1a\x06\x1b",
	"\x14\x17",
	"\x06\x0a",
	"\x04\x06",
	"\x26\x23\x27",
	"\x06\x06\x06\x0a\x0a", // the first two and the last one are unused
	"\x00\x1a\x23\x01",
	"\x02\x06",
	"\x06\x04\x01\x02\x08\x09\x0a\x00\x0e\x17\x14\x11\x1a\x1b\x20\x23\x26\x27\x28\x2a\x2c\x2b\x30\x32\x33\x34\x35",
}

// tagDocument is the tag of a document in the index hasCustomDebug, tagBits its
// width, and theModule the index of the only row of the module table.
const (
	tagDocument = 22
	tagBits     = 5
	theModule   = 1<<tagBits | 7
)

// schema lists the columns of each table.
var schema = [numTables][]uint8{
	0x00:           {col2, colString, colGUID, colGUID, colGUID},
	0x01:           {resolutionScope, colString, colString},
	0x02:           {col4, colString, colString, typeDefOrRef, 0x04, tableMethodDef},
	0x03:           {0x04},
	0x04:           {col2, colString, colBlob},
	0x05:           {tableMethodDef},
	tableMethodDef: {col4, col2, col2, colString, colBlob, 0x08},
	0x07:           {0x08},
	0x08:           {col2, col2, colString},
	0x09:           {0x02, typeDefOrRef},
	0x0a:           {memberRefParent, colString, colBlob},
	0x0b:           {col2, hasConstant, colBlob},
	0x0c:           {hasCustomAttribute, customAttributeType, colBlob},
	0x0d:           {hasFieldMarshal, colBlob},
	0x0e:           {col2, hasDeclSecurity, colBlob},
	0x0f:           {col2, col4, 0x02},
	0x10:           {col4, 0x04},
	0x11:           {colBlob},
	0x12:           {0x02, 0x14},
	0x13:           {0x14},
	0x14:           {col2, colString, typeDefOrRef},
	0x15:           {0x02, 0x17},
	0x16:           {0x17},
	0x17:           {col2, colString, colBlob},
	0x18:           {col2, tableMethodDef, hasSemantics},
	0x19:           {0x02, methodDefOrRef, methodDefOrRef},
	0x1a:           {colString},
	0x1b:           {colBlob},
	0x1c:           {col2, memberForwarded, colString, 0x1a},
	0x1d:           {col4, 0x04},
	0x1e:           {col4, col4},
	0x1f:           {col4},
	0x20:           {col4, col2, col2, col2, col2, col4, colBlob, colString, colString},
	0x21:           {col4},
	0x22:           {col4, col4, col4},
	0x23:           {col2, col2, col2, col2, col4, colBlob, colString, colString, colBlob},
	0x24:           {col4, 0x23},
	0x25:           {col4, col4, col4, 0x23},
	0x26:           {col4, colString, colBlob},
	0x27:           {col4, col4, colString, colString, implementation},
	0x28:           {col4, col4, colString, implementation},
	0x29:           {0x02, 0x02},
	0x2a:           {col2, col2, typeOrMethodDef, colString},
	0x2b:           {methodDefOrRef, colBlob},
	0x2c:           {0x2a, typeDefOrRef},
	tableDocument:  {colBlob, colGUID, colBlob, colGUID},
	tableMethod:    {tableDocument, colBlob},
	0x32:           {tableMethodDef, 0x35, 0x33, 0x34, col4, col4},
	0x33:           {col2, col2, colString},
	0x34:           {colString, colBlob},
	0x35:           {0x35, colBlob},
	0x36:           {tableMethodDef, tableMethodDef},
	tableCustom:    {hasCustomDebug, colGUID, colBlob},
}

// table has the rows of a table that the file has.
type table struct {
	data   []byte
	stride int
	count  uint32
	widths [9]uint8 // of the columns
}

// Flags of heaps whose indexes have four bytes.
const (
	wideStrings = 1 << iota
	wideGUIDs
	wideBlobs
	extraData = 0x40 // four bytes follow the rows
)

// readTables reads the tables, given the numbers of rows of those in the
// assembly.
func (f *File) readTables(rows [numTables]uint32) error {
	s := f.stream("#~")
	if s.size == 0 {
		s = f.stream("#-")
	}
	b, err := f.heap(s.name)
	if err != nil {
		return err
	}
	c := bin.NewCursor(b, binary.LittleEndian)
	c.Skip(6)
	heaps := c.U8()
	c.Skip(1)
	set := c.U64()
	c.Skip(8) // set of sorted tables
	readRows(c, set, &rows)
	if heaps&extraData != 0 {
		c.Skip(4)
	}
	if c.Err() != nil {
		return fault.New(fault.Malformed, "ppdb, tables", "truncated header at offset %#x", s.off+int64(c.Off()))
	}
	for i := range f.tables {
		if set>>i&1 == 0 {
			continue
		}
		t := &f.tables[i]
		if t.stride = t.measure(schema[i], heaps, &rows); t.stride == 0 {
			f.Problems.Add("tables", s.off+int64(c.Off()), "unknown table %#x", i)
			return nil
		}
		fit := uint32(min(uint64(rows[i]), uint64(c.Len()/t.stride)))
		if fit < rows[i] {
			f.Problems.Add("tables", s.off+int64(c.Off()), "the file has %d of %d rows of table %#x", fit, rows[i], i)
		}
		t.count, t.data = fit, c.Bytes(int(fit)*t.stride)
		if fit < rows[i] {
			return nil
		}
	}
	return nil
}

// measure computes the widths of the columns, and returns the bytes of a row.
func (t *table) measure(columns []uint8, heaps uint8, rows *[numTables]uint32) (stride int) {
	for i, col := range columns {
		width := uint8(2)
		switch {
		case col == col4,
			col == colString && heaps&wideStrings != 0, col == colGUID && heaps&wideGUIDs != 0, col == colBlob && heaps&wideBlobs != 0,
			col < colHeap && rows[col] > 0xffff, col >= colCoded && isWide(coded[col-colCoded], rows):
			width = 4
		}
		t.widths[i] = width
		stride += int(width)
	}
	return stride
}

// isWide reports whether a coded index into the given tables needs more than
// two bytes.
func isWide(tables string, rows *[numTables]uint32) bool {
	limit := uint32(0xffff) >> bits.Len(uint(len(tables)-1))
	for _, t := range []byte(tables) {
		if rows[t] > limit {
			return true
		}
	}
	return false
}

// cell returns a column of a row, which is counted from 1; zero for an invalid
// row.
func (t *table) cell(row uint32, column int) uint32 {
	if row-1 >= t.count {
		return 0
	}
	b := t.data[int(row-1)*t.stride:]
	for _, w := range t.widths[:column] {
		b = b[w:]
	}
	if t.widths[column] == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return uint32(binary.LittleEndian.Uint16(b))
}
