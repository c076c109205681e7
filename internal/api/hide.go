package api

import (
	"strings"

	"symbolon/internal/bin"
)

// hide returns a text of a request for the log or an error: a path, or the value of a
// header. It has no token, and no segment of a path that is a secret by its place, in
// this path or in one that a proxy was to change: after t is a token, and after
// upload/v2 the session of an upload, which needs none.
func hide(text string) string {
	text = bin.RedactTokens(text)
	var out strings.Builder
	var before, last string
	copied := 0
	for i := 0; i < len(text); {
		part, _, _ := strings.Cut(text[i:], "/")
		end := i + len(part)
		if part != "" {
			if strings.EqualFold(last, "t") || strings.EqualFold(before, "upload") && strings.EqualFold(last, "v2") {
				out.WriteString(text[copied:i] + bin.Redacted)
				copied = end
			}
			before, last = last, part
		}
		i = end + 1
	}
	if copied == 0 {
		return text
	}
	return out.String() + text[copied:]
}
