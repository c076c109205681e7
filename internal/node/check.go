package node

import (
	"fmt"
	"log/slog"
	"time"

	"symbolon/internal/config"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

// CheckSources opens all sources that are valid.
func CheckSources(cfg *config.Config, log *slog.Logger) (errs []error) {
	n := &Node{log: log, network: cfg.Network}
	defer n.Close()
	var err error
	if n.client, err = web.NewClient(cfg.Network, time.Now, log); err != nil {
		return nil // network is not valid
	}
	one := *cfg
	for i, c := range cfg.Sources {
		if len(c.Mistakes()) > 0 {
			continue
		}
		one.Sources = []source.Config{c}
		if err := n.openSources(&one, nil); err != nil {
			errs = append(errs, fmt.Errorf("sources[%d]: %w", i, err))
		}
	}
	return errs
}
