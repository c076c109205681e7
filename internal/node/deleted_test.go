package node_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"symbolon/internal/explain"
	"symbolon/internal/token"
)

func TestExplainNamesADeletedUploadToThoseWhoSeeItsProject(t *testing.T) {
	t.Parallel()
	s := newShop(t, rand.New(rand.NewPCG(1, 2)), "")
	p := piece{project: "tea", module: "pot", name: "piece"}
	id := s.upload(t, p.project, p.files())
	if err := s.Files().Delete(t.Context(), id, "ann", "a mistake"); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.clients {
		if !c.May(token.Admin, "") {
			continue
		}
		status, body := s.send(t, "GET", "/api/explain/pot.so/"+p.id(), "", c.text)
		var x explain.Trail
		if err := json.Unmarshal([]byte(body), &x); status != 200 || err != nil || x.Found {
			t.Fatalf("%v: %d %s %v", c.Projects, status, body, err)
		}
		named := len(x.Deleted) == 1 && x.Deleted[0].Upload == id && x.Deleted[0].By == "ann" &&
			strings.Contains(x.Advice[0], "pot.sym of the project tea was deleted on 20") &&
			strings.Contains(x.Advice[0], "by ann, with the upload "+id+": a mistake.")
		if seen := c.May(token.Read, "tea"); named != seen || !seen && strings.Contains(body, "ann") {
			t.Errorf("a client of %v reads %s", c.Projects, body)
		}
	}
}
