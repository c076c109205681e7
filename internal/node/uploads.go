package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"symbolon/internal/answer"
	"symbolon/internal/api/elastic"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/config"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/keys"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// uploads is what was uploaded here, or to a node that has the same store.
type uploads struct {
	store  *ingest.Store
	keys   *keys.Ring
	source source.Source // nil: the store is one of the configured sources
	folder *dir.Bucket   // nil: the store is no folder
	stop   func()        // nil: nobody attends to them
}

// ownStore is the id of the source of uploads that are in a folder of their own.
const ownStore = "uploads"

// openUploads opens the store that the configuration names.
func (n *Node) openUploads(cfg *config.Config) error {
	place := source.Config{ID: ownStore, Type: source.Filesystem, Path: cfg.State, Layout: source.Layout{Type: source.Elastic}}
	configured := cfg.StateSource()
	if configured >= 0 {
		place = cfg.Sources[configured]
	}
	b, err := n.ownBucket(place, cfg.Network)
	if err != nil {
		return fmt.Errorf("open the store of uploads: %w", err)
	}
	state := bucket.Bucket(&bucket.Exclusive{Bucket: b})
	if n.uploads.folder, _ = b.(*dir.Bucket); n.uploads.folder != nil {
		state = b // a folder never ignores a condition
	}
	ring := keys.NewRing(cfg.Elastic.Keys(), state, time.Now, n.log)
	ring.Closed = func() { n.tables.Clear() } // what is open would answer on
	n.uploads.keys = ring
	if configured < 0 {
		t, err := tree.New(place, b, n.client.Decoder(uploadNetwork(cfg), false), time.Now)
		if err != nil {
			return err
		}
		n.uploads.source = silent{guarded{t, ring}}
	}
	for _, list := range [][]source.Source{n.configured, n.public} {
		for i, s := range list {
			if configured >= 0 && s.ID() == place.ID {
				list[i] = guarded{s, ring}
			}
		}
	}
	n.uploads.store = ingest.New(cfg.Elastic.Uploads, ingest.Deps{Bucket: state, Spool: n.spool, Now: time.Now, Log: n.log})
	return nil
}

// uploadNetwork is the configuration of the network for the source with uploads.
// What was taken comes out again: its size was judged when it came, and it may have
// come as it is and be kept at any ratio.
func uploadNetwork(cfg *config.Config) web.Config {
	network := cfg.Network.Defaults()
	network.MaxDownloadRatio = -1
	if network.MaxDownloadSize > 0 {
		network.MaxDownloadSize = max(network.MaxDownloadSize, cfg.Elastic.Uploads.Defaults().MaxFile)
	}
	return network
}

// keysEvery is how often keys are looked at that nobody asks about: another node
// may have closed reading, and then what is open here must not answer on.
const keysEvery = 10 * time.Second

// attend looks after what was uploaded while the node serves: keys, and in a
// folder parts whose others did not come, which nobody else removes there.
func (n *Node) attend(expiry time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		keys, parts := time.NewTicker(keysEvery), time.NewTicker(time.Hour)
		defer keys.Stop()
		defer parts.Stop()
		for n.sweep(ctx, expiry); ; {
			select {
			case <-ctx.Done():
				return
			case <-keys.C:
				n.uploads.keys.Open(ctx)
			case <-parts.C:
				n.sweep(ctx, expiry)
			}
		}
	}()
	n.uploads.stop = func() {
		cancel()
		<-done
	}
}

func (n *Node) sweep(ctx context.Context, expiry time.Duration) {
	if n.uploads.folder == nil {
		return
	}
	if err := n.uploads.folder.Sweep(ctx, ingest.Incoming, time.Now().Add(-expiry)); err != nil && ctx.Err() == nil {
		n.log.Warn("parts of uploads that are too old could not be removed", "error", err)
	}
}

// guarded is a source with uploads. Where reading them needs a key, it has
// nothing for modules that are asked for by other ids than those of profilers,
// whose interface looks at keys.
type guarded struct {
	source.Source
	keys *keys.Ring
}

func (s guarded) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	if m.FileID.IsZero() && !s.keys.Open(ctx) {
		return nil, nil
	}
	return s.Source.Candidates(ctx, m, kinds)
}

// silent is a source of which nobody is told that has no place for a module.
type silent struct{ source.Source }

func (s silent) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	list, err := s.Source.Candidates(ctx, m, kinds)
	if err == nil && len(list) == 0 {
		err = source.ErrNothing
	}
	return list, err
}

// sources are those of the configuration, and what was uploaded here.
func (n *Node) sources() []source.Source {
	if n.uploads.source == nil {
		return n.configured
	}
	return append(slices.Clip(n.configured), n.uploads.source)
}

// FileQuery is addresses of a binary that is known by its file id.
type FileQuery struct {
	FileID ident.FileID `json:"fileid"`
	Addrs  []uint64     `json:"addrs"`
}

// Frames looks addresses up in what was uploaded.
func (n *Node) Frames(ctx context.Context, q FileQuery) ([]answer.Answer, error) {
	asked := make([]symbolicate.Frame, len(q.Addrs))
	for i, addr := range q.Addrs {
		asked[i].Addr = addr
	}
	l, err := elastic.Look(ctx, n.engine.Run, []ident.Module{{FileID: q.FileID}}, asked)
	if err != nil {
		return nil, err
	}
	defer l.Release()
	if why := l.Missing(0); why != nil {
		return nil, fmt.Errorf("no symbols of the file %s: %w", q.FileID.Base64(), why.Fault)
	}
	out := make([]answer.Answer, len(q.Addrs))
	for i, addr := range q.Addrs {
		out[i] = answer.Answer{Addr: fmt.Sprintf("%#x", addr), Frames: []answer.Frame{}}
		found, err := l.At(i)
		if err != nil {
			return nil, err
		}
		for _, f := range found.Frames {
			text := func(t sym.Text) string {
				b, _ := found.Result.AppendRaw(nil, 0, t)
				return string(b)
			}
			x := answer.Frame{Function: text(f.Func), File: text(f.File), Line: f.Line, Inlined: f.Inlined}
			if off, ok := found.Offset(&f); ok {
				x.Offset = fmt.Sprintf("%#x", off)
			}
			out[i].Frames = append(out[i].Frames, x)
		}
	}
	return out, nil
}
