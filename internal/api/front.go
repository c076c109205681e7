package api

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/metric"
)

// Options are the parts that a front works with.
type Options struct {
	Log     *slog.Logger
	Now     func() time.Time
	Version []byte  // what /__version__ says, JSON; see ReadVersion
	Checks  []Check // what /__heartbeat__ and /readyz look at
	Memory  int64   // bytes for the bodies of large requests and what is made of them; zero: no bound
}

// Front is the http.Handler of all doors.
type Front struct {
	cfg      Config
	opt      Options
	mux      *mux
	packers  map[string]*packer
	proxies  proxies
	door     door
	holds    holds
	draining atomic.Bool
}

// New makes a front for doors. It panics if two of them claim one path.
func New(cfg Config, opt Options, doors ...[]Route) *Front {
	cfg = cfg.Defaults()
	if opt.Version == nil {
		opt.Version = []byte("{}")
	}
	f := &Front{cfg: cfg, opt: opt, packers: newPackers()}
	f.proxies, _ = parseProxies(cfg.TrustedProxies) // Validate has looked at them
	f.holds.now = opt.Now
	if opt.Memory > 0 {
		f.holds.medium, f.holds.large = bin.NewBudget(opt.Memory/2), bin.NewBudget(opt.Memory/2)
		f.holds.border = opt.Memory / 16
	}
	f.door.max, f.door.each, f.door.clients = cfg.MaxInFlight, cfg.MaxPerClient, map[string]int{}
	f.mux = newMux(append([][]Route{f.fixed()}, doors...))
	return f
}

// statusGone is logged when the client left before there was an answer.
const statusGone = 499

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := newWriter(rw, f.cfg.WriteTimeout, f.opt.Now)
	id := requestID(r)
	r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
	h := w.Header()
	h.Set("X-Request-ID", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding, Origin")
	allowOrigin(h, r)

	n := f.mux.match(r)
	x := &exchange{f: f, w: w, r: r, node: n, client: f.proxies.client(r), start: f.opt.Now()}
	metric.InFlight.Add(1)
	defer x.end()
	x.answer()
}

// exchange is one request and what becomes of it.
type exchange struct {
	f      *Front
	w      *writer
	r      *http.Request
	node   *node  // nil: no such path
	route  *Route // nil: no such method
	client string // its address
	start  time.Time
}

func (x *exchange) answer() {
	w, r := x.w, x.r
	if x.node == nil {
		x.f.mux.wording(r)(w, r, http.StatusNotFound, "")
		return
	}
	x.route = x.node.routes[r.Method]
	switch {
	case x.route != nil:
	case r.Method == http.MethodOptions:
		answerOptions(w, r, x.node.methods)
		return
	default:
		w.Header().Set("Allow", x.node.methods+", OPTIONS")
		x.node.fail(w, r, http.StatusMethodNotAllowed, "")
		return
	}
	if x.route.Admit != nil && !x.admit() {
		return
	}
	b, refused := x.f.openBody(w, r, x.route)
	if refused != nil {
		x.node.fail(w, r, refused.Status, refused.Title)
		return
	}
	defer b.release()
	if !x.route.Exempt {
		leave, refused := x.enter(b)
		if refused != nil {
			w.Header().Set("Retry-After", "1")
			x.node.fail(w, r, refused.Status, refused.Title)
			return
		}
		defer leave()
	}
	packed := x.f.pack(w, r)
	x.route.Handle(packed, r)
	packed.close()
}

// leftoverTime is how long the body of a client that was refused before it is still
// taken in: who sends all of it before it reads is to find the answer.
const leftoverTime = time.Second

// admit has the route judge the request. To a refused one of which the body is still
// to come, the answer goes out at once, and the connection ends.
func (x *exchange) admit() bool {
	bodyless := x.r.ContentLength == 0
	if !bodyless {
		x.w.Header().Set("Connection", "close")
	}
	if x.route.Admit(x.w, x.r) {
		x.w.Header().Del("Connection")
		return true
	}
	if !bodyless {
		_ = x.w.control.SetReadDeadline(x.f.opt.Now().Add(leftoverTime)) // what is no connection cannot stall
	}
	return false
}

// enter waits for the beginning of the body, and then gets a place for the
// request, and memory if it is a large one, for which it waits if it must.
// Small ones take what they need: their number is bounded.
func (x *exchange) enter(b *body) (leave func(), refused *BodyError) {
	b.sent.begin()
	b.memory = memory{of: &x.f.holds, release: func() {}}
	need := b.need()
	if most := x.route.MaxHeld; most > 0 {
		need = min(need, most+b.decoding())
	}
	if need > 0 {
		if refused = b.claim(x.r, need); refused != nil {
			return nil, refused
		}
	}
	out, refused := x.f.door.enter(x.client)
	if refused != nil {
		b.memory.release()
		x.f.holds.full()
		return nil, refused
	}
	mine := x.f.holds.join(x.w)
	b.sent.hold, x.w.hold = mine, mine
	return func() {
		x.f.holds.leave(mine)
		out()
		b.memory.release()
	}, nil
}

// end recovers from a panic of the handler and does the accounts.
func (x *exchange) end() {
	p := recover()
	wrote := x.w.status != 0
	switch {
	case p == nil:
	case p == http.ErrAbortHandler:
		x.w.status = statusGone
	default:
		x.f.opt.Log.Error("a handler panicked", "request_id", RequestID(x.r.Context()), "path", x.r.URL.Path,
			"panic", p, "stack", string(debug.Stack()))
		if !wrote {
			x.w.Header().Del("Content-Length")
			x.node.fail(x.w, x.r, http.StatusInternalServerError, "")
		}
	}
	if x.w.status == 0 {
		x.w.status = http.StatusOK // as net/http will have it
		if x.r.Context().Err() != nil {
			x.w.status = statusGone
			p, wrote = http.ErrAbortHandler, true // no answer must not look like an empty one
		}
	}
	x.account()
	x.w.extend() // for what net/http still has to send
	if p == http.ErrAbortHandler || p != nil && wrote {
		// Half an answer may be out; only a broken connection tells the client so.
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) account() {
	metric.InFlight.Add(-1)
	took := x.f.opt.Now().Sub(x.start)
	pattern, level := "none", slog.LevelInfo
	if x.node != nil {
		pattern = x.node.pattern
	}
	if x.route != nil && x.route.Exempt {
		level = slog.LevelDebug
	}
	metric.Requests.Add(1, pattern, strconv.Itoa(x.w.status))
	metric.RequestSeconds.Observe(took.Seconds(), pattern)
	ctx := x.r.Context()
	x.f.opt.Log.LogAttrs(ctx, level, "request",
		slog.String("method", x.r.Method),
		slog.String("path", x.r.URL.Path),
		slog.Int("status", x.w.status),
		slog.Int64("bytes", x.w.bytes),
		slog.Duration("duration", took),
		slog.String("request_id", RequestID(ctx)),
		slog.String("client", x.client),
		slog.String("user_agent", x.r.UserAgent()))
}

// exposed is what scripts of other origins may read of an answer.
const exposed = "accept, accept-encoding, authorization, content-type, dnt, origin, user-agent, x-csrftoken, x-requested-with"

// allowOrigin lets scripts of any origin read the answer: everything served
// here is as open to them as to everybody else.
func allowOrigin(h http.Header, r *http.Request) {
	if r.Header.Get("Origin") != "" {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", exposed)
	}
}

// answerOptions answers a preflight, or says which methods there are.
func answerOptions(w http.ResponseWriter, r *http.Request, methods string) {
	h := w.Header()
	if r.Header.Get("Origin") == "" || r.Header.Get("Access-Control-Request-Method") == "" {
		h.Set("Allow", methods)
		w.WriteHeader(http.StatusOK)
		return
	}
	wanted := strings.Join(r.Header.Values("Access-Control-Request-Headers"), ", ")
	if wanted == "" {
		wanted = "*"
	}
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", wanted)
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusOK)
}
