package ui

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"sync"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/numbered"
)

const (
	cookieName  = "symbolon_session"
	sessionLife = 12 * time.Hour
	keyLength   = 32
	maxLogin    = 16 << 10 // bytes of the form
)

// sessions turns tokens into cookies and back.
type sessions struct {
	key numbered.Versions // of which the first is used
	now func() time.Time

	mu   sync.Mutex
	seal cipher.AEAD // nil until the key was read
}

func newSessions(state bucket.Bucket, now func() time.Time) *sessions {
	return &sessions{key: numbered.Versions{Bucket: state, Prefix: "session"}, now: now}
}

// aead returns the cipher of cookies. The first node that needs it creates its key.
func (s *sessions) aead(ctx context.Context) (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seal != nil {
		return s.seal, nil
	}
	fresh := make([]byte, keyLength)
	_, _ = rand.Read(fresh) // never fails
	if _, err := s.key.Create(ctx, 1, fresh); err != nil {
		return nil, err
	}
	key, _, err := s.key.Read(ctx, 1)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	s.seal, err = cipher.NewGCMWithRandomNonce(block)
	return s.seal, err
}

// cookie returns the value of a cookie with a token.
func (s *sessions) cookie(ctx context.Context, text string) (string, error) {
	seal, err := s.aead(ctx)
	if err != nil {
		return "", err
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.now().Add(sessionLife).Unix()))
	return base64.RawURLEncoding.EncodeToString(seal.Seal(nil, nil, append(plain, text...), nil)), nil
}

// token returns the token of a session, or "" if the request has no valid cookie.
func (s *sessions) token(r *http.Request) (string, error) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return "", nil
	}
	packed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return "", nil
	}
	seal, err := s.aead(r.Context())
	if err != nil {
		return "", err
	}
	plain, err := seal.Open(nil, nil, packed, nil)
	if err != nil || len(plain) < 8 || s.now().Unix() >= int64(binary.BigEndian.Uint64(plain)) {
		return "", nil
	}
	return string(plain[8:]), nil
}

// setCookie sets the cookie of a session, or with an empty value ends the session.
func setCookie(w http.ResponseWriter, value string, isSecure bool) {
	c := &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: int(sessionLife.Seconds()),
		HttpOnly: true, Secure: isSecure, SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// loginPage shows the form for a token.
func (d *Door) loginPage(w http.ResponseWriter, r *http.Request) {
	v := &visit{Request: r, root: rootOf(r)}
	d.render(w, v, http.StatusOK, view{title: "Sign in", body: loginView(v, localPath(r.URL.Query().Get("next")), "")})
}

// login begins a session with the token of a form.
func (d *Door) login(w http.ResponseWriter, r *http.Request) {
	v := &visit{Request: r, root: rootOf(r)}
	if err := d.forged.Check(r); err != nil {
		d.fail(w, v, http.StatusForbidden, crossOrigin)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	text := strings.TrimSpace(r.PostFormValue("token"))
	next := r.PostFormValue("next")
	g, err := d.deps.Grant(api.WithToken(r, text))
	if text == "" || err != nil || len(g.Rights) == 0 || g.ID == "" {
		d.render(w, v, http.StatusForbidden, view{title: "Sign in", body: loginView(v, next, "The token is unknown, expired or revoked.")})
		return
	}
	if err := d.begin(w, r, text); err != nil {
		d.failWith(w, v, err)
		return
	}
	redirect(w, v.root+localPath(next))
}

// begin begins a session with a token.
func (d *Door) begin(w http.ResponseWriter, r *http.Request, text string) error {
	value, err := d.session.cookie(r.Context(), text)
	if err == nil {
		setCookie(w, value, strings.HasPrefix(d.deps.BaseURL(r), "https:"))
	}
	return err
}

// logout ends a session.
func (d *Door) logout(w http.ResponseWriter, r *http.Request) {
	if err := d.forged.Check(r); err != nil {
		d.fail(w, &visit{Request: r, root: rootOf(r)}, http.StatusForbidden, crossOrigin)
		return
	}
	setCookie(w, "", false)
	redirect(w, rootOf(r)+"ui/login")
}

// localPath returns a path of a page, relative to the root, or "" for any other text.
func localPath(text string) string {
	if !strings.HasPrefix(text, "ui/") || strings.ContainsAny(text, "\\\r\n") || strings.Contains(text, "..") {
		return ""
	}
	return text
}
