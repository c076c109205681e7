package waittest

import (
	"context"
	"net"
	"sync"
)

// Listener accepts connections in memory. Their deadlines obey the clock of
// testing/synctest, and a bubble whose goroutines all wait for them is idle. A write
// waits for its reader: nothing is buffered.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// Listen returns a new listener.
func Listen() *Listener {
	l := &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and DialContext. Connections stay open.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr returns an address of loopback.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// DialContext returns the client's end of a new connection, to any address. It is the
// function of that name of an http.Transport.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	server, client := net.Pipe()
	select {
	case l.conns <- conn{server, l.Addr()}:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// conn has the addresses of a connection over TCP.
type conn struct {
	net.Conn
	addr net.Addr
}

func (c conn) LocalAddr() net.Addr  { return c.addr }
func (c conn) RemoteAddr() net.Addr { return c.addr }
