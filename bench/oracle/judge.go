package oracle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// fileTimeout limits the time that a peer may need for a file.
const fileTimeout = 2 * time.Minute

// asker asks everybody.
type asker struct {
	options
	peers []peer
	filt  []string // what demangles
	table bool     // the binary can answer through a table
}

func newAsker(ctx context.Context, o options) (*asker, error) {
	k := &asker{options: o, peers: peers(ctx), filt: []string{tool("c++filt", "llvm-cxxfilt")}}
	if len(k.peers) == 0 {
		return nil, errors.New("no symbolizer is installed: need llvm-symbolizer, addr2line, eu-addr2line, go or the Python package symbolic")
	}
	if k.filt[0] == "" {
		k.filt = []string{o.binary, "demangle"}
	}
	help, err := run(ctx, question{}, o.binary, "resolve", "--help")
	if k.table = bytes.Contains(help, []byte("--table")); !k.table {
		fmt.Println("answers through a table are not compared: resolve has no --table")
	}
	return k, err
}

// score is how often two agree.
type score struct{ same, asked int }

func (s score) String() string {
	if s.asked == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(s.same)/float64(s.asked))
}

func (s *score) count(same bool) {
	s.asked++
	if same {
		s.same++
	}
}

func (s *score) add(other score) { s.same, s.asked = s.same+other.same, s.asked+other.asked }

// result is what came of one file.
type result struct {
	kase     kase
	left     string // why it was left out
	anybody  score
	majority score
	with     []score // by peer
	kinds    map[string]int
	first    map[string]string // difference of a kind
	names    []string          // of MSVC
	troubles []string
	failed   bool // whatever others say
}

// trouble notes what else is wrong; if it is with us, the file has failed.
func (r *result) trouble(ours bool, format string, args ...any) {
	r.troubles = append(r.troubles, fmt.Sprintf(format, args...))
	r.failed = r.failed || ours
}

// judge makes a file and asks everybody about it.
func (k *asker) judge(ctx context.Context, c kase) *result {
	r := &result{kase: c, with: make([]score, len(k.peers)), kinds: map[string]int{}, first: map[string]string{}}
	if err := c.make(ctx); err != nil {
		r.left = err.Error()
		return r
	}
	q, err := draw(ctx, c)
	if err != nil || len(q.addrs) == 0 {
		r.left = fmt.Sprintf("no addresses: %v", err)
		return r
	}
	r.names = msvcNames(c, q)
	out, err := symbolon(ctx, k.binary, q)
	ours := jsonAnswers(out)
	if err != nil || len(ours) != len(q.addrs) {
		r.trouble(true, "symbolon: %d answers to %d addresses; %v", len(ours), len(q.addrs), err)
		return r
	}
	if k.table {
		k.compareTable(ctx, q, out, r)
	}
	theirs := make([][]answer, len(k.peers))
	for i, p := range k.peers {
		if p.flat && !q.goes || !slices.Contains(p.kinds, q.kind) {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, fileTimeout)
		list, err := p.ask(limited, q)
		cancel()
		if len(list) == len(q.addrs) {
			theirs[i] = list
		} else {
			r.trouble(false, "%s: %d answers to %d addresses; %v", p.name, len(list), len(q.addrs), err)
		}
	}
	k.demangle(ctx, append(slices.Clone(theirs), ours))
	for n, addr := range q.addrs {
		k.vote(r, addr, ours[n], func(peer int) (a answer, ok bool) {
			if ok = theirs[peer] != nil; ok {
				a = theirs[peer][n]
			}
			return a, ok
		})
	}
	return r
}

// compareTable demands the same bytes from a table as from the file.
func (k *asker) compareTable(ctx context.Context, q question, direct []byte, r *result) {
	out, err := symbolon(ctx, k.binary, q, "--table")
	a, b := strings.Split(string(direct), "\n"), strings.Split(string(out), "\n")
	if err != nil || len(a) != len(b) {
		r.trouble(true, "the table gives %d lines, the file %d; %v", len(b), len(a), err)
		return
	}
	for i := range a {
		if a[i] != b[i] {
			r.trouble(true, "the table answers otherwise:\n        direct %s\n        table  %s", a[i], b[i])
			return
		}
	}
}

// party is peers that give the same answer.
type party struct {
	answer answer
	names  []string
	kind   string // in which way ours differs
}

// vote compares the answers to one address.
func (k *asker) vote(r *result, addr uint64, ours answer, their func(peer int) (answer, bool)) {
	var parties []*party
	agreed := false
	for i, p := range k.peers {
		a, ok := their(i)
		if !ok {
			continue
		}
		mine := ours
		if p.flat {
			mine = ours.flat()
		}
		kind := difference(mine, a)
		r.with[i].count(kind == "")
		agreed = agreed || kind == ""
		at := slices.IndexFunc(parties, func(q *party) bool { return difference(q.answer, a) == "" })
		if at < 0 {
			at, parties = len(parties), append(parties, &party{answer: a, kind: kind})
		}
		parties[at].names = append(parties[at].names, p.name)
	}
	if len(parties) == 0 {
		return
	}
	// Of two parties of the same size the one that we are in, whose kind is "".
	best := slices.MaxFunc(parties, func(a, b *party) int {
		return cmp.Or(cmp.Compare(len(a.names), len(b.names)), strings.Compare(b.kind, a.kind))
	})
	r.anybody.count(agreed)
	r.majority.count(best.kind == "")
	if agreed && !k.verbose || best.kind == "" {
		return
	}
	if r.kinds[best.kind]++; r.kinds[best.kind] == 1 {
		text := fmt.Sprintf("%#x  %s", addr, ours)
		for _, p := range parties {
			text += fmt.Sprintf("\n        %s: %s", strings.Join(p.names, ", "), p.answer)
		}
		r.first[best.kind] = text
	}
}

// report prints results and adds them up.
type report struct {
	*asker
	files, left, failed int
	samples             []string        // a few files, for other comparisons
	names               map[string]bool // of MSVC
	sum                 result
}

func newReport(k *asker) *report {
	p := &report{asker: k, names: map[string]bool{}, sum: result{with: make([]score, len(k.peers)), kinds: map[string]int{}}}
	fmt.Printf("\n%-36s %9s %7s %8s", "agreement in percent with", "addresses", "anybody", "majority")
	for _, peer := range k.peers {
		fmt.Printf(" %15s", peer.name)
	}
	fmt.Println()
	return p
}

// sampled are the files in which the stand-ins are compared.
var sampled = []string{"c gcc dwarf5-O2", "c clang dwarf4-O2", "c++ g++ dwarf5-O2", "c++ clang++ dwarf5-O2", "c++ g++ zlib"}

// add tells of a file and counts it.
func (p *report) add(r *result) {
	if r.left != "" {
		p.left++
		fmt.Printf("%-36s left out: %s\n", r.kase.name, r.left)
		return
	}
	p.line(r.kase.name, r)
	for _, text := range r.troubles {
		fmt.Println("   ", text)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		fmt.Printf("    %s, %d times, first %s\n", kind, r.kinds[kind], r.first[kind])
		p.sum.kinds[kind] += r.kinds[kind]
	}
	for _, name := range r.names {
		p.names[name] = true
	}
	p.files++
	if r.failed {
		p.failed++
	}
	if slices.Contains(sampled, r.kase.name) {
		p.samples = append(p.samples, r.kase.path)
	}
	p.sum.anybody.add(r.anybody)
	p.sum.majority.add(r.majority)
	for i, s := range r.with {
		p.sum.with[i].add(s)
	}
}

func (p *report) line(name string, r *result) {
	fmt.Printf("%-36s %9d %7s %8s", name, r.anybody.asked, r.anybody, r.majority)
	for _, s := range r.with {
		fmt.Printf(" %15s", s)
	}
	fmt.Println()
}

// end prints the totals and reports whether they are good enough.
func (p *report) end() bool {
	fmt.Println()
	p.line(fmt.Sprintf("all %d files (%d left out)", p.files, p.left), &p.sum)
	for _, kind := range slices.Sorted(maps.Keys(p.sum.kinds)) {
		fmt.Printf("    %-10s %6d\n", kind, p.sum.kinds[kind])
	}
	all := p.sum.anybody
	share := 100 * float64(all.same) / float64(max(all.asked, 1))
	fmt.Printf("%.3f %% of %d addresses agreed on, at least %.3f %% wanted; files that failed otherwise: %d\n", share, all.asked, p.least, p.failed)
	return share >= p.least && p.failed == 0
}
