package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

const (
	tier     = "redis"
	layout   = "1:"    // version of the keys and of all that stands under them
	smallest = 4 << 10 // what is not larger is kept in its record, as it is
	patience = 4       // times the timeout, for a chunk of what is there
	slack    = 10      // times the timeout, for what no answer waits for
)

var _ cache.Shared = (*Store)(nil)

// Store is the tier on one Redis, one Cluster, or what Sentinels watch. Make it
// with Open and close it.
type Store struct {
	cfg   Config
	spool func() (cache.Spool, error)
	now   func() time.Time
	log   *slog.Logger
	link  *link
}

// Open makes a Store. What is read is put into a spool. It is no error when
// Redis cannot be reached: it is used as soon as it can.
func Open(cfg Config, spool func() (cache.Spool, error), now func() time.Time, log *slog.Logger) (*Store, error) {
	cfg = cfg.Defaults()
	options, err := cfg.options()
	if err != nil {
		return nil, fault.New(fault.Internal, tier, "%w", err)
	}
	s := &Store{cfg: cfg, spool: spool, now: now, log: log}
	s.link = &link{options: options, timeout: cfg.Timeout, probe: cfg.Prefix + layout + "probe", log: log}
	s.link.open(s.advise)
	return s, nil
}

// Close ends the connections. Blobs that are open stay usable.
func (s *Store) Close() { s.link.close() }

// advise warns about a server that is not set up as a cache. One that does not
// tell is not asked again.
func (s *Store) advise(c rueidis.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	set, err := c.Do(ctx, c.B().ConfigGet().Parameter("maxmemory*").Build()).AsStrMap()
	if err != nil {
		s.log.Debug("redis does not tell its maxmemory", "error", err)
		return
	}
	switch policy := set["maxmemory-policy"]; {
	case set["maxmemory"] == "0":
		s.log.Warn("redis has no maxmemory and will grow until its machine has no memory left; set maxmemory, and maxmemory-policy allkeys-lru")
	case policy == "noeviction" || strings.HasPrefix(policy, "volatile-"):
		s.log.Warn("redis removes no old tables, so nothing new can be shared once it is full; set maxmemory-policy allkeys-lru", "maxmemory-policy", policy)
	}
}

func (s *Store) name(kind cache.Kind, key cache.Key) string {
	return s.cfg.Prefix + layout + string(kind) + ":" + key.String()
}

// chunk is the key of a chunk of the content with this checksum.
func chunk(name string, sum uint32, n int) string { return fmt.Sprintf("%s:%08x:%d", name, sum, n) }

// get reads a value. It is nil when there is none.
func (s *Store) get(ctx context.Context, wait time.Duration, name string) ([]byte, error) {
	r, err := s.link.do(ctx, wait, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Get().Key(name).Build())
	})
	if err != nil || rueidis.IsRedisNil(r.Error()) {
		return nil, err
	}
	return r.AsBytes()
}

// set writes a value, with an expiry unless life is zero. It does not end in
// the middle: what was sent may be carried out in any case.
func (s *Store) set(ctx context.Context, name, value string, life time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := s.link.do(context.WithoutCancel(ctx), slack*s.cfg.Timeout, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		cmd := c.B().Set().Key(name).Value(value)
		if life > 0 {
			return c.Do(ctx, cmd.PxMilliseconds(max(life.Milliseconds(), 1)).Build())
		}
		return c.Do(ctx, cmd.Build())
	})
	return err
}

// Get opens an entry, or returns its fault.
func (s *Store) Get(ctx context.Context, kind cache.Kind, key cache.Key) (cache.Blob, error) {
	blob, err := s.find(ctx, kind, key)
	outcome := "hit"
	switch {
	case !cache.Expires(err).IsZero():
		outcome = "fault"
	case err == errDown:
		outcome, err = "off", nil
	case blob == nil:
		outcome, err = "miss", nil
	}
	metric.CacheLookups.Add(1, tier, string(kind), outcome)
	return blob, err
}

// find is Get. An error without an end is why nothing is known.
func (s *Store) find(ctx context.Context, kind cache.Kind, key cache.Key) (cache.Blob, error) {
	name := s.name(kind, key)
	value, err := s.get(ctx, s.cfg.Timeout, name)
	if value == nil || err != nil {
		return nil, err
	}
	r, ok := readRecord(name, value)
	switch {
	case !ok:
		err = remote.ErrDamaged
	case r.form == failed:
		return nil, s.fault(ctx, name, r.fault)
	default:
		var blob cache.Blob
		if blob, err = s.content(ctx, name, r); err == nil {
			return blob, nil
		}
	}
	switch {
	case errors.Is(err, errGone):
		metric.CacheEvictions.Add(1, tier, string(kind))
		s.Forget(ctx, kind, key)
	case errors.Is(err, remote.ErrDamaged):
		s.log.Warn("an entry in redis is damaged and is removed", "kind", kind, "key", key, "error", err)
		s.Forget(ctx, kind, key)
	}
	return nil, err
}

// fault is a remembered fault with its end.
func (s *Store) fault(ctx context.Context, name string, f *fault.Error) error {
	r, err := s.link.do(ctx, s.cfg.Timeout, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Pttl().Key(name).Build())
	})
	if err != nil {
		return err
	}
	rest, err := r.AsInt64()
	if err != nil || rest <= 0 { // it has just ended
		return err
	}
	return cache.Remembered(f, s.now().Add(time.Duration(rest)*time.Millisecond))
}

// content is the content that r leads to, whole and checked. The error of a
// spool is no fault of the entry.
func (s *Store) content(ctx context.Context, name string, r *record) (_ cache.Blob, err error) {
	if r.size > maxRatio*int64(s.cfg.MaxEntry) || int64(r.chunks) > int64(s.cfg.MaxEntry)/chunkSize+1 {
		return nil, errTooBig
	}
	out, err := s.spool()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.Close())
		}
	}()
	if r.form == small {
		_, err = out.Write(r.content)
		return out, err
	}
	end := s.now().Add(time.Duration(r.chunks+patience) * s.cfg.Timeout)
	err = unpack(out, r, func(n int) ([]byte, error) {
		wait := min(end.Sub(s.now()), patience*s.cfg.Timeout)
		part, err := s.get(ctx, wait, chunk(name, r.sum, n))
		if part == nil && err == nil {
			err = errGone
		}
		return part, err
	})
	return out, err
}

// Put makes an entry of what fill writes. It opens the entry also when Redis
// does not take it.
func (s *Store) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	out, sum, err := cache.Spooled(ctx, s.spool, fill)
	if err != nil {
		return nil, err
	}
	if err := s.send(ctx, s.name(kind, key), out, sum); err != nil {
		if err != errDown {
			s.log.Debug("an entry is not shared", "kind", kind, "key", key, "error", err)
		}
		s.Forget(ctx, kind, key) // what was there is not this
	}
	return out, nil
}

// send writes the entry that out has.
func (s *Store) send(ctx context.Context, name string, out cache.Spool, sum uint32) error {
	if out.Size() <= smallest {
		b := make([]byte, out.Size())
		if _, err := out.ReadAt(b, 0); err != nil && err != io.EOF {
			return err
		}
		return s.set(ctx, name, (&record{form: small, content: b}).text(name), 0)
	}
	if out.Size() > maxRatio*int64(s.cfg.MaxEntry) {
		return errTooBig
	}
	sent := int64(0)
	n, err := pack(out, func(n int, part string) error {
		if sent += int64(len(part)); sent > int64(s.cfg.MaxEntry) {
			return errTooBig
		}
		return s.set(ctx, chunk(name, sum, n), part, 0)
	})
	if err != nil {
		return err
	}
	return s.set(ctx, name, (&record{form: chunked, size: out.Size(), sum: sum, chunks: n}).text(name), 0)
}

// Remember keeps a fault.
func (s *Store) Remember(ctx context.Context, kind cache.Kind, key cache.Key, f *fault.Error, life time.Duration) {
	if f == nil || f.Kind == fault.Internal || life <= 0 {
		return
	}
	name := s.name(kind, key)
	_ = s.set(ctx, name, (&record{form: failed, fault: f}).text(name), life) // then it is asked for again
}

// Forget drops what the key has. The chunks of an entry are left to be evicted.
func (s *Store) Forget(ctx context.Context, kind cache.Kind, key cache.Key) {
	_, _ = s.link.do(context.WithoutCancel(ctx), s.cfg.Timeout, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Del().Key(s.name(kind, key)).Build())
	}) // what cannot be dropped is found damaged again
}
