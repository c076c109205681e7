package remote

import (
	"context"
	"log/slog"
	"time"

	"symbolon/internal/metric"
)

const (
	firstPause = 100 * time.Millisecond
	lastPause  = time.Minute
)

// Monitor keeps a tier connected to its server. When the connection is lost, it
// connects again in the background, so that no request waits for that. The
// pauses between the tries double, from a tenth of a second to a minute. It logs
// when the server becomes unavailable and when it is available again.
type Monitor struct {
	Tier string // the label in metrics
	Name string // of the server, in log lines
	Log  *slog.Logger

	// Connect connects to the server and returns the function that disconnects. It
	// returns an error unless the server answers in time.
	Connect func(ctx context.Context) (disconnect func(), err error)

	lost  chan error
	tried chan struct{}
	stop  context.CancelFunc
	ended chan struct{}
}

// Start begins to connect, and waits for the first try at most as long as wait.
func (m *Monitor) Start(wait time.Duration) {
	m.lost, m.tried, m.ended = make(chan error, 1), make(chan struct{}), make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.run(ctx)
	select {
	case <-m.tried:
	case <-time.After(wait):
	}
}

// Stop disconnects and ends the work in the background.
func (m *Monitor) Stop() {
	m.stop()
	<-m.ended
}

// Lost ends the connection, because of err.
func (m *Monitor) Lost(err error) {
	select {
	case m.lost <- err:
	default: // it is ending
	}
}

func (m *Monitor) run(ctx context.Context) {
	defer close(m.ended)
	var warned bool
	for try, pause := 1, firstPause; ; try, pause = try+1, min(2*pause, lastPause) {
		disconnect, err := m.Connect(ctx)
		if try == 1 {
			close(m.tried)
		}
		if err == nil {
			connected := time.Now()
			metric.CacheUp.Set(1, m.Tier)
			if warned {
				m.Log.Info(m.Name + " available again")
				warned = false
			}
			select {
			case err = <-m.lost:
			case <-ctx.Done():
			}
			if time.Since(connected) > 10*pause { // it is connected most of the time
				pause = firstPause
			}
		}
		metric.CacheUp.Set(0, m.Tier)
		if ctx.Err() == nil && !warned {
			m.Log.Warn(m.Name+" unavailable, backing off", "error", err)
			warned = true
		}
		if disconnect != nil {
			disconnect()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}
