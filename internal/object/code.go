package object

// AppendCode appends what the file has of size bytes of code at an address. It
// is less where the code ends, and nothing where there is none.
func (o *Object) AppendCode(dst []byte, addr, size uint64) (out []byte, err error) {
	g, ok := o.view.(*image)
	if !ok || g.codeAt == nil {
		return dst, nil
	}
	defer unfault(&err)()
	return append(dst, g.codeAt(addr+g.bases[0], size)...), nil
}
