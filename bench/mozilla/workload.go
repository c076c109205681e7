//go:build linux

package mozilla

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// request is one request as it goes over the wire.
type request struct {
	wire   []byte
	frames int
}

// shape is requests of one form.
type shape struct {
	name     string
	requests []request
}

// workload is the requests of all groups.
type workload struct {
	one    request   // one frame of the largest file
	big    request   // 1,000 jobs, about 29,400 frames in all files
	small  []request // 60 of one job
	shapes []shape
}

// The shape of the stacks, as recorded: runs of frames in modules that are
// drawn with weight 1/rank^zipf, functions drawn with a heavy tail.
const (
	seed       = 31
	zipf       = 1.1
	stackMean  = 30
	stackSigma = stackMean / 4.0
	runRate    = 0.4 // of the exponential distribution that runs have
	unused     = 25  // modules of a memory map that no frame refers to
)

func newWorkload(modules []module) workload {
	m := &modules[0]
	middle := m.funcs[len(m.funcs)/2]
	one := fmt.Appendf(nil, `{"jobs":[{"memoryMap":[[%q,%q]],"stacks":[[[0,%d]]]}]}`, m.file, m.id, middle.addr+middle.size/2)
	w := workload{
		one:   request{wireOf(one), 1},
		big:   newMaker(modules).jobs(1000, 1000)[0],
		small: newMaker(modules).jobs(60, 1),
	}
	w.shapes = []shape{
		{"60 requests of 1 job", w.small},
		{"100 jobs, 10 a request", newMaker(modules).jobs(100, 10)},
		{"1,000 jobs in 1 request", []request{w.big}},
		{"1,000 stacks in 1 job", []request{newMaker(modules).stacks(1000)}},
	}
	return w
}

// maker makes requests. The same modules give the same requests.
type maker struct {
	modules []module
	weights []float64 // summed up
	r       *rand.Rand
	table   []byte // the memory map
}

func newMaker(modules []module) *maker {
	m := &maker{modules: modules, r: rand.New(rand.NewPCG(seed, seed))}
	m.table = []byte{'['}
	sum := 0.0
	for i := range modules {
		sum += 1 / math.Pow(float64(i+1), zipf)
		m.weights = append(m.weights, sum)
		m.table = fmt.Appendf(m.table, "[%q,%q],", modules[i].file, modules[i].id)
	}
	for i := range unused {
		m.table = fmt.Appendf(m.table, `["libidle%d.so","%032X0"],`, i, 0x12345600+i)
	}
	m.table[len(m.table)-1] = ']'
	return m
}

// jobs makes n jobs of one stack, so many a request.
func (m *maker) jobs(n, perRequest int) (out []request) {
	for ; n > 0; n -= perRequest {
		body, frames := []byte(`{"jobs":[`), 0
		for range min(n, perRequest) {
			body = append(append(append(body, `{"memoryMap":`...), m.table...), `,"stacks":[`...)
			body, frames = m.stack(body, frames)
			body = append(body, `]},`...)
		}
		body = append(body[:len(body)-1], `]}`...)
		out = append(out, request{wireOf(body), frames})
	}
	return out
}

// stacks makes one request of one job with n stacks.
func (m *maker) stacks(n int) request {
	body := append(append([]byte(`{"jobs":[{"memoryMap":`), m.table...), `,"stacks":[`...)
	frames := 0
	for range n {
		body, frames = m.stack(body, frames)
		body = append(body, ',')
	}
	return request{wireOf(append(body[:len(body)-1], `]}]}`...)), frames}
}

// stack appends one stack to body and counts its frames.
func (m *maker) stack(body []byte, frames int) ([]byte, int) {
	n := max(1, int(stackMean+m.r.NormFloat64()*stackSigma))
	frames += n
	body = append(body, '[')
	for n > 0 {
		p := m.r.Float64() * m.weights[len(m.weights)-1]
		k := 0
		for m.weights[k] < p {
			k++
		}
		funcs := m.modules[k].funcs
		run := min(n, 1+int(m.r.ExpFloat64()/runRate))
		n -= run
		for range run {
			f := funcs[int(float64(len(funcs))*math.Pow(m.r.Float64(), 2))]
			body = strconv.AppendInt(append(body, '['), int64(k), 10)
			body = strconv.AppendUint(append(body, ','), f.addr+m.r.Uint64N(f.size), 10)
			body = append(body, "],"...)
		}
	}
	body[len(body)-1] = ']'
	return body, frames
}

func wireOf(body []byte) []byte {
	head := fmt.Appendf(nil, "POST /symbolicate/v5 HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	return append(head, body...)
}
