package web_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/source/web"
)

// TestNoOutputHoldsASecret plants one secret wherever a configuration takes
// one, lets a server send it back in every place that it can, and looks for it
// in everything that comes out.
func TestNoOutputHoldsASecret(t *testing.T) {
	const canary, second = "CANARY-51f0c2", "second?/canary"
	hijack := func(w http.ResponseWriter, text string) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(conn, text)
		conn.Close()
	}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		echo := strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.URL.RawQuery}, " ")
		if !strings.Contains(echo, canary) {
			t.Errorf("the secrets did not arrive: %q", echo)
		}
		switch strings.Split(r.URL.Path, "/")[1] {
		case "missing":
			http.Error(w, echo, 404)
		case "broken":
			http.Error(w, echo, 500)
		case "encoding":
			w.Header().Set("Content-Encoding", r.URL.RawQuery[:len("sig=")+len(canary)])
		case "coding":
			w.Header().Set("Content-Encoding", canary)
		case "path":
			w.Header().Set("Location", "http://127.0.0.1:1/"+canary+"/x")
			w.WriteHeader(302)
		case "escaped":
			w.Header().Set("Location", "http://127.0.0.1:1/"+url.PathEscape(second)+"/x")
			w.WriteHeader(302)
		case "host":
			w.Header().Set("Location", "http://"+canary+".invalid./x")
			w.WriteHeader(302)
		case "loop":
			w.Header().Set("Location", "?"+r.URL.RawQuery+"#"+canary)
			w.WriteHeader(302)
		case "scheme":
			w.Header().Set("Location", "ftp://"+canary+"@"+"host/")
			w.WriteHeader(302)
		case "location":
			w.Header().Set("Location", "http://host/%zz"+canary)
			w.WriteHeader(302)
		case "refused":
			w.Header().Set("Location", "http://user:"+canary+"@127.0.0.1:1/x?sig="+canary)
			w.WriteHeader(302)
		case "status":
			hijack(w, "HTTP/1.1 2"+echo+"\r\n\r\n")
		case "garbage":
			hijack(w, echo+"\r\n\r\n")
		case "header":
			hijack(w, "HTTP/1.1 200 OK\r\n"+echo+"\r\n\r\n")
		case "length":
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: "+r.URL.RawQuery+"\r\n\r\n")
		case "transfer":
			hijack(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: "+r.URL.RawQuery+"\r\n\r\n")
		}
	})
	client, log := newLoggedClient(t, web.Config{MaxTries: 1, DenyListThreshold: 6}, time.Now)
	var out strings.Builder
	for _, at := range []string{
		"fine", "missing", "broken", "encoding", "loop", "scheme", "location", "path", "escaped", "host", "coding", "refused", "status", "garbage", "header", "length", "transfer",
		"broken", "broken", "broken", // and now the host is blocked
	} {
		cfg := config(strings.Replace(server.URL, "http://", "http://user:"+canary+"@", 1) + "/" + at + "?sig=" + canary)
		cfg.Headers = map[string]bin.Secret{"X-Key": bin.NewSecret("Bearer " + canary), "X-Other": bin.NewSecret(second)}
		s := newSource(t, client, cfg)
		c := candidate(t, s, "a.so")
		_, a, err := get(t, s)
		if (err == nil) != (at == "fine") {
			t.Errorf("%s: %v", at, err)
		}
		fmt.Fprintf(&out, "%+v %#v %+v %#v %+v %#v\n", c, c, a, a, s, s)
		for ; err != nil; err = errors.Unwrap(err) {
			fmt.Fprintf(&out, "%v %+v %#v\n", err, err, err)
		}
	}
	text := out.String() + log.String()
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + canary))
	for _, secret := range []string{canary, basic, second, url.PathEscape(second)} {
		if i := strings.Index(strings.ToLower(text), strings.ToLower(secret)); i >= 0 {
			t.Errorf("%q is in: ...%s", secret, text[max(0, i-300):i+len(secret)])
		}
	}
	if !strings.Contains(text, "is not asked before") || !strings.Contains(text, "level=DEBUG") {
		t.Error("the block or the log was not seen")
	}
}
