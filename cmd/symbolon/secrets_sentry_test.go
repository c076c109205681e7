package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/trial"
)

// spoken is all that a request has brought, for servers that say it.
func spoken(r *http.Request) string { return echo(r) + "|" + r.Header.Get("Cookie") }

// storeTalkers are stores and projects that fail, and repeat the request in an
// error of their protocol.
var storeTalkers = map[string]http.HandlerFunc{
	"XML": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(403)
		fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>%s</Message><AWSAccessKeyId>%[1]s</AWSAccessKeyId></Error>", spoken(r))
	},
	"XML code": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%[1]s</Message></Error>", spoken(r))
	},
	"JSON": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(403)
		_ = json.NewEncoder(w).Encode(map[string]any{"detail": spoken(r), "error": map[string]any{"code": 403, "message": spoken(r)}})
	},
	"list": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("id") != "" {
			http.Error(w, spoken(r), 403)
			return
		}
		_ = json.NewEncoder(w).Encode([]map[string]string{{"id": "1", "symbolType": "breakpad"}, {"id": "2", "symbolType": spoken(r)}})
	},
	"length": func(w http.ResponseWriter, r *http.Request) {
		trial.Raw("HTTP/1.1 200 OK\r\nContent-Length: "+spoken(r)+"\r\n\r\n", false).ServeHTTP(w, r)
	},
	"coding": func(w http.ResponseWriter, r *http.Request) {
		trial.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: "+spoken(r)+"\r\n\r\n", false).ServeHTTP(w, r)
	},
	"header": func(w http.ResponseWriter, r *http.Request) {
		trial.Raw("HTTP/1.1 200 OK\r\n"+spoken(r)+"\r\n\r\n", false).ServeHTTP(w, r)
	},
	"too much": func(w http.ResponseWriter, r *http.Request) {
		trial.Raw("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"+spoken(r), false).ServeHTTP(w, r)
	},
	"cookie": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", spoken(r))
		w.Header().Set("ETag", `"`+spoken(r)+`"`)
		w.Header().Set("Link", `<http://h/?cursor=`+secretOf(r)+`>; rel="next"; results="true"; cursor="`+secretOf(r)+`"`)
		fmt.Fprint(w, spoken(r))
	},
}

// credited are sources of each type at an address, with secrets in all that they
// have, and their ids.
func credited(at string, next func() string) (sources, ids []string) {
	host := strings.TrimPrefix(at, "http://")
	for id, format := range map[string]string{
		"web":     `"type":"http","url":"http://user:%s@` + host + `?sig=%s","headers":{"X-Key":"%s","Cookie":"c=%s"}`,
		"indexed": `"type":"http","url":"http://user:%s@` + host + `?sig=%s","headers":{"X-Key":"%s","Cookie":"c=%s"},"has_index":true,"layout":{"type":"symstore"}`,
		"project": `"type":"sentry","url":"http://user:%s@` + host + `?sig=%s","token":"%s%.0s"`,
		"cookies": `"type":"sentry","url":"` + at + `?sig=%s","cookies":"c=%s%.0s%.0s"`,
		"s3":      `"type":"s3","bucket":"b","region":["r","` + at + `"],"access_key":"%s","secret_key":"%s","session_token":"%s%.0s"`,
		"gcs":     `"type":"gcs","bucket":"b","url":"` + at + `","bearer_token":"%s%.0s%.0s%.0s"`,
		"account": `"type":"gcs","bucket":"b","url":"` + at + `","client_email":"a@example.test","private_key":"%s%.0s%.0s%.0s"`,
	} {
		ids = append(ids, id)
		sources = append(sources, fmt.Sprintf(`{"id":%q,`+format+`}`, id, next(), next(), next(), next()))
	}
	return sources, ids
}

// repeating returns a server that repeats the secrets of a request, in the way that
// is selected by the start of the path.
func repeating(t *testing.T, ways map[string]http.HandlerFunc) *trial.Upstream {
	up := trial.NewUpstream(t)
	up.Do("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		way, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch h := ways[strings.ReplaceAll(way, "-", " ")]; {
		case h != nil:
			h(w, r)
		case strings.HasSuffix(r.URL.Path, ".so.sym") && strings.Contains(spoken(r), trial.Canary):
			_, _ = w.Write([]byte(trial.KettleSym)) // the client may leave
		default:
			http.NotFound(w, r)
		}
	}))
	return up
}

// witness sends requests to a server and keeps all that it says.
type witness struct {
	*trial.Server
	t           *testing.T
	user, admin string // tokens
	told        map[string]string
}

func (w *witness) send(what, method, path, body, token string) string {
	w.t.Helper()
	r, err := http.NewRequest(method, w.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	text := wholeAnswer(w.t, r)
	w.told[what] += text
	return text
}

func (w *witness) ask(what, module, more string) string {
	w.t.Helper()
	body := `{"stacktraces":[{"frames":[{"instruction_addr":"0x1018","addr_mode":"rel:0"}]}],"modules":[{` + module + `,"image_addr":0}],"options":{"dif_candidates":true}` + more + `}`
	return w.send(what, http.MethodPost, "/symbolicate?scope=s", body, w.user)
}

// TestNoRequestTellsASecret sends requests whose sources have secrets of each
// kind, to servers that repeat them in each way, and to one that has what is
// wanted; and looks at all that comes of it.
func TestNoRequestTellsASecret(t *testing.T) {
	t.Parallel()
	self, err := exec.LookPath("symbolon") // this test, under the name of the command
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	next := func() string { n++; return fmt.Sprint(trial.Canary, n) }
	ways := maps.Clone(talkers)
	maps.Copy(ways, storeTalkers)
	up := repeating(t, ways)
	at := strings.TrimSuffix(strings.TrimPrefix(up.URL, "http://"), "/")
	folder, module := trial.PDBFolder(t, fixture.SourceLinkedPDB(at+"/page"))
	w := &witness{t: t, user: next() + "-of-the-user", admin: next() + "-of-the-admin", told: map[string]string{}}
	config := "log: {level: debug}\nsentry: {allow_request_sources: true}\n" +
		"network: {connect_to_reserved_ips: true, max_tries: 2, head_timeout: 2s, deny_list_threshold: -1}\n" +
		"access: {clients: [{name: boss, token: " + w.admin + ", scopes: ['*'], admin: true}, {name: some, token: " + w.user + ", scopes: [s], request_sources: true}]}\n" +
		"sources:\n- {id: folder, type: filesystem, path: '" + folder + "'}\n" +
		"- {id: good, type: http, url: 'http://user:" + next() + "@" + at + "/?sig=" + next() + "', headers: {X-Key: " + next() + "}}\n"
	w.Server = trial.Start(t, trial.Options{Config: config, Binary: self})
	w.sources(up.URL, ways, next)
	w.links(module, next)
	w.mistakes(next)
	w.operate(config)
	w.Terminate()
	w.told["log"], w.told["data"] = w.Log(), filesBelow(t, w.Data)
	for what, text := range w.told {
		if found := trial.Leaks(text); found != nil {
			t.Errorf("%s tells %s", what, found)
		}
	}
	if len(w.Lines("msg=request", "/symbolicate")) == 0 || len(w.Lines("level=DEBUG")) == 0 || w.told["data"] == "" {
		t.Error("the log or the data are not those of the server")
	}
}

// sources has sources of each kind fail in each way, and be of use.
func (w *witness) sources(url string, ways map[string]http.HandlerFunc, next func() string) {
	said := map[string]int{}
	for way := range ways {
		sources, ids := credited(url+strings.ReplaceAll(way, " ", "-")+"/", next)
		answer := w.ask(way, trial.Kettle, `,"sources":[`+strings.Join(sources, ",")+`]`)
		for _, id := range ids {
			said[id] += strings.Count(answer, `"source":"`+id+`"`)
		}
	}
	sources, ids := credited(url, next)
	for what, answer := range map[string]string{
		"a good source of a request":           w.ask("good", trial.Kettle, `,"sources":[`+strings.Join(sources, ",")+`]`),
		"a good source of the configuration":   w.ask("configured", strings.Replace(trial.Kettle, "kettle", "configured", 1), ""),
		"one of a request, when it is decoded": w.ask("again", trial.Kettle, `,"sources":[`+strings.Join(sources, ",")+`]`),
	} {
		if !strings.Contains(answer, `"symbolicated"`) {
			w.t.Errorf("%s: %s", what, answer)
		}
	}
	for _, id := range ids {
		if said[id] == 0 {
			w.t.Errorf("nothing is said of %s", id)
		}
	}
}

// links has source files fetched with secrets.
func (w *witness) links(module string, next func() string) {
	for _, headers := range []string{`{"X-Key":"` + next() + `","Authorization":"Bearer ` + next() + `"}`, `{"Cookie":"c=` + next() + `"}`} {
		answer := w.ask("scraping", module, `,"scraping":{"enabled":true,"allowed_origins":["*"],"headers":`+headers+`}`)
		if !strings.Contains(answer, `"source":"sourcelink"`) {
			w.t.Errorf("no link was followed: %s", answer)
		}
	}
}

// mistakes are requests with secrets that are wrong in themselves.
func (w *witness) mistakes(next func() string) {
	for what, more := range map[string]string{
		"bad source":   `,"sources":[{"id":"x","type":"http","url":"http://u:` + next() + `@h:p/","headers":{"A":"` + next() + `"}}]`,
		"odd source":   `,"sources":[{"id":"x","type":"s3","access_key":"` + next() + `","secret_key":["` + next() + `"]}]`,
		"half of one":  `,"sources":[{"id":"x","type":"sentry","url":"http://h/","token":"` + next(),
		"line break":   `,"sources":[{"id":"x","type":"sentry","url":"http://h/","token":"` + next() + `\n"}]`,
		"bad scraping": `,"scraping":{"enabled":true,"allowed_origins":["*"],"headers":{"A":["` + next() + `"]}}`,
		"bad key":      `,"sources":[{"id":"x","type":"gcs","bucket":"b","client_email":"e","private_key":"-----BEGIN PRIVATE KEY-----\n` + next() + `\n-----END PRIVATE KEY-----"}]`,
	} {
		w.ask(what, trial.Kettle, more)
	}
	w.send("a wrong token", http.MethodPost, "/symbolicate", "{}", next())
	w.send("a wrong scope", http.MethodPost, "/symbolicate?scope="+next()+"&sig="+next(), "{}", w.user)
	w.send("no request", http.MethodGet, "/requests/x?token="+next(), "", w.user)
	w.send("forget, badly", http.MethodPost, "/api/forget", `{"modules":[{"debug_id":"x"}]}`, w.admin)
	w.send("forget, not allowed", http.MethodPost, "/api/forget", `{}`, w.user)
}

// operate asks for all that an operator may know.
func (w *witness) operate(config string) {
	module := "configured.so/" + trial.KettleID
	w.send("forget", http.MethodPost, "/api/forget", `{"modules":[{`+trial.Kettle+`}]}`, w.admin)
	if x := w.send("explain", http.MethodGet, "/api/explain/"+module, "", w.admin); !strings.Contains(x, "found in good") {
		w.t.Errorf("it is not explained: %s", x)
	}
	w.send("explain", http.MethodGet, "/api/explain/other.so/"+trial.KettleID+"?purpose=unwind", "", w.admin)
	w.send("proxy", http.MethodGet, "/proxy/configured.so/"+trial.KettleID+"/configured.so.sym", "", w.user)
	for _, path := range []string{"/metrics", "/healthcheck", "/__heartbeat__"} {
		w.send(path, http.MethodGet, path, "", "")
	}
	for _, args := range [][]string{
		{"explain", "--all", module}, {"explain", "--json", "--purpose", "debug", "--type", "elf", module}, {"cache", "ls", "--json"}, {"cache", "ls", "--faults"},
		{"config", "print"}, {"config", "check"},
	} {
		out, errs, _ := w.Run(append(args, "--config", configOf(w.t, config), "--data", w.Data)...)
		w.told["command "+strings.Join(args[:2], " ")] += out + errs
	}
}
