//go:build unix

package redis_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/redis"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// Each of these ended the process or took its memory.
var garbage = map[string]string{
	"a large array":             "*2147483647\r\n",
	"a large push":              ">1000000000\r\n",
	"a large map":               "%2147483647\r\n",
	"a large string":            "$9000000000000000000\r\n",
	"a string of gigabytes":     "$2147483647\r\n",
	"a negative length":         "$-99\r\n",
	"a negative count":          "*-2\r\n",
	"a negative map":            "%-1\r\n",
	"deep arrays":               strings.Repeat("*1\r\n", 1<<20),
	"an array of arrays":        strings.Repeat("*65000\r\n", 64),
	"a null that hides a count": "_xx*2147483647\r\n",
	"a string without a length": "$?\r\n;2147483647\r\n",
	"an attribute":              "|1000000000\r\n",
	"answers to no command":     strings.Repeat("+OK\r\n", 100),
	"a push":                    ">3\r\n+unsubscribe\r\n+x\r\n:0\r\n",
}

func TestGarbageInPlaceOfTheFirstAnswerIsAnError(t *testing.T) {
	for name, answer := range garbage {
		t.Run(name, func(t *testing.T) {
			url := "redis://" + trial.NewListener(t, func(c net.Conn) {
				c.Read(make([]byte, 1))
				io.WriteString(c, answer)
				io.Copy(io.Discard, c)
			})
			before := allocated()
			n := openAnyway(t, redis.Config{URL: bin.NewSecret(url)})
			n.log.Await(t, "not RESP")
			if grown := allocated() - before; grown > 64<<20 {
				t.Errorf("%d MB were allocated", grown>>20)
			}
		})
	}
}

func TestGarbageInPlaceOfALaterAnswerIsAMiss(t *testing.T) {
	s := start(t)
	for name, answer := range garbage {
		t.Run(name, func(t *testing.T) {
			var bad atomic.Bool
			url := "redis://" + trial.NewListener(t, func(in net.Conn) {
				out, err := net.Dial("tcp", s.Addr())
				if err != nil {
					return
				}
				defer out.Close()
				go io.Copy(in, out)
				part := make([]byte, 64<<10)
				for {
					n, err := in.Read(part)
					if err != nil {
						return
					}
					if bad.Load() {
						io.WriteString(in, answer)
					} else {
						out.Write(part[:n])
					}
				}
			})
			cfg := patient(s)
			cfg.URL = bin.NewSecret(url)
			n := open(t, cfg)
			cachetest.Put(t, n, cache.Meta, keyA, []byte("x"))
			bad.Store(true)
			waittest.Until(t, "the node backs off", func() bool {
				if cachetest.Get(t, n, cache.Meta, keyA) != nil {
					t.Fatal("an entry was made of garbage")
				}
				return n.log.Count(left) > 0
			})
			bad.Store(false)
			waittest.Until(t, "redis is used again", func() bool { return cachetest.Get(t, n, cache.Meta, keyA) != nil })
		})
	}
}

// allocated is how many bytes this process has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
