package web

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
)

// errRestricted is the error of a connection of a guarded source to a reserved
// address. Sentry's clients know this text.
var errRestricted = errors.New("destination is restricted")

// reserved4 are the ranges of IPv4 outside of the public internet, and the two
// addresses in public ranges that clouds use for services of their machines.
var reserved4 = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // Azure's own services
	"169.254.0.0/16",   // link local, where most clouds keep their metadata
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments, and Oracle's metadata
	"192.0.2.0/24",     // documentation
	"192.31.196.0/24",  // sinks of reverse lookups
	"192.52.193.0/24",  // relays of multicast
	"192.88.99.0/24",   // former 6to4 relays
	"192.168.0.0/16",   // private
	"192.175.48.0/24",  // sinks of reverse lookups
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
)

// global6 is the part of IPv6 that is assigned to the public internet, except
// reserved6.
var (
	global6   = netip.MustParsePrefix("2000::/3")
	reserved6 = prefixes(
		"2001::/23",         // protocol assignments, Teredo among them
		"2001:db8::/32",     // documentation
		"2620:4f:8000::/48", // sinks of reverse lookups
		"3fff::/20",         // documentation
	)
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// reserved reports whether an address is outside of the public internet. An IPv6
// address that embeds an IPv4 address is judged by that one.
func reserved(a netip.Addr) bool {
	if a.Zone() != "" {
		return true
	}
	a = a.Unmap()
	if a.Is4() {
		return within(a, reserved4)
	}
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return reserved(netip.AddrFrom4([4]byte(b[12:])))
	case sixToFour.Contains(a):
		return reserved(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return !global6.Contains(a) || within(a, reserved6)
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// guard returns a dial control that refuses connections by their final address,
// so that neither names nor redirects can evade it.
func guard(refused func(netip.AddrPort) bool) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || refused(a) {
			return &net.OpError{Op: "dial", Net: network, Err: errRestricted}
		}
		return nil
	}
}
