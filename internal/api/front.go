package api

import (
	"cmp"
	"context"
	"io"
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

// Options are the dependencies of a front.
type Options struct {
	Log     *slog.Logger
	Now     func() time.Time
	Version []byte  // JSON of /__version__, see ReadVersion
	Checks  []Check // of /__heartbeat__ and /readyz
	Memory  int64   // bytes for large requests, from the body to the answer; zero: not limited
}

// Front is the http.Handler of all doors.
type Front struct {
	cfg      Config
	opt      Options
	mux      *mux
	packers  packers
	proxies  proxies
	places   places
	load     load
	draining atomic.Bool
}

// New returns a front for doors. It panics if two of them have the same path.
func New(cfg Config, opt Options, doors ...[]Route) *Front {
	cfg = cfg.Defaults()
	if opt.Version == nil {
		opt.Version = []byte("{}")
	}
	f := &Front{cfg: cfg, opt: opt, packers: newPackers()}
	f.proxies, _ = parseProxies(cfg.TrustedProxies) // Validate has reported invalid ones
	f.load.now = opt.Now
	if opt.Memory > 0 {
		f.load.medium, f.load.large = bin.NewBudget(opt.Memory/2), bin.NewBudget(opt.Memory/2)
		f.load.mediumLimit = opt.Memory / 16
	}
	f.places.max, f.places.perClient, f.places.clients = cfg.MaxInFlight, cfg.MaxPerClient, map[string]int{}
	f.mux = newMux(append([][]Route{f.ownRoutes()}, doors...))
	return f
}

// statusGone is logged when the client left before the answer.
const statusGone = 499

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := newWriter(rw, f.cfg.WriteTimeout, f.opt.Now)
	r = cutToken(r)
	id := requestID(r)
	r = r.WithContext(context.WithValue(context.WithValue(r.Context(), requestIDKey{}, id), productKey{}, productOf(r)))
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

// exchange is one request with its answer.
type exchange struct {
	f      *Front
	w      *writer
	r      *http.Request
	node   *node  // nil: unknown path
	route  *Route // nil: unknown method
	client string // its address
	start  time.Time
}

// bearer is the challenge of most routes. No browser asks its user for a password.
const bearer = `Bearer realm="symbolon"`

func (x *exchange) answer() {
	w, r := x.w, x.r
	if x.node == nil {
		x.f.mux.failFunc(r)(w, r, http.StatusNotFound, "")
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
	w.challenge = cmp.Or(x.route.Challenge, bearer)
	if x.route.Admit != nil && !x.admit() {
		return
	}
	b, refused := x.f.openBody(w, r, x.route)
	if refused != nil {
		x.node.fail(w, r, refused.Status, refused.Text)
		return
	}
	defer b.release()
	if !x.route.Exempt {
		leave, refused := x.enter(b)
		if refused != nil {
			w.Header().Set("Retry-After", "1")
			x.node.fail(w, r, refused.Status, refused.Text)
			return
		}
		defer leave()
	}
	packed := x.f.packers.pack(w, r)
	x.route.Handle(packed, r)
	packed.close()
}

// openBody sets r.Body to a reader that decodes the body, and fails with a
// *Refusal if it is too large, too slow or damaged.
func (f *Front) openBody(w *writer, r *http.Request, route *Route) (*body, *Refusal) {
	most := cmp.Or(route.MaxBody, int64(f.cfg.MaxBody))
	b := &body{most: most}
	if r.ContentLength > most {
		return nil, b.tooLarge(nil)
	}
	b.sent = &connReader{src: r.Body, size: r.ContentLength, w: w, grace: f.cfg.BodyTimeout, start: f.opt.Now()}
	counted := bin.NewCount(b.sent)
	limited := bin.Meter(counted, nil, bin.Limit{Bytes: most})
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))); coding {
	case "", "identity":
		b.decoded = limited
	case "gzip", "x-gzip", "zstd":
		b.coding = coding
		b.decoded = bin.Meter(&lazyDecoder{open: func() (io.ReadCloser, error) { return decoder(coding, &ratioReader{limited, b}) }, body: b},
			counted, bin.Limit{Bytes: most, Ratio: bodyRatio, Free: bodyFree})
		r.Header.Del("Content-Encoding")
		r.ContentLength = -1
	default:
		w.Header().Set("Accept-Encoding", "gzip, zstd")
		return nil, refuse(http.StatusUnsupportedMediaType, "a body may be encoded as gzip or zstd", false, nil)
	}
	r.Body = b
	return b, nil
}

// drainTime is the time in which the body of a request that was not admitted is
// still received: clients that send all of it before they read shall get the
// answer.
const drainTime = time.Second

// admit has the route admit the request. If it refuses one with a body, the answer
// is sent at once, and the connection ends.
func (x *exchange) admit() bool {
	isBodyless := x.r.ContentLength == 0
	if !isBodyless {
		x.w.Header().Set("Connection", "close")
	}
	if x.route.Admit(x.w, x.r) {
		x.w.Header().Del("Connection")
		return true
	}
	if !isBodyless {
		_ = x.w.control.SetReadDeadline(x.f.opt.Now().Add(drainTime)) // not a connection: it cannot stall
	}
	return false
}

// enter waits for the beginning of the body. Then it reserves memory for the
// request if it is large, which may wait, and takes a place for it. Small requests
// are limited by their number.
func (x *exchange) enter(b *body) (leave func(), refused *Refusal) {
	b.sent.begin()
	b.memory = reservation{load: &x.f.load, release: func() {}}
	need := b.need()
	if most := x.route.MaxHeld; most > 0 {
		need = min(need, most+b.decoderMemory())
	}
	if need > 0 {
		if refused = b.reserve(x.r, need); refused != nil {
			return nil, refused
		}
	}
	release, why := x.f.places.acquire(x.client)
	if release == nil {
		x.f.load.refused()
		if x.route.Hold > 0 {
			release, why = x.f.places.wait(x.r.Context(), x.client, x.route.Hold)
		}
	}
	if release == nil {
		b.memory.release()
		return nil, why.refuse()
	}
	s := x.f.load.add(x.w.control)
	b.sent.served, x.w.served = s, s
	return func() {
		x.f.load.remove(s)
		release()
		b.memory.release()
	}, nil
}

// end recovers from a panic of the handler, and logs and counts the request.
func (x *exchange) end() {
	p := recover()
	wrote := x.w.status != 0
	reset, isReset := p.(broken)
	switch {
	case p == nil:
	case isReset:
		x.w.status, p = int(reset), http.ErrAbortHandler
	case p == http.ErrAbortHandler:
		x.w.status = statusGone
	default:
		x.f.opt.Log.Error("a handler panicked", "request_id", RequestID(x.r.Context()), "path", hide(x.r.URL.Path),
			"panic", p, "stack", string(debug.Stack()))
		if !wrote {
			x.w.Header().Del("Content-Length")
			x.node.fail(x.w, x.r, http.StatusInternalServerError, "")
		}
	}
	if x.w.status == 0 {
		x.w.status = http.StatusOK // as net/http sends it
		if x.r.Context().Err() != nil {
			x.w.status = statusGone
			p, wrote = http.ErrAbortHandler, true // a missing answer must not look like an empty one
		}
	}
	x.log()
	x.w.extend() // for the rest, which net/http sends
	if p == http.ErrAbortHandler || p != nil && wrote {
		// A part of an answer may be sent; only a broken connection tells the client.
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) log() {
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
		slog.String("path", hide(x.r.URL.Path)),
		slog.Int("status", x.w.status),
		slog.Int64("bytes", x.w.bytes),
		slog.Duration("duration", took),
		slog.String("request_id", RequestID(ctx)),
		slog.String("client", x.client),
		slog.String("user_agent", hide(x.r.UserAgent())))
}

// exposed are the headers that scripts of other origins may read.
const exposed = "accept, accept-encoding, authorization, content-type, dnt, origin, user-agent, x-csrftoken, x-requested-with"

// allowOrigin lets scripts of any origin read the answer, as every other client
// may.
func allowOrigin(h http.Header, r *http.Request) {
	if r.Header.Get("Origin") != "" {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", exposed)
	}
}

// answerOptions answers a preflight, or lists the methods.
func answerOptions(w http.ResponseWriter, r *http.Request, methods string) {
	h := w.Header()
	if r.Header.Get("Origin") == "" || r.Header.Get("Access-Control-Request-Method") == "" {
		h.Set("Allow", methods)
		w.WriteHeader(http.StatusOK)
		return
	}
	headers := strings.Join(r.Header.Values("Access-Control-Request-Headers"), ", ")
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", cmp.Or(headers, "*"))
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusOK)
}
