package tecken_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api/apitest"
	"symbolon/internal/missing"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

func TestUploadsAreListedForTheirProject(t *testing.T) {
	s := serve(t, store.Config{})
	ids := make([]string, 0, 21)
	for i := range 21 {
		ids = append(ids, s.upload("tea", symMember(fmt.Sprintf("tea%d.so", i), i%10)))
	}
	first := s.get("tea", "/api/uploads/")
	first.Expect(200, `"uploads":[{"id":"`+ids[20], `"user":{"email":"ci of tea"},"filename":"symbols.zip"`, `"has_next":true`, `"files_count":1`)
	s.get("reader", "/api/uploads/?before="+ids[1]).Expect(200, `[{"id":"`+ids[0], `"has_next":false`)
	s.get("coffee", "/api/uploads/").Expect(200, `"uploads":[]`)
	s.get("", "/api/uploads/").Expect(403, "Auth-Token")

	s.get("tea", "/api/uploads/upload/"+ids[0]).Expect(200, `"file_uploads":[{"id":"`+ids[0]+`.0"`, `"key":"`+symMember("tea0.so", 0).name, `"debug_id":"`+strings.ToUpper(apitest.SymID(0))[:32])
	s.get("coffee", "/api/uploads/upload/"+ids[0]).Expect(404, "there is no such")
	s.get("tea", "/api/uploads/upload/tea.x").Expect(404, "there is no such")
	s.get("tea", "/api/uploads/files/").Expect(200, `"files":[{"id":"`+ids[20], `"has_next":false`)
	s.get("tea", "/api/stats/").Expect(200, `{"stats":{"uploads":{"all_uploads":true,"today":{"count":`, `"last_30_days":{"count":21,`)
}

func TestTryUploadsAreListedForTheirUploaders(t *testing.T) {
	s := serve(t, store.Config{})
	id := s.upload("tries", symMember("tea.so", 1))
	for _, secret := range []string{"tries", "tea", "reader"} {
		s.get(secret, "/api/uploads/").Expect(200, id, `"try_symbols":true`)
	}
	regular := s.upload("tea", symMember("tea.so", 2))
	if got := s.get("tries", "/api/uploads/"); strings.Contains(got.Body, regular) {
		t.Errorf("got %s, want only uploads of try builds", got.Body)
	}
}

func TestInformationAboutTokens(t *testing.T) {
	s := serve(t, store.Config{})
	for secret, want := range map[string]string{
		"tea": `"email":"ci of tea","token_expires_at":253402214400,"try_symbols":false,"upload_api_version":1`, "tries": `"try_symbols":true`,
	} {
		s.Ask(secret, "POST", "/upload/auth_info/", "").Expect(200, want)
	}
	s.Ask("reader", "POST", "/upload/auth_info/", "").Expect(403, `{"error":"Forbidden`)
}

func TestAdministratorsManageTokens(t *testing.T) {
	s := serve(t, store.Config{})
	post := func(secret string, form url.Values) apitest.Answer {
		return s.Ask(secret, "POST", "/api/tokens/", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	good := url.Values{"permissions": {"upload,read"}, "expires": {"30"}, "notes": {"ci"}, "projects": {"tea"}}
	var added struct {
		Token struct{ ID, Key string }
	}
	got := post("all", good)
	got.Expect(201, `"ok":true`)
	if err := json.Unmarshal([]byte(got.Body), &added); err != nil {
		t.Fatal(err)
	}
	if g, err := s.tokens.Grant(t.Context(), added.Token.Key); err != nil || !g.May(token.Upload, "tea") || g.May(token.Upload, "default") {
		t.Errorf("the token has %+v, %v, want upload in tea", g, err)
	}
	s.get("all", "/api/tokens/").Expect(200, `"id":"`+added.Token.ID+`"`, `"is_expired":false,"key":"",`, `"notes":"ci"`, `"totals":{"active":1,"all":1,"expired":0}`)
	s.get("all", "/api/tokens/?state=expired").Expect(200, `"tokens":[]`)
	s.get("all", "/api/tokens/?state=odd").Expect(400, `{"errors":{"state":[`)
	for name, form := range map[string]url.Values{
		"Invalid combination of permissions": {"permissions": {"upload,upload-try"}, "expires": {"30"}},
		`"expires":["Must be 1 to`:           {"permissions": {"read"}},
		`"permissions":["Must be`:            {"permissions": {"7"}, "expires": {"1"}},
		`"projects":["Must be`:               {"permissions": {"1"}, "expires": {"1"}, "projects": {"../a"}},
	} {
		post("all", form).Expect(400, name)
	}
	post("tea", good).Expect(403, "lacks the right admin")
	s.get("tea", "/api/tokens/").Expect(403, "lacks the right admin")
	s.Ask("tea", "DELETE", "/api/tokens/token/"+added.Token.ID, "").Expect(403, "lacks the right admin")
	s.Ask("all", "DELETE", "/api/tokens/token/"+added.Token.ID, "").Expect(200, `{"ok":true}`)
	s.Ask("all", "DELETE", "/api/tokens/token/"+added.Token.ID, "").Expect(404, "there is no token")
}

func TestIdentifiersOfAModule(t *testing.T) {
	s := serve(t, store.Config{})
	m := symMember("tea.so", 1)
	m.content = strings.Replace(m.content, "FUNC", "INFO CODE_ID 0123456789ABCDEF tea.bin\nFUNC", 1)
	s.upload("tea", m)
	for _, id := range []string{apitest.SymID(1), strings.ToLower(apitest.SymID(1)), "0123456789abcdef"} {
		s.get("tea", "/api/syminfo/tea.so/"+id).Expect(200, `"debug_filename":"tea.so"`, `"code_id":"0123456789ABCDEF"`,
			`"debug_id":"`+apitest.SymID(1)+`"`, `"url":"`+s.URL+"/tea.so/"+apitest.SymID(1)+`/tea.so.sym"`)
	}
	s.get("coffee", "/api/syminfo/tea.so/"+apitest.SymID(1)).Expect(404, "Code file / id Not Found")
	s.get("tea", "/api/syminfo/tea.so/"+apitest.SymID(2)).Expect(404, "Code file / id Not Found")
	s.upload("tries", symMember("tea.so", 3))
	s.get("tea", "/api/syminfo/tea.so/"+apitest.SymID(3)).Expect(200, `"url":"`+s.URL+"/try/tea.so/")
}

func TestMissingSymbolsAreThoseOfReadableProjects(t *testing.T) {
	s := serve(t, store.Config{})
	tea := missing.Client{Project: "tea"}
	s.rows = []*missing.Row{
		{DebugFile: "a.pdb", DebugID: "AB1", CodeFile: "a,b.dll", CodeID: "12", Client: tea, Count: 2, Last: time.Now()},
		{DebugFile: "a.pdb", DebugID: "AB1", CodeFile: "a,b.dll", CodeID: "12", Client: missing.Client{Project: "tea", Door: "other"}},
		{DebugFile: "b.pdb", DebugID: "CD1", Client: missing.Client{Project: "coffee"}}, {DebugFile: "c.pdb", DebugID: "EF1"},
	}
	got := s.get("reader", "/missingsymbols.csv?days=2")
	if want := "debug_file,debug_id,code_file,code_id\na.pdb,AB1,\"a,b.dll\",12\n"; got.Body != want {
		t.Errorf("got %q, want %q", got.Body, want)
	}
	if text := got.Header.Get("Content-Disposition"); !strings.HasPrefix(text, `attachment; filename="missing-symbols-2`) {
		t.Errorf("Content-Disposition is %q", text)
	}
	s.get("all", "/missingsymbols.csv?columns=all").Expect(200, "code_id,count,first,last,", "c.pdb,EF1")
	s.get("all", "/missingsymbols.csv?days=0").Expect(400, "invalid days")
	s.get("", "/missingsymbols.csv").Expect(403, "Auth-Token")
}
