package rows

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// Limit returns names for a limited number of modules. Below zero there is no limit. A
// lookup of more fails with a *filter.StatusError.
func Limit(names filter.Names, most int) filter.Names {
	return &limited{Names: names, most: most, modules: map[ident.Module]bool{}}
}

// limited are names for a limited number of modules.
type limited struct {
	filter.Names
	most int // below zero: no limit

	mu      sync.Mutex
	modules map[ident.Module]bool // that were looked up
}

// Look implements filter.Names.
func (l *limited) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	if l.most >= 0 && l.add(q.Modules) > l.most {
		return nil, &filter.StatusError{
			Status: http.StatusRequestEntityTooLarge,
			Reason: fmt.Sprintf("please limit number of modules in a single request to <= %d", l.most),
		}
	}
	return l.Names.Look(ctx, q)
}

// add adds modules and returns their number.
func (l *limited) add(list []ident.Module) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range list {
		l.modules[m] = true
	}
	return len(l.modules)
}
