package s3

import (
	"encoding/xml"
	"net/http"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// codes are what the codes of the store mean, whatever the status.
var codes = map[string]fault.Kind{
	"AuthorizationHeaderMalformed":      fault.Denied,
	"AuthorizationQueryParametersError": fault.Denied,
	"AccessDenied":                      fault.Denied,
	"SignatureDoesNotMatch":             fault.Denied,
	"InvalidAccessKeyId":                fault.Denied,
	"InvalidToken":                      fault.Denied,
	"ExpiredToken":                      fault.Denied,
	"NoSuchBucket":                      fault.NotFound,
	"NoSuchKey":                         fault.NotFound,
	"NotFound":                          fault.NotFound,
	"KeyTooLongError":                   fault.NotFound,
	"RequestTimeout":                    fault.Transport,
}

// answer is the body of an answer that is a failure.
type answer struct {
	XMLName xml.Name
	Code    string
	Message string
	Error   struct{ Code, Message string } // of the token service
}

// read makes an answer of a body, empty if it is none.
func read(body []byte) answer {
	var a answer
	if xml.Unmarshal(body, &a) != nil {
		return answer{}
	}
	if a.Error.Code != "" {
		a.Code, a.Message = a.Error.Code, a.Error.Message
	}
	return a
}

// verdict says what a failure means and whether another try may do better.
func (b *Bucket) verdict(key string, resp *http.Response, body []byte, used credentials) (*fault.Error, bool) {
	a := read(body)
	a.Code, a.Message = bucket.Line(bucket.Hide(a.Code, used.all()...)), bucket.Line(bucket.Hide(a.Message, used.all()...))
	detail := bucket.Status(resp.StatusCode)
	if a.Code != "" {
		detail = strings.TrimSuffix(a.Code+": "+a.Message, ": ")
	}
	kind, known := codes[a.Code]
	if !known {
		kind = bucket.KindOf(resp.StatusCode)
	}
	// A conflict is one with another write that is under way.
	again := bucket.Busy(resp.StatusCode) || a.Code == "RequestTimeout" || resp.StatusCode == http.StatusConflict
	switch a.Code {
	case "ExpiredToken", "InvalidToken", "InvalidAccessKeyId":
		// They may have been rotated earlier than they said.
		b.creds.Drop(func(c credentials) bool { return c == used })
		again = b.cfg.Provider != Static
	}
	f := fault.New(kind, b.place+key, "%s", detail)
	if kind == fault.Timeout {
		f.Status = resp.StatusCode
	}
	return f, again
}
