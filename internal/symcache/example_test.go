package symcache_test

import (
	"bytes"
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

func Example() {
	names := []string{"", "main", "square", "main.c", "math.h"}
	b := symcache.NewBuilder(symcache.Options{}, func(dst []byte, t sym.Text) []byte { return append(dst, names[t]...) })
	defer b.Close()
	err := b.Add(&sym.Block{
		Nodes: []sym.Node{
			{Parent: -1, Name: 1, Entry: 0x1000, Size: 0x40},
			{Parent: 0, Name: 2, CallFile: 3, CallLine: 12},
		},
		Rows: []sym.Row{
			{Addr: 0x1000, Node: 0, File: 3, Line: 10},
			{Addr: 0x1010, Node: 1, File: 4, Line: 77},
			{Addr: 0x1040, Node: sym.Hole},
		},
	})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := b.Finish(&file, symcache.Info{Producer: "example"}); err != nil {
		panic(err)
	}

	table, err := symcache.Open(bin.Bytes(file.Bytes()))
	if err != nil {
		panic(err)
	}
	for _, f := range table.Lookup(nil, 0x1020) {
		name, _ := table.AppendText(nil, f.Func)
		file, _ := table.AppendText(nil, f.File)
		fmt.Printf("%s at %s:%d\n", name, file, f.Line)
	}
	fmt.Println(len(table.Lookup(nil, 0x1040)), "frames in the hole")
	// Output:
	// square at math.h:77
	// main at main.c:12
	// 0 frames in the hole
}
