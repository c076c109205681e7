package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/api"
	"symbolon/internal/token"
)

func TestAPathMayHaveAToken(t *testing.T) {
	a, ring := access(api.AccessConfig{})
	text := add(t, ring, token.Key("", token.Upload))
	var log bytes.Buffer
	show := func(w http.ResponseWriter, r *http.Request) {
		g, err := a.Grant(r)
		fmt.Fprintf(w, "%s rest=%q id=%v %v", r.RequestURI, r.PathValue("rest"), err == nil && g.ID != "", err)
	}
	crash := func(http.ResponseWriter, *http.Request) { panic("at a path") }
	f := api.New(api.Config{}, options(&log), []api.Route{first(),
		{Methods: []string{"GET"}, Pattern: "/below/", Handle: show},
		{Methods: []string{"GET"}, Pattern: "/crash", Handle: crash},
		{Methods: []string{"GET"}, Pattern: "/{file}/{id:hex}/{sym:.sym}", Handle: show},
	})
	half := text[:8] + "%" + fmt.Sprintf("%02x", text[8]) + text[9:]
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"/t/" + text + "/below/a/b?q=1", 200, `/below/a/b?q=1 rest="a/b" id=true <nil>`},
		{"/t/" + text + "/below/a%20b", 200, `/below/a%20b rest="a b" id=true <nil>`},
		{"//t//" + text + "//below/a", 200, `rest="a" id=true <nil>`},
		{"/%74/" + half + "/below/a", 200, `/below/a rest="a" id=true <nil>`},
		{"/t/" + text + "/a/0F/a.sym", 200, `id=true <nil>`},
		{"/t/" + text[1:] + "/below/a", 200, `id=false ` + token.ErrUnknown.Error()},
		{"/t/" + text + "/below/%2F", 404, ""},
		{"/t/" + text + "/unknown", 404, ""},
		{"/t/x/t/" + text + "/below/a", 200, `/below/a rest="a" id=true <nil>`},
		{"/t/t/" + text + "/below/a", 200, `/below/a rest="a" id=true <nil>`},
		{"/t/" + text + "/t", 404, ""},
		{"/t/" + text, 200, ""},
		{"/t/" + text + "/", 200, ""},
		{"/t/" + text + "/crash", 500, ""},
		{"/t", 404, ""},
		{"/t/", 404, ""},
		{"/below/t/x", 200, `/below/t/x rest="t/x" id=false <nil>`},
	} {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
		body, err := io.ReadAll(w.Result().Body)
		if err != nil || w.Code != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %s, %v; want %d %s", c.path, w.Code, body, err, c.status, c.want)
		}
		if strings.Contains(string(body), text) || strings.Contains(fmt.Sprint(w.Header()), text) {
			t.Errorf("%s: the answer has the token: %s", c.path, body)
		}
	}
	for _, part := range []string{text, text[1:], half[8:]} {
		if strings.Contains(log.String(), part) {
			t.Errorf("the log has the token: %s", log.String())
		}
	}
}

func TestOfSeveralTokensOneCounts(t *testing.T) {
	a, ring := access(api.AccessConfig{})
	path, header, bearer := add(t, ring, token.Key("path", token.Read)), add(t, ring, token.Key("header", token.Read)), add(t, ring, token.Key("bearer", token.Read))
	f := api.New(api.Config{}, options(io.Discard), []api.Route{get("/name", func(w http.ResponseWriter, r *http.Request) {
		if g, err := a.Grant(r); err == nil {
			_, _ = io.WriteString(w, g.Name)
		} else {
			_, _ = io.WriteString(w, err.Error())
		}
	})})
	unknown := token.ErrUnknown.Error()
	for _, c := range []struct{ path, header, bearer, want string }{
		{"/t/" + path, header, bearer, "path"},
		{"", header, bearer, "header"},
		{"", "", bearer, "bearer"},
		{"/t/" + bearer + "/t/" + path, header, "", "path"},
		{"/t/unknown", header, bearer, unknown},
		{"", "unknown", bearer, unknown},
	} {
		r := httptest.NewRequest("GET", c.path+"/name", nil)
		r.Header.Set("Auth-Token", c.header)
		r.Header.Set("Authorization", "Bearer "+c.bearer)
		w := httptest.NewRecorder()
		if f.ServeHTTP(w, r); w.Body.String() != c.want {
			t.Errorf("%+v: got %s", c, w.Body)
		}
	}
}

func TestSecretsOfRequestsAreNotLogged(t *testing.T) {
	_, ring := access(api.AccessConfig{})
	text := add(t, ring, token.Key("", token.Upload))
	fixed, session := "a-token-of-the-configuration", strings.Repeat("0f", 20)
	answer := func(w http.ResponseWriter, _ *http.Request) {}
	crash := func(http.ResponseWriter, *http.Request) { panic("at a path") }
	for _, c := range []struct{ path, agent, id string }{
		{"/t%2F" + text + "/x", "", ""},
		{"/t%2F" + fixed + "/x", "", ""},
		{"/T/" + text + "/x", "", ""},
		{"/T/" + fixed + "/x", "", ""},
		{"/symbols/t/" + text + "/x", "", ""},
		{"/symbols//t//" + fixed + "/x", "", ""},
		{"/t/t/" + fixed + "/metrics", "", ""},
		{"/x/../t/" + fixed + "/x", "", ""},
		{"/T/" + fixed, "", ""},
		{"/crash/t/" + fixed, "", ""},
		{"/" + text + "/x", "", ""},
		{"/x/a" + text + "b" + text, "", ""},
		{"/x", "client of " + text, ""},
		{"/x", "https://symbols.example/t/" + fixed + "/", ""},
		{"/x", "", text},
		{"/x", "", "sntrys_x_" + text},
		{"/x", "", "/t/" + fixed},
		{"/upload/v2/" + session + "/0", "", ""},
		{"/upload/v2/" + session, "", ""},
		{"/symbols/Upload//v2/" + session + "/0", "", ""},
	} {
		var log bytes.Buffer
		f := api.New(api.Config{}, options(&log), []api.Route{
			{Methods: []string{"GET"}, Pattern: "/x", Handle: answer},
			{Methods: []string{"GET"}, Pattern: "/crash/", Handle: crash},
		})
		r := httptest.NewRequest("GET", c.path, nil)
		r.Header.Set("User-Agent", c.agent)
		r.Header.Set("X-Request-ID", c.id)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		all := log.String() + w.Body.String() + fmt.Sprint(w.Header())
		for _, secret := range []string{text, fixed, session} {
			if strings.Contains(all, secret) {
				t.Errorf("%+v: the log or the answer has %s: %s", c, secret, all)
			}
		}
		if log.Len() == 0 {
			t.Errorf("%+v is not logged", c)
		}
	}
}

func TestPathsWithoutSecretsAreLoggedAsTheyAre(t *testing.T) {
	for _, path := range []string{
		"/", "//x//", "/buildid/c6f380dd74c250cc9af0c5529c18f6c3db342fb5/source/usr/src/tea.c", "/app.pdb/A1A1F661F927ABC44C4C44205044422E1/app.pdb",
		"/upload/v2/", "/t", "/x/t/", "/" + strings.Repeat("M", 100), "/api/v2/x",
	} {
		var log bytes.Buffer
		api.New(api.Config{}, options(&log)).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		if !strings.Contains(log.String(), `"path":"`+path+`"`) {
			t.Errorf("%s: the log has %s", path, log.String())
		}
	}
}
