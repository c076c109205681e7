package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/rueidis"

	"symbolon/internal/bin"
)

// Config of the Redis tier. The zero value is off.
type Config struct {
	URL      bin.Secret    `yaml:"url" help:"Redis server through which nodes share finished tables: redis://user:password@host:6379/0, or rediss:// for TLS. Further nodes of a Cluster are added as ?addr=host:port. With ?master_set=name the host is a Sentinel. Empty: nothing is shared."`
	Timeout  time.Duration `yaml:"timeout" least:"1ms" help:"How long to wait for the answer to one command before it counts as a miss."`
	Lease    time.Duration `yaml:"lease" least:"1s" help:"How long the lease to build a table holds if its node does not renew it."`
	MaxEntry bin.Size      `yaml:"max_entry" least:"0" help:"Compressed bytes of the largest table that is shared."`
	Prefix   string        `yaml:"prefix" help:"Prefix of all keys in Redis."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.Timeout = cmp.Or(c.Timeout, 25*time.Millisecond)
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	c.MaxEntry = cmp.Or(c.MaxEntry, 64<<20)
	c.Prefix = cmp.Or(c.Prefix, "symbolon:")
	return c
}

// Validate returns an error for each invalid field of c. It does not repeat the
// URL, which may have a password.
func (c Config) Validate() error {
	if c.URL.IsZero() {
		return nil
	}
	_, err := c.Defaults().options()
	return err
}

// options returns the options of the client library.
func (c Config) options() (rueidis.ClientOption, error) {
	o, err := rueidis.ParseURL(c.URL.Reveal())
	if err != nil {
		return o, errors.New("invalid url: must be redis://user:password@host:6379/0, or the same with rediss://")
	}
	next := o.DialCtxFn // set for unix sockets
	o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, config *tls.Config) (conn net.Conn, err error) {
		switch {
		case next != nil:
			conn, err = next(ctx, addr, d, config)
		case config != nil:
			conn, err = dialTLS(ctx, &tls.Dialer{NetDialer: d, Config: config}, addr)
		default:
			conn, err = d.DialContext(ctx, "tcp", addr)
		}
		if err != nil {
			return nil, err
		}
		return &checked{Conn: conn, pushes: o.Sentinel.MasterSet != ""}, nil
	}
	o.Dialer.Timeout = dialTimeout
	o.Dialer.KeepAlive = 15 * time.Second
	o.ConnWriteTimeout = dialTimeout
	o.DisableCache = true
	o.DisableRetry = true
	// Each command has its own connection, so that a chunk does not delay a
	// command that a request waits for, and no command waits for a goroutine
	// that reads for all connections.
	o.DisableAutoPipelining = true
	o.BlockingPoolSize = connections
	o.BlockingPoolCleanup = time.Minute
	o.BlockingPoolMinSize = 1
	o.PipelineMultiplex = -1
	o.ReadBufferEachConn, o.WriteBufferEachConn = 16<<10, 16<<10
	// Sentinels usually have the same TLS and, if any, the same password, but
	// no users.
	o.Sentinel.Dialer, o.Sentinel.TLSConfig = o.Dialer, o.TLSConfig
	o.Sentinel.TopologyRefreshInterval = 5 * time.Second
	if o.Username == "" {
		o.Sentinel.Password = o.Password
	}
	return o, nil
}

// dialTLS connects with TLS. A Redis without it waits for the rest of the handshake,
// as if that were a command.
func dialTLS(ctx context.Context, d *tls.Dialer, addr string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, "tcp", addr)
	var failed *net.OpError // while connecting
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &failed) {
		return nil, fmt.Errorf("no answer to the TLS handshake within %s: a port without TLS needs redis:// in place of rediss://", d.NetDialer.Timeout)
	}
	return conn, err
}
