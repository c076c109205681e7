package s3

import (
	"encoding/xml"
	"net/http"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// codes are the kinds of failure of the codes of the store, for any status.
var codes = map[string]fault.Kind{
	"AuthorizationHeaderMalformed":      fault.Denied,
	"AuthorizationQueryParametersError": fault.Denied,
	"AccessDenied":                      fault.Denied,
	"SignatureDoesNotMatch":             fault.Denied,
	"InvalidAccessKeyId":                fault.Denied,
	"XAdminUserNotFound":                fault.Denied, // of versitygw, with 404, for an unknown access key
	"InvalidToken":                      fault.Denied,
	"ExpiredToken":                      fault.Denied,
	"NoSuchBucket":                      fault.NotFound,
	"NoSuchKey":                         fault.NotFound,
	"NotFound":                          fault.NotFound,
	"KeyTooLongError":                   fault.NotFound,
	"XMinioInvalidObjectName":           fault.NotFound, // a part of the key is too long
	"RequestTimeout":                    fault.Transport,
}

// answer is the body of an unsuccessful answer.
type answer struct {
	XMLName xml.Name
	Code    string
	Message string
	Error   struct{ Code, Message string } // of the token service
}

// read parses a body; the answer is empty if it is not XML.
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

// verdict returns the failure of an answer, and whether another try may succeed.
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
	// A conflict is one with a concurrent write.
	again := bucket.Busy(resp.StatusCode) || a.Code == "RequestTimeout" || resp.StatusCode == http.StatusConflict
	switch a.Code {
	case "ExpiredToken", "InvalidToken", "InvalidAccessKeyId":
		// They may have been rotated before their end.
		b.creds.Drop(func(c credentials) bool { return c == used })
		again = b.cfg.Provider != Static
	}
	f := fault.New(kind, b.place+key, "%s", detail)
	if a.Code == bucket.ErrNoBucket.Error() {
		f = fault.New(kind, b.place+key, "%w%s", bucket.ErrNoBucket, strings.TrimPrefix(detail, a.Code))
	}
	if kind == fault.Timeout {
		f.Status = resp.StatusCode
	}
	return f, again
}
