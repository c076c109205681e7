package web_test

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/source/web"
)

// special4 and special6 are the rows of IANA's registries of special-purpose
// addresses, with multicast, what was such a range once, and the addresses at
// which clouds answer their own machines. The rows of IPv6 in which an IPv4
// address stands are in forms.
var (
	special4 = []string{
		"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
		"169.254.169.254/32", "172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32",
		"192.0.0.170/32", "192.0.0.171/32", "192.0.0.192/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
		"192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "224.0.0.0/24", "232.0.0.0/8", "239.0.0.0/8", "240.0.0.0/4", "255.255.255.255/32",
	}
	special6 = []string{
		"::/128", "::1/128", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64",
		"2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32",
		"2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2620:4f:8000::/48",
		"3fff::/20", "4000::/3", "5f00::/16", "fc00::/7", "fd00::/8", "fd00:ec2::254/128", "fe80::/10", "fec0::/10", "ff00::/8", "ff02::1/128",
	}
)

// forms are the ways in which an IPv6 address says an IPv4 address.
var forms = map[string]func(four [4]byte) string{
	"mapped":            func(b [4]byte) string { return fmt.Sprintf("::ffff:%d.%d.%d.%d", b[0], b[1], b[2], b[3]) },
	"mapped, in hex":    func(b [4]byte) string { return "0:0:0:0:0:ffff:" + pairs(b) },
	"compatible":        func(b [4]byte) string { return "::" + pairs(b) },
	"translated":        func(b [4]byte) string { return "::ffff:0:" + pairs(b) },
	"NAT64":             func(b [4]byte) string { return "64:ff9b::" + pairs(b) },
	"NAT64 of a site":   func(b [4]byte) string { return "64:ff9b:1::" + pairs(b) },
	"6to4":              func(b [4]byte) string { return "2002:" + pairs(b) + "::1" },
	"Teredo, server":    func(b [4]byte) string { return "2001:0:" + pairs(b) + "::1" },
	"Teredo, client":    func(b [4]byte) string { return "2001:0:808:808:0:0:" + pairs([4]byte{^b[0], ^b[1], ^b[2], ^b[3]}) },
	"ISATAP, link only": func(b [4]byte) string { return "fe80::5efe:" + pairs(b) },
}

func pairs(b [4]byte) string {
	return fmt.Sprintf("%x:%x", binary.BigEndian.Uint16(b[:]), binary.BigEndian.Uint16(b[2:]))
}

// edges are the first address of a range, one within and the last.
func edges(text string) []netip.Addr {
	p := netip.MustParsePrefix(text)
	first := p.Addr().AsSlice()
	within, last := append([]byte(nil), first...), append([]byte(nil), first...)
	for bit := p.Bits(); bit < len(first)*8; bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
		if bit%3 == 0 {
			within[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	out := []netip.Addr{p.Addr()}
	for _, b := range [][]byte{within, last} {
		if a, _ := netip.AddrFromSlice(b); a != out[len(out)-1] {
			out = append(out, a)
		}
	}
	return out
}

// targets are all addresses that must not be reached, as texts, with the row
// that they stand for.
func targets() map[string]string {
	out := map[string]string{}
	for _, row := range special4 {
		for _, a := range edges(row) {
			out[a.String()] = row
			for name, form := range forms {
				out[form(a.As4())] = row + ", " + name
			}
		}
	}
	for _, row := range special6 {
		for _, a := range edges(row) {
			out[a.String()] = row
		}
	}
	return out
}

// Every special address is refused, whichever way leads to it: it stands in
// the URL, a name has it, a server that may be asked redirects to it or to a
// name that has it.
func TestNoWayLeadsToASpecialAddress(t *testing.T) {
	t.Parallel()
	var next, answer atomic.Value // of string
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, next.Load().(string), http.StatusFound)
	})
	client := newClient(t, web.Config{ConnectTimeout: 10 * time.Second, MaxTries: 1, DenyListThreshold: -1})
	client.Permit(netip.MustParseAddrPort(mustParse(t, outside.URL).Host))
	client.UseResolver(resolver(nameServer(t, func(string) []string { return []string{answer.Load().(string)} })))
	names := 0
	for text, row := range targets() {
		if !web.Reserved(netip.MustParseAddr(text)) {
			t.Errorf("%s (%s) counts as public", text, row)
			continue // nothing of ours is to leave the machine
		}
		names++ // one for each, so that no connection is used again
		name := fmt.Sprintf("name%d.test", names)
		host := text
		if strings.Contains(text, ":") {
			host = "[" + text + "]"
		}
		answer.Store(text)
		for way, at := range map[string]struct{ first, then string }{
			"literal":            {first: "http://" + host + ":9/"},
			"name":               {first: "http://" + name + ":9/"},
			"redirect":           {outside.URL, "http://" + host + ":9/x"},
			"redirect to a name": {outside.URL, "http://" + name + ":9/x"},
		} {
			next.Store(at.then)
			_, a, err := get(t, newGuarded(t, client, config(at.first)))
			if err == nil || fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), "destination is restricted") {
				t.Fatalf("%s (%s) by %s: %v", text, row, way, err) // not all of them: each takes its time
			}
			if a.Retries != 0 {
				t.Errorf("%s by %s: asked again", text, way)
			}
		}
	}
}

// A source of the configuration has the whole network.
func TestTheGuardIsOnlyForSourcesOfRequests(t *testing.T) {
	client := newClient(t, web.Config{ConnectTimeout: 50 * time.Millisecond, MaxTries: 1, DenyListThreshold: -1})
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]"} {
		_, _, err := get(t, newSource(t, client, config("http://"+host+":9/")))
		if err == nil || strings.Contains(err.Error(), "restricted") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// spellings are texts that some programs take for the loopback address.
var spellings = []string{
	"2130706433", "0x7f000001", "0X7F000001", "017700000001", "127.1", "127.0.1", "0177.1", "0177.0.0.1", "0x7f.1", "0x7f.0.0.1",
	"0x7f.0x0.0x0.0x1", "127.0.0.01", "0127.0.0.1", "127.0.0.1.", "127.0.0.1.test", "00000000000000000000177.0.0.1", "4294967297", "127.000.000.001",
	"１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "0", "0x0", "::1", "localhost", "localhost.", "LOCALHOST",
}

// Unusual spellings of addresses are names to us; if the resolver makes an
// address of one, as that of the system may, the guard refuses the address.
func TestSpellingsOfAddressesDoNotGetIn(t *testing.T) {
	inside := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a guarded source got in") })
	var next atomic.Value // of string
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", next.Load().(string))
		w.WriteHeader(http.StatusFound)
	})
	port := mustParse(t, inside.URL).Port()
	for _, helpful := range []bool{false, true} {
		client := newClient(t, web.Config{ConnectTimeout: 10 * time.Second, MaxTries: 1, DenyListThreshold: -1})
		client.Permit(netip.MustParseAddrPort(mustParse(t, outside.URL).Host))
		client.UseResolver(resolver(nameServer(t, func(string) []string {
			if helpful {
				return []string{"127.0.0.1"}
			}
			return nil
		})))
		for _, host := range spellings {
			for _, at := range []string{host, "user@" + host, "outside.test@" + host, "%31" + host[1:]} {
				target := "http://" + at + ":" + port + "/x"
				next.Store(target)
				for way, first := range map[string]string{"literal": target, "redirect": outside.URL} {
					s, err := web.NewGuarded(client, config(first), client.Share())
					if err != nil {
						continue // not a URL at all
					}
					if _, _, err := get(t, s); err == nil || fault.KindOf(err) != fault.Transport {
						t.Errorf("%s by %s, helpful %v: %v", at, way, helpful, err)
					}
				}
			}
		}
	}
}
