package web_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/source/web"
)

// nameServer answers questions for addresses with those that lookup gives, or
// that there is no such name.
func nameServer(t *testing.T, lookup func(name string) []string) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(reply(buf[:n], lookup), from)
		}
	}()
	return conn.LocalAddr().String()
}

// reply makes the answer to a DNS query of one question.
func reply(query []byte, lookup func(string) []string) []byte {
	var labels []string
	at := 12
	for query[at] != 0 {
		n := int(query[at])
		labels = append(labels, string(query[at+1:at+1+n]))
		at += 1 + n
	}
	kind := binary.BigEndian.Uint16(query[at+1:])
	var answers []byte
	count := uint16(0)
	addresses := lookup(strings.Join(labels, "."))
	for _, text := range addresses {
		a := netip.MustParseAddr(text)
		if a.Is4() != (kind == 1) {
			continue
		}
		data := a.AsSlice()
		answers = append(answers, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(data)))
		answers = append(answers, data...)
		count++
	}
	out := append([]byte(nil), query[:12]...)
	flags := uint16(0x8180)
	if len(addresses) == 0 {
		flags |= 3 // no such name
	}
	binary.BigEndian.PutUint16(out[2:], flags)
	binary.BigEndian.PutUint16(out[4:], 1)
	binary.BigEndian.PutUint16(out[6:], count)
	binary.BigEndian.PutUint32(out[8:], 0)
	return append(append(out, query[12:at+5]...), answers...)
}

// resolver asks one name server.
func resolver(address string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", address)
	}}
}

// ranges has the edges of every reserved range of IPv4, and what lies beside
// them.
var ranges = map[string]bool{
	"0.0.0.0": true, "0.255.255.255": true, "1.0.0.0": false,
	"9.255.255.255": false, "10.0.0.0": true, "10.255.255.255": true, "11.0.0.0": false,
	"100.63.255.255": false, "100.64.0.0": true, "100.127.255.255": true, "100.128.0.0": false,
	"126.255.255.255": false, "127.0.0.0": true, "127.255.255.255": true, "128.0.0.0": false,
	"168.63.129.15": false, "168.63.129.16": true, "168.63.129.17": false,
	"169.253.255.255": false, "169.254.0.0": true, "169.254.169.254": true, "169.254.255.255": true, "169.255.0.0": false,
	"172.15.255.255": false, "172.16.0.0": true, "172.31.255.255": true, "172.32.0.0": false,
	"191.255.255.255": false, "192.0.0.0": true, "192.0.0.192": true, "192.0.0.255": true, "192.0.1.0": false,
	"192.0.2.0": true, "192.0.2.255": true, "192.0.3.0": false,
	"192.88.98.255": false, "192.88.99.0": true, "192.88.99.255": true, "192.88.100.0": false,
	"192.167.255.255": false, "192.168.0.0": true, "192.168.255.255": true, "192.169.0.0": false,
	"198.17.255.255": false, "198.18.0.0": true, "198.19.255.255": true, "198.20.0.0": false,
	"198.51.99.255": false, "198.51.100.0": true, "198.51.100.255": true, "198.51.101.0": false,
	"203.0.112.255": false, "203.0.113.0": true, "203.0.113.255": true, "203.0.114.0": false,
	"223.255.255.255": false, "224.0.0.0": true, "239.255.255.255": true, "240.0.0.0": true, "255.255.255.255": true,
	"8.8.8.8": false,
}

func TestReservedRanges(t *testing.T) {
	check := func(a netip.Addr, want bool) {
		t.Helper()
		if got := web.Reserved(a); got != want {
			t.Errorf("%v: reserved %v, want %v", a, got, want)
		}
	}
	for text, want := range ranges {
		a := netip.MustParseAddr(text)
		four := a.As4()
		check(a, want)
		check(netip.AddrFrom16(a.As16()), want) // ::ffff:a.b.c.d
		embed := func(prefix string, at int) netip.Addr {
			b := netip.MustParseAddr(prefix).As16()
			copy(b[at:], four[:])
			return netip.AddrFrom16(b)
		}
		check(embed("64:ff9b::", 12), want)
		check(embed("2002::", 2), want)
		check(embed("64:ff9b:1::", 12), true) // where the address is in it is a local matter
		check(embed("2001::", 4), true)       // Teredo
		check(embed("::", 12), true)
	}
	for text, want := range map[string]bool{
		"::": true, "::1": true, "::2": true, "100::1": true, "100:0:0:1::1": true,
		"1fff:ffff::": true, "2000::1": false, "2001::1": true, "2001:1ff:ffff::": true, "2001:200::": false,
		"2001:db7:ffff::": false, "2001:db8::1": true, "2001:db9::": false, "2001:4860:4860::8888": false,
		"2620:4f:8000::1": true, "2606:4700::1111": false, "3fff::1": true, "3fff:fff:ffff::": true, "3fff:1000::": false,
		"3ffe::1": false, "4000::": true, "5f00::1": true, "fc00::1": true, "fdff::1": true,
		"fe80::1": true, "fe80::1%eth0": true, "2606:4700::1111%eth0": true, "fec0::1": true, "ff02::1": true,
	} {
		check(netip.MustParseAddr(text), want)
	}
}

func TestGuardedSourceReachesNoReservedAddress(t *testing.T) {
	inside := serve(t, func(w http.ResponseWriter, r *http.Request) { t.Error("a guarded source got in") })
	port := mustParse(t, inside.URL).Port()
	client := newClient(t, web.Config{})
	client.UseResolver(resolver(nameServer(t, func(name string) []string {
		switch name {
		case "loop.test":
			return []string{"127.0.0.1"}
		case "six.test":
			return []string{"::1"}
		case "mapped.test":
			return []string{"::ffff:127.0.0.1"}
		case "both.test":
			return []string{"::1", "127.0.0.1"}
		}
		return nil // anything but an address is a name, and unknown
	})))
	for _, host := range []string{
		"127.0.0.1", "127.1.2.3", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"loop.test", "six.test", "mapped.test", "both.test", "LOOP.test", "loop.test.",
		"169.254.169.254", "10.1.2.3", "localhost",
	} {
		_, a, err := get(t, newGuarded(t, client, config("http://"+host+":"+port+"/")))
		wantError(t, err, fault.Transport, "transport: destination is restricted")
		if a.Retries != 0 || a.Status != 0 {
			t.Errorf("%s: %+v", host, a)
		}
	}
	for _, host := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1"} {
		_, _, err := get(t, newGuarded(t, client, config("http://"+host+":"+port+"/")))
		wantError(t, err, fault.Transport, "")
	}
}

func TestGuardHoldsOnEveryHop(t *testing.T) {
	inside := serve(t, func(w http.ResponseWriter, r *http.Request) { t.Error("a guarded source got in") })
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside.URL+"/secret", http.StatusFound)
	})
	client := newClient(t, web.Config{})
	client.Permit(netip.MustParseAddrPort(mustParse(t, outside.URL).Host))
	_, a, err := get(t, newGuarded(t, client, config(outside.URL)))
	wantError(t, err, fault.Transport, "destination is restricted")
	if a.Redirects != 1 {
		t.Errorf("%+v", a)
	}
}

// A name that leads to a permitted address when it is looked at, and elsewhere
// when it is used, is the trick against guards that look names up themselves.
func TestNameThatChangesItsMindIsCaught(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "text")
	})
	at := netip.MustParseAddrPort(mustParse(t, server.URL).Host)
	var answer atomic.Value
	answer.Store(at.Addr().String())
	client := newClient(t, web.Config{})
	client.Permit(at)
	client.UseResolver(resolver(nameServer(t, func(string) []string { return []string{answer.Load().(string)} })))
	s := newGuarded(t, client, config(fmt.Sprintf("http://rebind.test:%d/", at.Port())))
	if got, _, err := get(t, s); got != "text" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	answer.Store("127.0.0.2")
	_, _, err := get(t, s)
	wantError(t, err, fault.Transport, "destination is restricted")
}

func TestReservedAddressesCanBeAllowed(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "text") })
	if got, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL))); got != "text" || err != nil {
		t.Errorf("source of the configuration: got %q, %v", got, err)
	}
	client := newClient(t, web.Config{ConnectToReservedIPs: true})
	if got, _, err := get(t, newGuarded(t, client, config(server.URL))); got != "text" || err != nil {
		t.Errorf("allowed by the configuration: got %q, %v", got, err)
	}
}

func TestOnlySourcesOfTheConfigurationUseTheProxy(t *testing.T) {
	client := newClient(t, web.Config{ConnectToReservedIPs: true})
	if !client.Proxied(false) || client.Proxied(true) {
		t.Errorf("proxy for the configuration %v, for requests %v", client.Proxied(false), client.Proxied(true))
	}
}
