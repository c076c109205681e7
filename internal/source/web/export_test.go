package web

import (
	"net"
	"net/netip"
)

// Reserved is the judgement of the guard.
func Reserved(a netip.Addr) bool { return reserved(a) }

// UseResolver makes c look names up elsewhere.
func (c *Client) UseResolver(r *net.Resolver) { c.resolver = r }

// Permit lets guarded sources reach one address that they may not reach. A
// test has no other addresses than such.
func (c *Client) Permit(permitted netip.AddrPort) {
	refused := c.refused
	c.refused = func(a netip.AddrPort) bool { return a != permitted && refused(a) }
}

// Proxied tells whether sources go through the proxy of the environment.
func (c *Client) Proxied(guarded bool) bool {
	return c.transports[trust{guarded: guarded}].Proxy != nil
}

// Fail counts a failure of a host.
func (c *Client) Fail(host string) (blocked bool) { return c.deny.failed(host, "because") }
