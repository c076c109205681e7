package trial

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Sym is a Breakpad symbol file of any size whose right answers are known.
// Each function takes about 100 bytes of it.
type Sym struct {
	Module
	Funcs int
}

// NewSym is the file of a library; n tells apart those of one test.
func NewSym(n, funcs int) Sym {
	return Sym{Module{fmt.Sprintf("lib%d.so", n), fmt.Sprintf("%032X0", 0xF00D0000+n)}, funcs}
}

// Path is where the file is asked for on a symbol server.
func (s Sym) Path() string { return "/" + s.File + "/" + s.ID + "/" + s.File + ".sym" }

const (
	symBase  = 0x1000
	symSpan  = 0x40 // of a function
	symFiles = 97
)

// Offset is an address in function i.
func (s Sym) Offset(i int) uint64 { return symBase + uint64(i)*symSpan + symSpan/2 + 1 }

// Answer is what Answer.Text has to be for Offset(i).
func (s Sym) Answer(i int) string {
	return fmt.Sprintf("%s_function_%d(int, char const*) /src/%s/file%d.c:%d", s.File, i, s.File, i%symFiles, i%5000+2)
}

// Write writes the file to w, a piece at a time.
func (s Sym) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, "MODULE Linux x86_64 %s %s\n", s.ID, s.File)
	for i := range symFiles {
		fmt.Fprintf(out, "FILE %d /src/%s/file%d.c\n", i, s.File, i)
	}
	for i := range s.Funcs {
		at, line := symBase+i*symSpan, i%5000+1
		_, err := fmt.Fprintf(out, "FUNC %x 40 0 %s_function_%d(int, char const*)\n%x 20 %d %d\n%x 20 %d %d\n",
			at, s.File, i, at, line, i%symFiles, at+symSpan/2, line+1, i%symFiles)
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// Bytes is the whole file.
func (s Sym) Bytes() []byte {
	var b bytes.Buffer
	_ = s.Write(&b) // a buffer takes everything
	return b.Bytes()
}

// ServeHTTP sends the file without having all of it in memory.
func (s Sym) ServeHTTP(w http.ResponseWriter, _ *http.Request) { _ = s.Write(w) } // the other side may leave

// Frames are the addresses of functions i in the module of this index.
func (s Sym) Frames(module int, functions ...int) []Frame {
	var all []Frame
	for _, i := range functions {
		all = append(all, Frame{module, s.Offset(i)})
	}
	return all
}

// Ask asks for function i of sym and tells whether the answer is right, or what
// it is instead.
func (s *Server) Ask(sym Sym, i int) (wrong string) {
	s.t.Helper()
	a := s.V5([]Module{sym.Module}, sym.Frames(0, i)...)
	if got := a.Text(0); got != sym.Answer(i) {
		return fmt.Sprintf("function %d of %s is %q, %s", i, sym.File, got, a.Reasons(sym.Module))
	}
	return ""
}
