package debugfile_test

import (
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
)

func Example() {
	f, err := debugfile.Open(bin.Bytes([]byte(`MODULE Linux x86_64 0F1E2D3C4B5A69788796A5B4C3D2E1F00 kettle
FILE 0 src/kettle.c
INLINE_ORIGIN 0 pour
FUNC 1000 20 0 boil
INLINE 0 12 0 0 1008 8
1000 8 11 0
1008 8 40 0
1010 10 13 0
`)), object.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	o := f.Objects()[0]
	for _, frame := range o.Lookup(nil, 0x100a) {
		fmt.Printf("%s %s:%d\n", o.AppendText(nil, frame.Func), o.AppendText(nil, frame.File), frame.Line)
	}
	// Output:
	// pour src/kettle.c:40
	// boil src/kettle.c:12
}
