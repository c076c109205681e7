package api

import (
	"context"
	"net/http"
	"strings"
)

type productKey struct{}

// Product returns the first product in the User-Agent of the request of ctx, without its
// version: "FirefoxProfiler", "Microsoft-Symbol-Server". It is empty without one.
func Product(ctx context.Context) string {
	name, _ := ctx.Value(productKey{}).(string)
	return name
}

const productChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// maxProduct is less than the length of a token, which is never a product.
const maxProduct = 32

// productOf returns the first product of a User-Agent.
func productOf(r *http.Request) string {
	name := r.UserAgent()
	if end := strings.IndexAny(name, "/ "); end >= 0 {
		name = name[:end]
	}
	if len(name) > maxProduct || strings.ContainsFunc(name, func(c rune) bool { return !strings.ContainsRune(productChars, c) }) {
		return ""
	}
	return name
}
