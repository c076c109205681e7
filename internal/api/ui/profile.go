package ui

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/profiler"
	"symbolon/internal/filter/auto"
	"symbolon/internal/token"
)

func (d *Door) profilePage() *page {
	return &page{
		pattern: "/ui/profile", about: "open a profile in the Firefox Profiler", right: token.Symbolicate, orRight: token.Read, maxBody: noLimit, show: d.showProfile,
		actions: map[string]action{"keep": d.keepProfile, "download": d.downloadProfile},
	}
}

const (
	keptPath     = "/ui/profile/file" // with the key of a profile in the query, which no log has
	keptTime     = time.Hour
	maxKept      = 4
	profilerSite = "https://profiler.firefox.com"
)

// profiles are the profiles that the Firefox Profiler may read. They have at most the
// bytes of one upload in all.
type profiles struct {
	mu   sync.Mutex
	list []*profile // oldest first
}

// A profile is an upload that is closed after its last reader.
type profile struct {
	*upload
	key     string
	readers sync.WaitGroup
}

// add keeps a profile for a while. It returns its key.
func (s *profiles) add(u *upload, most int64) string {
	p := &profile{upload: u, key: rand.Text()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, p)
	bytes := int64(0)
	for _, p := range s.list {
		bytes += p.Size()
	}
	for ; bytes > most || len(s.list) > maxKept; s.remove(s.list[0]) {
		bytes -= s.list[0].Size()
	}
	time.AfterFunc(keptTime, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(p)
	})
	return p.key
}

// remove removes a profile, if it is still there. mu is held.
func (s *profiles) remove(p *profile) {
	if i := slices.Index(s.list, p); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
		go func() {
			p.readers.Wait()
			_ = p.Close() // a temporary file
		}()
	}
}

// find returns the profile with a key until done is called, or errNoProfile.
func (s *profiles) find(key string) (p *profile, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.list, func(p *profile) bool { return p.key == key })
	if i < 0 {
		return nil, nil, errNoProfile
	}
	s.list[i].readers.Add(1)
	return s.list[i], s.list[i].readers.Done, nil
}

// A profileData is the data of the page of a profile.
type profileData struct {
	Name    string `json:"file,omitempty"`
	Address string `json:"address,omitempty"` // that opens it in the Firefox Profiler
	Key     string `json:"key,omitempty"`
	IsLocal bool   `json:"is_local"` // the Firefox Profiler may ask this server for names
}

// showProfile shows the form, or the profile of the query.
func (d *Door) showProfile(v *visit) (view, error) {
	base := d.deps.BaseURL(v.Request)
	data := profileData{Key: v.URL.Query().Get("key"), IsLocal: isLoopback(base)}
	if data.Key == "" {
		return view{title: "Profile", data: data, body: profileForm(d, v)}, nil
	}
	p, done, err := d.kept.find(data.Key)
	if err != nil {
		return view{}, err
	}
	defer done()
	data.Name = p.name
	data.Address = profiler.Address(profilerSite, base+keptPath+"?key="+p.key, base)
	return view{title: p.name, data: data, body: profileView(v, &data)}, nil
}

var errNoProfile = api.Refuse(http.StatusNotFound, "the profile was removed: profiles are kept for an hour")

// isLoopback reports whether an address belongs to a server on the client's own machine.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback() || strings.EqualFold(u.Hostname(), "localhost")
}

// keepProfile keeps a profile for the Firefox Profiler.
func (d *Door) keepProfile(v *visit, _ *progress) (outcome, error) {
	u, err := d.receive(v)
	if err != nil {
		return outcome{}, err
	}
	if u.name == "" {
		err = errors.New("choose a file")
	} else {
		err = auto.CheckProfile(io.NewSectionReader(u, 0, u.Size()))
	}
	if err != nil {
		_ = u.Close() // a temporary file
		return outcome{}, unusable(u.name, err)
	}
	return outcome{to: "ui/profile?key=" + d.kept.add(u, int64(d.deps.MaxDump))}, nil
}

// downloadProfile sends a kept profile with names.
func (d *Door) downloadProfile(v *visit, _ *progress) (outcome, error) {
	p, done, err := d.kept.find(v.URL.Query().Get("key"))
	if err != nil {
		return outcome{}, err
	}
	return d.named(p.upload, done), nil
}

// serveProfile sends a kept profile to every client that knows its key, pages of other
// origins too.
func (d *Door) serveProfile(w http.ResponseWriter, r *http.Request) {
	p, done, err := d.kept.find(r.URL.Query().Get("key"))
	if err != nil {
		d.failWith(w, &visit{Request: r, root: rootOf(r)}, err)
		return
	}
	defer done()
	profiler.ServeProfile(w, r, io.NewSectionReader(p, 0, p.Size()))
}
