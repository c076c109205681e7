//go:build !unix

package disk

func (p *spool) unmap() {}
