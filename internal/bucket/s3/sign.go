package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	service   = "s3"
	algorithm = "AWS4-HMAC-SHA256"
)

// sign signs a request whose path and query are escaped the way that escape
// does: all of its x-amz headers, its host and its body.
func (c credentials) sign(req *http.Request, body []byte, region, service string, now time.Time) {
	hash := hexSum(body)
	stamp := now.UTC().Format("20060102T150405Z")
	if c.access == "" {
		return
	}
	req.Header.Set("X-Amz-Date", stamp)
	req.Header.Set("X-Amz-Content-Sha256", hash)
	if c.token != "" {
		req.Header.Set("X-Amz-Security-Token", c.token)
	}
	signed := map[string]string{"host": req.Host}
	for name, values := range req.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") {
			signed[name] = strings.Join(values, ",")
		}
	}
	names := slices.Sorted(maps.Keys(signed))
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "%s\n%s\n%s\n", req.Method, req.URL.EscapedPath(), req.URL.RawQuery)
	for _, name := range names {
		fmt.Fprintf(&canonical, "%s:%s\n", name, strings.TrimSpace(signed[name]))
	}
	list := strings.Join(names, ";")
	fmt.Fprintf(&canonical, "\n%s\n%s", list, hash)

	day := stamp[:8]
	scope := day + "/" + region + "/" + service + "/aws4_request"
	key := []byte("AWS4" + c.secret)
	for _, part := range [...]string{day, region, service, "aws4_request"} {
		key = mac(key, part)
	}
	signature := mac(key, algorithm+"\n"+stamp+"\n"+scope+"\n"+hexSum([]byte(canonical.String())))
	req.Header.Set("Authorization", fmt.Sprintf("%s Credential=%s/%s,SignedHeaders=%s,Signature=%x", algorithm, c.access, scope, list, signature))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hexSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// escape escapes a path as signatures have it: all but letters, digits, "-",
// ".", "_", "~" and the slashes.
func escape(path string) string {
	var out strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
