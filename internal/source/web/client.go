package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/source"
)

// Config has the limits of a Client. The zero value is the default; -1 removes a
// limit.
type Config struct {
	ConnectTimeout         time.Duration `yaml:"connect_timeout" help:"Time to connect; -1: no limit."`
	HeadTimeout            time.Duration `yaml:"head_timeout" help:"Time from a request to the headers of its answer; -1: no limit."`
	ReadTimeout            time.Duration `yaml:"read_timeout" help:"Time after which a download that receives nothing is canceled; -1: no limit."`
	MaxDownloadTimeout     time.Duration `yaml:"max_download_timeout" help:"Time for a whole download with its retries; -1: no limit."`
	MaxDownloadSize        bin.Size      `yaml:"max_download_size" help:"Size of a file, as received and as decoded; -1: no limit."`
	MaxDownloadRatio       int           `yaml:"max_download_ratio" help:"Decoded bytes per received byte, after the first 64 MiB; -1: no limit."`
	MaxConcurrentDownloads int           `yaml:"max_concurrent_downloads" help:"Concurrent downloads. A source can use half of them, so that one that hangs does not delay the others. All sources named by requests can use half together: of that half, one source can use a half and one scope three quarters. -1: no limit."`
	MaxRedirects           int           `yaml:"max_redirects" help:"Redirects to follow for one file; -1 follows none."`
	MaxTries               int           `yaml:"max_tries" least:"1" help:"Tries for one file, including the first one."`
	DenyListThreshold      int           `yaml:"deny_list_threshold" help:"Failures within deny_list_time_window, less the good answers since, after which requests to a host are blocked; -1: never."`
	DenyListTimeWindow     time.Duration `yaml:"deny_list_time_window" least:"0" help:"Time over which the failures of a host are counted."`
	DenyListBlockTime      time.Duration `yaml:"deny_list_block_time" least:"0" help:"Time for which requests to a failing host are blocked."`
	DenyListNeverBlock     []string      `yaml:"deny_list_never_block_hosts" help:"Hosts that are never blocked, as name or name:port."`
	SentryIndexTTL         time.Duration `yaml:"sentry_index_ttl" help:"Lifetime of the list of files that a project of Sentry has for a module; 10 minutes at most for an empty list."`
	ConnectToReservedIPs   bool          `yaml:"connect_to_reserved_ips" help:"Let sources named by requests reach addresses outside of the public internet."`
	UserAgent              string        `yaml:"user_agent" help:"User-Agent of all requests to symbol servers."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 5*time.Second)
	c.HeadTimeout = cmp.Or(c.HeadTimeout, 10*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 15*time.Second)
	c.MaxDownloadTimeout = cmp.Or(c.MaxDownloadTimeout, 5*time.Minute)
	c.MaxDownloadSize = cmp.Or(c.MaxDownloadSize, 16<<30)
	c.MaxDownloadRatio = cmp.Or(c.MaxDownloadRatio, 200)
	c.MaxConcurrentDownloads = cmp.Or(c.MaxConcurrentDownloads, 64)
	c.MaxRedirects = cmp.Or(c.MaxRedirects, 5)
	c.MaxTries = cmp.Or(c.MaxTries, 3)
	c.DenyListThreshold = cmp.Or(c.DenyListThreshold, 20)
	c.DenyListTimeWindow = cmp.Or(c.DenyListTimeWindow, time.Minute)
	c.DenyListBlockTime = cmp.Or(c.DenyListBlockTime, time.Minute)
	c.SentryIndexTTL = cmp.Or(c.SentryIndexTTL, time.Hour)
	c.UserAgent = cmp.Or(c.UserAgent, "symbolon")
	return c
}

// Limit returns the limit of the bytes of one file.
func (c Config) Limit() bin.Limit {
	c = c.Defaults()
	return bin.Limit{Bytes: max(int64(c.MaxDownloadSize), 0), Ratio: int64(c.MaxDownloadRatio)}
}

// piecesAhead is the number of pieces of large files in memory, 64 MiB in all.
const piecesAhead = 8

// Client downloads files for all web sources of a process. Make it with NewClient.
type Client struct {
	cfg        Config
	now        func() time.Time
	log        *slog.Logger
	resolver   *net.Resolver
	refused    func(netip.AddrPort) bool // addresses that guarded sources may not reach
	transports map[trust]*http.Transport
	deny       *denyList              // of the sources of the configuration: requests cannot get a host of theirs blocked
	links      *Share                 // of links in debug information
	slots      chan struct{}          // nil: no bound
	requested  chan struct{}          // the slots that guarded sources may take
	shelves    map[bool]*source.Shelf // by guarded, so that requests cannot take the room of the configuration
	ahead      *source.Ahead
	windows    map[bool]*bin.Budget // by guarded: large windows of zstd
	decoders   map[bool]*source.Decoder
}

// trust is the key of the transports: requests with another one share no connections.
type trust struct {
	guarded  bool
	insecure bool
}

// NewClient returns a client.
func NewClient(cfg Config, now func() time.Time, log *slog.Logger) *Client {
	cfg = cfg.Defaults()
	c := &Client{
		cfg: cfg, now: now, log: log,
		resolver:   net.DefaultResolver,
		refused:    func(a netip.AddrPort) bool { return reserved(a.Addr()) },
		transports: map[trust]*http.Transport{},
		ahead:      source.NewAhead(piecesAhead),
		shelves:    map[bool]*source.Shelf{},
		windows:    map[bool]*bin.Budget{},
		decoders:   map[bool]*source.Decoder{},
	}
	for _, guarded := range []bool{false, true} {
		c.shelves[guarded] = source.NewShelf(shelfRoom, now, log)
		c.windows[guarded] = bin.NewBudget(source.MaxWindow)
		c.decoders[guarded] = c.Decoder(cfg, guarded)
		for _, insecure := range []bool{false, true} {
			c.transports[trust{guarded, insecure}] = c.transport(guarded, insecure)
		}
	}
	if n := cfg.MaxConcurrentDownloads; n > 0 {
		c.slots, c.requested = make(chan struct{}, n), make(chan struct{}, (n+1)/2)
	}
	c.deny, c.links = c.newDenyList(), c.Share()
	return c
}

func (c *Client) newDenyList() *denyList {
	return &denyList{
		threshold: c.cfg.DenyListThreshold, window: c.cfg.DenyListTimeWindow, block: c.cfg.DenyListBlockTime,
		now: c.now, hosts: map[string]*health{}, never: c.cfg.DenyListNeverBlock,
	}
}

// Close closes idle connections.
func (c *Client) Close() {
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
}

func (c *Client) transport(guarded, insecure bool) *http.Transport {
	connect := max(c.cfg.ConnectTimeout, 0)
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			d := net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second, Resolver: c.resolver}
			if guarded && !c.cfg.ConnectToReservedIPs {
				d.ControlContext = guard(c.refused)
			}
			return d.DialContext(ctx, network, address)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure}, // as the source asks
		TLSHandshakeTimeout:    connect,
		ResponseHeaderTimeout:  max(c.cfg.HeadTimeout, 0),
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    16,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true, // the decoder does it, with limits
		ForceAttemptHTTP2:      true,
	}
	if !guarded {
		t.Proxy = http.ProxyFromEnvironment
		t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode != http.StatusOK {
				return proxyError(resp.StatusCode)
			}
			return nil
		}
	}
	return t
}

// Transport returns the transport of the client for single requests. A guarded one
// reaches public addresses only, for addresses that a request named.
func (c *Client) Transport(guarded bool) http.RoundTripper {
	return c.transports[trust{guarded, false}]
}

// Ahead returns the memory for large files of all types of source.
func (c *Client) Ahead() *source.Ahead { return c.ahead }

// shelfRoom is the memory for lists of files of the configured sources. Sources that
// requests name have as much again.
const shelfRoom = 128 << 20

// Shelf returns the cache for lists of files of all types of source.
func (c *Client) Shelf(guarded bool) *source.Shelf { return c.shelves[guarded] }

// Decoder returns a decoder with the limit of cfg for a source of any type. All
// configured sources share one budget for large windows of zstd, and all sources in
// requests another.
func (c *Client) Decoder(cfg Config, guarded bool) *source.Decoder {
	return source.NewDecoder(cfg.Limit(), c.windows[guarded])
}

// Share is the share of one scope for the sources that its requests name: slots for
// downloads, and a list of denied hosts of its own.
type Share struct {
	room chan struct{} // nil: no bound
	deny *denyList
}

// Share returns a new share.
func (c *Client) Share() *Share {
	s := &Share{deny: c.newDenyList()}
	if c.slots != nil {
		s.room = make(chan struct{}, (3*cap(c.requested)+3)/4)
	}
	return s
}

// Line returns the function in which the downloads of a source of any type wait for
// a slot. Its release must be called once.
func (c *Client) Line() line {
	if c.slots == nil {
		return free
	}
	own := make(chan struct{}, (cap(c.slots)+1)/2)
	return func(ctx context.Context) (func(), error) { return wait(ctx, []chan struct{}{own, c.slots}) }
}

// RequestLine returns the Line of a source that a request of this share named.
func (c *Client) RequestLine(share *Share) line {
	if c.slots == nil {
		return free
	}
	queues := []chan struct{}{make(chan struct{}, (cap(c.requested)+1)/2), share.room, c.requested, c.slots}
	return func(ctx context.Context) (func(), error) { return wait(ctx, queues) }
}

func free(context.Context) (release func(), err error) { return func() {}, nil }

// wait waits for a place in each of the queues in turn.
func wait(ctx context.Context, queues []chan struct{}) (release func(), err error) {
	var held []chan struct{}
	release = func() {
		for _, q := range held {
			<-q
		}
	}
	for _, q := range queues {
		select {
		case q <- struct{}{}:
			held = append(held, q)
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

// line waits until a download may start.
type line = func(context.Context) (release func(), err error)
