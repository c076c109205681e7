package node_test

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"symbolon/internal/token"
)

func TestUploadsAreProtectedByTokensThatMayDeleteThem(t *testing.T) {
	t.Parallel()
	s := newShop(t, rand.New(rand.NewPCG(1, 2)), "")
	p := piece{project: "tea", module: "pot", name: "piece"}
	id := s.upload(t, p.project, p.files())
	until := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range s.clients {
		want := http.StatusForbidden
		if c.May(token.Delete, "tea") {
			want = http.StatusOK
		}
		until = until.AddDate(1, 0, 0)
		body := `{"until":"` + until.Format(time.RFC3339) + `"}`
		if status, answer := s.send(t, http.MethodPost, "/api/uploads/"+id+"/keep", body, c.text); status != want {
			t.Errorf("%v in %v: %d %s, want %d", c.Rights, c.Projects, status, answer, want)
		}
		got, err := s.Files().ProtectedUntil(t.Context(), id)
		if err != nil || got.Equal(until) != (want == http.StatusOK) {
			t.Errorf("%v in %v: kept until %v, %v", c.Rights, c.Projects, got, err)
		}
	}
	admin := s.clients[len(s.clients)-1].text
	if status, answer := s.send(t, http.MethodPost, "/api/uploads/"+id+"/keep", `{"until":"forever"}`, admin); status != http.StatusBadRequest {
		t.Errorf("without a time: %d %s", status, answer)
	}
	body := `{"until":"2040-01-01T00:00:00Z"}`
	for _, other := range []string{"tea.000000000", "tea", id[:len(id)-1] + "z"} {
		if status, answer := s.send(t, http.MethodPost, "/api/uploads/"+other+"/keep", body, admin); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", other, status, answer)
		}
	}
}
