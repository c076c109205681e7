package firefox

import (
	"cmp"
	"context"
	"io"
	"slices"

	"symbolon/internal/filter"
	"symbolon/internal/filter/rawjson"
)

// rewrite writes the profile in data, which is in JSON, to out with names.
func rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	p, err := scanProfile(data)
	if err != nil {
		return err
	}
	if p.version < 0 && p.isGecko {
		return rewriteGecko(ctx, run, data, out)
	}
	if err := p.checkVersion(); err != nil {
		return err
	}
	scopes, err := p.openScopes()
	if err != nil {
		return err
	}
	var l lookup
	l.gather(p, scopes, run.Force)
	if err := l.ask(ctx, run, p); err != nil {
		return err
	}
	var edits []edit
	if len(l.answers) > 0 {
		if edits, err = p.change(scopes, &l, run.Force); err != nil {
			return err
		}
	}
	return writeEdits(data, edits, out)
}

// change applies the answers to the frames and returns the edits in their order.
func (p *profile) change(scopes []*scope, l *lookup, force bool) ([]edit, error) {
	slices.SortStableFunc(l.wants, func(a, b want) int { return cmp.Compare(a.scope, b.scope) })
	edits := []edit{p.setSymbolicated()}
	wants := l.wants
	for i, s := range scopes {
		n := 0
		for n < len(wants) && wants[n].scope == int32(i) {
			n++
		}
		if err := s.apply(l, wants[:n], force); err != nil {
			return nil, err
		}
		wants = wants[n:]
		stacks, err := s.replaceStacks()
		if err != nil {
			return nil, err
		}
		edits = slices.Concat(edits, stacks, s.frames.edits(), s.funcs.edits(), s.symbols.edits())
		if s.strings != p.shared.strings {
			edits = append(edits, s.strings.edits()...)
		}
	}
	if p.shared.strings != nil {
		edits = append(edits, p.shared.strings.edits()...)
	}
	if p.shared.sources != nil {
		edits = append(edits, p.shared.sources.edits()...)
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	return edits, nil
}

func (p *profile) setSymbolicated() edit {
	at, text := p.symbolicated, "true"
	if at.to == 0 {
		at, text = span{p.metaAt, p.metaAt}, `"symbolicated":true,`
	}
	return edit{at.from, func(e *rawjson.Editor) error {
		e.Replace(at.from, at.to)
		e.Out.WriteString(text)
		return nil
	}}
}
