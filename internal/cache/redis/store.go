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
	tier         = "redis"
	layout       = "1:"    // version of the keys and their values
	smallest     = 4 << 10 // entries up to this size are stored in their record, uncompressed
	readTimeouts = 4       // times the timeout, for a chunk or an answer
	slack        = 10      // times the timeout, for commands that no request waits for
)

var _ cache.Shared = (*Store)(nil)

// Store is the tier on one Redis server, one Cluster, or a server that Sentinels
// watch. Make it with Open and close it.
type Store struct {
	cfg   Config
	spool func() (cache.Spool, error)
	now   func() time.Time
	log   *slog.Logger
	link  *link
}

// Open returns a Store, which reads entries into spools. It succeeds even if
// Redis is unavailable, which is used as soon as it answers.
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

// advise warns about a server that is not configured as a cache, if the server
// reports its configuration.
func (s *Store) advise(c rueidis.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	set, err := c.Do(ctx, c.B().ConfigGet().Parameter("maxmemory*").Build()).AsStrMap()
	if err != nil {
		s.log.Debug("redis does not report its maxmemory", "error", err)
		return
	}
	switch policy := set["maxmemory-policy"]; {
	case set["maxmemory"] == "0":
		s.log.Warn("redis has no maxmemory and may use all memory of its machine; set maxmemory, and maxmemory-policy allkeys-lru")
	case policy == "noeviction" || strings.HasPrefix(policy, "volatile-"):
		s.log.Warn("redis evicts no tables, so nothing can be shared once it is full; set maxmemory-policy allkeys-lru", "maxmemory-policy", policy)
	}
}

func (s *Store) name(kind cache.Kind, key cache.Key) string {
	return s.cfg.Prefix + layout + string(kind) + ":" + key.String()
}

// chunk returns the key of chunk n of the content with this checksum.
func chunk(name string, sum uint32, n int) string { return fmt.Sprintf("%s:%08x:%d", name, sum, n) }

// get returns a value, or nil if the key does not exist.
func (s *Store) get(ctx context.Context, wait time.Duration, name string) ([]byte, error) {
	r, err := s.link.do(ctx, wait, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Get().Key(name).Build())
	})
	if err != nil || rueidis.IsRedisNil(r.Error()) {
		return nil, err
	}
	return r.AsBytes()
}

// set writes a value, with an expiry unless life is zero. It is not canceled
// once it has begun, because Redis may execute the command in any case.
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

// find does Get. An error that does not expire is the reason of a miss.
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
		s.log.Warn("removing a damaged entry from redis", "kind", kind, "key", key, "error", err)
		s.Forget(ctx, kind, key)
	}
	return nil, err
}

// fault returns a remembered fault with its expiry.
func (s *Store) fault(ctx context.Context, name string, f *fault.Error) error {
	r, err := s.link.do(ctx, s.cfg.Timeout, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Pttl().Key(name).Build())
	})
	if err != nil {
		return err
	}
	rest, err := r.AsInt64()
	if err != nil || rest <= 0 { // it has just expired
		return err
	}
	return cache.Remembered(f, s.now().Add(time.Duration(rest)*time.Millisecond))
}

// content returns the complete and verified content of r. The error of a spool
// does not mean that the entry is damaged.
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
	end := s.now().Add(time.Duration(r.chunks+readTimeouts) * s.cfg.Timeout)
	err = unpack(out, r, func(n int) ([]byte, error) {
		wait := min(end.Sub(s.now()), readTimeouts*s.cfg.Timeout)
		part, err := s.get(ctx, wait, chunk(name, r.sum, n))
		if part == nil && err == nil {
			err = errGone
		}
		return part, err
	})
	return out, err
}

// Put stores the bytes of fill as an entry. It opens the entry even if Redis does
// not store it.
func (s *Store) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	out, sum, err := cache.Spooled(ctx, s.spool, fill)
	if err != nil {
		return nil, err
	}
	if err := s.send(ctx, s.name(kind, key), out, sum); err != nil {
		if err != errDown {
			s.log.Debug("cannot share an entry", "kind", kind, "key", key, "error", err)
		}
		s.Forget(ctx, kind, key) // it may have another entry
	}
	return out, nil
}

// send stores the content of out.
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

// Remember stores a fault.
func (s *Store) Remember(ctx context.Context, kind cache.Kind, key cache.Key, f *fault.Error, life time.Duration) {
	if f == nil || f.Kind == fault.Internal || life <= 0 {
		return
	}
	name := s.name(kind, key)
	_ = s.set(ctx, name, (&record{form: failed, fault: f}).text(name), life) // a fault that is not stored is found again
}

// Forget removes the entry or fault of the key. The chunks of an entry stay until
// they are evicted.
func (s *Store) Forget(ctx context.Context, kind cache.Kind, key cache.Key) {
	_, _ = s.link.do(context.WithoutCancel(ctx), s.cfg.Timeout, func(ctx context.Context, c rueidis.Client) rueidis.RedisResult {
		return c.Do(ctx, c.B().Del().Key(s.name(kind, key)).Build())
	}) // an entry that is not removed is found damaged again
}
