package api

import (
	"net"
	"net/http"
)

// broken is the panic of Reset: the status that is logged and counted.
type broken int

// Reset breaks the connection of a request in a way that clients notice: over HTTP/1
// with a TCP reset, over HTTP/2 by the end of the stream. The status, which clients do
// not get, is logged and counted. Reset does not return.
func Reset(w http.ResponseWriter, status int) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = secure.NetConn() // without TLS's own end of the connection
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // what is not sent is discarded, so that closing is a reset
		}
		_ = conn.Close() // the request ends in any case
	}
	panic(broken(status))
}
