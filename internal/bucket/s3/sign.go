package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// sign signs the host, the x-amz headers and the body of a request. It is called
// before other headers are set, which proxies may change.
func (c credentials) sign(req *http.Request, body []byte, region string, now time.Time) error {
	if c.access == "" {
		return nil
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	// A signer caches derived keys by access key, so another secret needs another signer.
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // it is escaped already
	own := aws.Credentials{AccessKeyID: c.access, SecretAccessKey: c.secret, SessionToken: c.token}
	return signer.SignHTTP(context.Background(), own, req, hash, "s3", region, now)
}
