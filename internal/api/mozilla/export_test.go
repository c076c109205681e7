package mozilla

import (
	"context"
	"io"
	"net/http"

	"symbolon/internal/api/json"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Lookups are the answers that a test has in the place of an engine.
type Lookups = lookups

// Run answers in the place of an engine.
type Run = func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, Lookups, error)

// NewWith returns a door over an engine of a test.
func NewWith(cfg Config, deps Deps, run Run) *Door {
	if deps.Grant == nil {
		deps.Grant = Anonymous
	}
	d := New(cfg, deps)
	d.run = func(ctx context.Context, _ *token.Grant, req *symbolicate.Request) ([]symbolicate.Module, lookups, error) {
		return run(ctx, req)
	}
	return d
}

// Anonymous is the grant of clients without a token.
func Anonymous(*http.Request) (*token.Grant, error) { return &token.Grant{}, nil }

// Decoded is a decoded request that tests can compare.
type Decoded struct {
	Jobs              []DecodedJob
	Debug, Extensions bool
}

// DecodedJob has modules as sent, and frames as the index and offset that the
// answer shows.
type DecodedJob struct {
	Modules [][2]string
	Stacks  [][]DecodedFrame
}

// DecodedFrame is a frame with the module it is in, "" for none.
type DecodedFrame struct{ Module, Offset string }

// Decode decodes a body.
func Decode(body io.Reader, jobs, tecken bool, cfg Config) (*Decoded, error) {
	p, err := decode(body, dialect{jobs: jobs, tecken: tecken, limits: cfg.Defaults()})
	if err != nil {
		return nil, err
	}
	out := &Decoded{Debug: p.debug, Extensions: p.extensions}
	frame, special := 0, 0
	for _, j := range p.jobs {
		var job DecodedJob
		for _, m := range p.maps[j.maps.from:j.maps.to] {
			job.Modules = append(job.Modules, [2]string{p.modules[m].file, p.modules[m].id})
		}
		for _, end := range p.stacks[j.stacks.from:j.stacks.to] {
			stack := []DecodedFrame{}
			for ; frame < int(end); frame++ {
				f := p.query.Frames[frame]
				d := DecodedFrame{Offset: string(json.AppendHex(nil, f.Addr))}
				if f.Module >= 0 {
					m := p.modules[f.Module]
					d.Module = m.file + "/" + m.id
				}
				if special < len(p.special) && p.special[special].frame == frame {
					d.Offset = p.special[special].text
					special++
				}
				stack = append(stack, d)
			}
			job.Stacks = append(job.Stacks, stack)
		}
		out.Jobs = append(out.Jobs, job)
	}
	return out, nil
}

// Ask decodes a body into the request to the engine.
func Ask(body io.Reader, cfg Config) (*symbolicate.Request, error) {
	p, err := decode(body, dialect{jobs: true, limits: cfg.Defaults()})
	if err != nil {
		return nil, err
	}
	return &p.query, nil
}
