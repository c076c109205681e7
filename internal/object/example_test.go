package object_test

import (
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// An object answers addresses itself, and hands the same rows out as blocks, of
// which a table is built.
func ExampleObject() {
	file, err := debugfile.Open(bin.Bytes([]byte(`MODULE Linux x86_64 0F1E2D3C4B5A69788796A5B4C3D2E1F00 kettle
FILE 0 src/kettle.c
FUNC 1000 20 0 boil
1000 8 11 0
1008 18 13 0
`)), object.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	o := file.Objects()[0]
	fmt.Println(o.Info().Kind, o.Info().Module.DebugFile, o.Info().Features.Names())

	frame := o.Lookup(nil, 0x100c)[0]
	fmt.Printf("%s at %s:%d\n", o.AppendText(nil, frame.Func), o.AppendText(nil, frame.File), frame.Line)

	err = o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
		for _, row := range b.Rows {
			fmt.Printf("row at %#x\n", row.Addr)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// breakpad kettle [debug]
	// boil at src/kettle.c:13
	// row at 0x1000
	// row at 0x1008
	// row at 0x1020
	// <nil>
}
