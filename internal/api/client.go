package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks of proxies whose X-Forwarded-For is trusted.
type proxies []netip.Prefix

// parseProxies reads addresses and networks.
func parseProxies(texts []string) (proxies, error) {
	var all proxies
	var errs []error
	for i, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			one, err := netip.ParseAddr(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("trusted_proxies[%d] is %.200q: must be an address, or a network such as 10.0.0.0/8", i, text))
				continue
			}
			network = netip.PrefixFrom(one, one.BitLen())
		}
		all = append(all, network)
	}
	return all, errors.Join(errs...)
}

func (p proxies) trust(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// client returns the address of the client of a request, without a port: the peer of the
// connection or, if that is a trusted proxy, the right-most address in X-Forwarded-For
// that is not a trusted proxy. Entries further left may be forged.
func (p proxies) client(r *http.Request) string {
	addr, ok := parseClient(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	rest := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for p.trust(addr) {
		cut := strings.LastIndexByte(rest, ',')
		next, ok := parseClient(strings.TrimSpace(rest[cut+1:]))
		if !ok {
			break
		}
		addr, rest = next, rest[:max(cut, 0)]
	}
	return addr.String()
}

// BaseURL returns the address of the server as the client of a request has it. The scheme
// of a request through a trusted proxy is the one in X-Forwarded-Proto.
func (a *Access) BaseURL(r *http.Request) string {
	peer, ok := parseClient(r.RemoteAddr)
	if r.TLS != nil || ok && a.proxies.trust(peer) && r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// parseClient reads an address with or without a port, in the one form in which
// addresses are compared. The zone of an address is dropped: it may be any text.
func parseClient(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		with, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = with.Addr()
	}
	return addr.Unmap().WithZone(""), true
}
