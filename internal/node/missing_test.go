package node_test

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"symbolon/internal/node"
	"symbolon/internal/waittest"
)

func TestModulesUploadedAfterTheLastRequestAreNotMissing(t *testing.T) {
	t.Parallel()
	s := newShop(t, rand.New(rand.NewPCG(1, 2)), "")
	p := piece{project: "tea", module: "pot", name: "piece"}
	ask := func() { // without a token for tea
		if status, answer := s.send(t, http.MethodGet, "/pot.so/"+p.id()+"/pot.so.sym", "", ""); status != http.StatusNotFound {
			t.Fatal(status, answer)
		}
	}
	isMissing := func() bool {
		rows, err := s.Missing(t.Context(), node.MissingQuery{Since: time.Now().Add(-time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return len(rows) == 1
	}
	if ask(); !isMissing() {
		t.Error("it is not missing after a request")
	}
	if s.upload(t, p.project, p.files()); isMissing() {
		t.Error("it is missing after the upload")
	}
	waittest.Until(t, "a request after the upload counts", func() bool { ask(); return isMissing() })
}
