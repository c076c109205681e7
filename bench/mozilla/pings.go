//go:build linux

package mozilla

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Pings writes crash pings of Firefox, one on each line. A row depends on the seed
// and its number only.
func Pings(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("pings", flag.ExitOnError)
	symbols := fs.String("symbols", "bench/symbols", "the `FOLDER` with the files that symbols.sh makes")
	rows := fs.Int("rows", 1_000_000, "how many")
	seed := fs.Uint64("seed", 1, "another `NUMBER` gives other pings")
	all := fs.Bool("all-modules", false, "write all modules of a process, about 10 KB a row, instead of those of the frames, about 2 KB")
	out := fs.String("out", "", "the `FILE`, and more of them after it, that each get an equal part; with zstd if its name ends in .zst")
	_ = fs.Parse(args) // it exits
	if *out == "" {
		return errors.New("--out is missing")
	}
	modules, err := findModules(*symbols)
	if err != nil {
		return err
	}
	m, err := newPings(modules, *seed, *all)
	if err != nil {
		return err
	}
	files := append([]string{*out}, fs.Args()...)
	for i, file := range files {
		if err := m.write(ctx, file, *rows*i/len(files), *rows*(i+1)/len(files)); err != nil {
			return err
		}
	}
	return nil
}

// The shape of the stacks. As in pings, most frames are in one module, and few
// functions are in most stacks: with the twelve files, two thirds of all frames are
// in the largest one, and of these, a third in 100 of its functions. The lengths of
// stacks and of runs of frames in one module are those of the workload.
const (
	pingZipf  = 2.0 // a module is drawn with weight 1/rank^pingZipf
	funcZipf  = 1.1 // a function with weight 1/(funcFlat+rank)^funcZipf
	funcFlat  = 10
	callSites = 4       // addresses of a function that frames have
	apart     = 1 << 32 // between the modules of a process
	funcStep  = 7919    // from a function to that of the next rank, so that they are not neighbors
)

// pings makes crash pings.
type pings struct {
	source  *rand.PCG
	r       *rand.Rand
	seed    uint64
	all     bool
	modules []pingModule
	weights []float64 // summed up
	frames  [][2]uint64
	used    []int // index of each module in the ping, from 1
}

type pingModule struct {
	module
	codeID string
	rank   *rand.Zipf // of a function
}

func newPings(modules []module, seed uint64, all bool) (*pings, error) {
	p := &pings{source: rand.NewPCG(seed, 0), seed: seed, all: all}
	p.r = rand.New(p.source)
	sum := 0.0
	for i, m := range modules {
		sum += 1 / math.Pow(float64(i+1), pingZipf)
		p.weights = append(p.weights, sum)
		head := make([]byte, 4<<10)
		f, err := os.Open(m.path)
		if err != nil {
			return nil, err
		}
		n, err := io.ReadFull(f, head)
		f.Close()
		if err != nil && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		_, after, _ := bytes.Cut(head[:n], []byte("INFO CODE_ID "))
		id, _, _ := bytes.Cut(after, []byte("\n"))
		code, _, _ := strings.Cut(string(id), " ")
		p.modules = append(p.modules, pingModule{m, strings.ToLower(code), rand.NewZipf(p.r, funcZipf, funcFlat, uint64(len(m.funcs)-1))})
	}
	for i := range unused {
		m := module{file: fmt.Sprintf("libidle%d.so", i), id: fmt.Sprintf("%032X0", 0x12345600+i), funcs: []function{{size: 1 << 20}}}
		p.modules = append(p.modules, pingModule{m, fmt.Sprintf("%040x", 0x12345600+i), nil})
	}
	p.used = make([]int, len(p.modules))
	return p, nil
}

// write writes some rows to a file.
func (p *pings) write(ctx context.Context, file string, from, to int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var w io.WriteCloser = f
	if strings.HasSuffix(file, ".zst") {
		if w, err = zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
	}
	out := bufio.NewWriterSize(w, 1<<20)
	var row []byte
	for i := from; i < to && ctx.Err() == nil; i++ {
		row = p.row(row[:0], i)
		out.Write(row) // Flush returns the error
	}
	return errors.Join(ctx.Err(), out.Flush())
}

// row appends the row with a number.
func (p *pings) row(b []byte, number int) []byte {
	p.source.Seed(p.seed, uint64(number))
	base := 0x7f00_0000_0000 + p.r.Uint64N(1<<16)<<12
	p.frames = p.frames[:0]
	clear(p.used)
	for n := max(1, int(stackMean+p.r.NormFloat64()*stackSigma)); n > 0; {
		at, k := p.r.Float64()*p.weights[len(p.weights)-1], 0
		for p.weights[k] < at {
			k++
		}
		m := &p.modules[k]
		run := min(n, 1+int(p.r.ExpFloat64()/runRate))
		n -= run
		for range run {
			f := m.funcs[m.rank.Uint64()*funcStep%uint64(len(m.funcs))]
			ip := base + uint64(k)*apart + f.addr + (f.size-1)*(1+p.r.Uint64N(callSites))/callSites
			p.frames = append(p.frames, [2]uint64{ip, uint64(k)})
		}
	}
	b = fmt.Appendf(b, `{"document_id":"%08x-0000-4000-8000-%012x","crash_type":"SIGSEGV / SEGV_MAPERR","crash_address":"0x%x","crash_thread":0,"main_module":0,"modules":[`,
		number, p.r.Uint64N(1<<48), p.r.Uint64N(1<<12))
	b = p.list(b, base)
	b = append(b, `],"threads":[{"frames":[`...)
	for i, f := range p.frames {
		if b = fmt.Appendf(b, `{"ip":"0x%x","module_index":%d`, f[0], p.used[f[1]]-1); p.all {
			trust := `,"trust":"cfi"`
			if i == 0 {
				trust = `,"trust":"context"`
			}
			b = append(b, trust...)
		}
		b = append(b, "},"...)
	}
	return append(b[:len(b)-1], "]}]}\n"...)
}

// list appends the modules of a ping and sets the index of each.
func (p *pings) list(b []byte, base uint64) []byte {
	for _, f := range p.frames {
		p.used[f[1]] = 1
	}
	count := 0
	for i := range p.modules {
		if p.used[i] == 0 && !p.all {
			continue
		}
		count++
		p.used[i] = count
		m := &p.modules[i]
		from, last := base+uint64(i)*apart, m.funcs[len(m.funcs)-1]
		b = fmt.Appendf(b, `{"base_address":"0x%x","end_address":"0x%x","filename":%q,`, from, from+(last.addr+last.size|0xfff)+1, m.file)
		if p.all {
			b = fmt.Appendf(b, `"code_id":%q,"version":"140.0",`, m.codeID)
		}
		b = fmt.Appendf(b, `"debug_file":%q,"debug_id":%q},`, m.file, m.id)
	}
	return b[:len(b)-1]
}
