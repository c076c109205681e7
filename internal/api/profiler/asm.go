package profiler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"symbolon/internal/api"
	"symbolon/internal/format/asm"
	"symbolon/internal/format/disas"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Limits of a disassembly.
const (
	maxCode  = 256 << 10
	costCode = 128 // bytes of memory for a byte of code
)

// asmAnswer is the answer of /asm/v1.
type asmAnswer struct {
	StartAddress string   `json:"startAddress"`
	Size         string   `json:"size"`
	Arch         string   `json:"arch"`
	Syntax       []string `json:"syntax"`
	Instructions [][2]any `json:"instructions"` // offset and text

	branches []branch
}

// branch is an instruction with a target.
type branch struct {
	instruction int
	target      uint64
}

// archs are the instruction sets, as samply names them, with the names of their syntax.
var archs = map[disas.Arch][2]string{
	disas.X8664: {"x86_64", "Intel"}, disas.X86: {"i686", "Intel"}, disas.ARM64: {"aarch64", "ARM"}, disas.A32: {"arm", "ARM"},
}

// asm answers /asm/v1.
func (d *Door) asm(r *http.Request, g *token.Grant, body []byte) (any, error) {
	q, err := decode(body)
	if err != nil {
		return nil, err
	}
	var m ident.Module
	code := ident.ParseCodeID(q.CodeID)
	if q.DebugID != "" || code.IsZero() {
		if m, err = module(q.DebugName, q.DebugID); err != nil {
			return nil, err
		}
	}
	m.CodeFile, m.CodeID = q.Name, code
	start, err := address("startAddress", q.StartAddress)
	if err != nil {
		return nil, err
	}
	size, err := address("size", q.Size)
	if err != nil {
		return nil, err
	}
	found, obj, err := d.program(r.Context(), g, m)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	if m.DebugID.IsZero() { // symbols are found by it
		program := obj.Info().Module
		m.DebugID, m.DebugFile = program.DebugID, cmp.Or(q.DebugName, program.DebugFile, q.Name)
	}
	if q.ContinueUntilFunctionEnd {
		if end, err := d.functionEnd(r.Context(), g, m, start); err != nil {
			return nil, err
		} else if end > start {
			size = max(size, end-start)
		}
	}
	if err := api.Reserve(r, costCode*int64(min(size, maxCode))); err != nil {
		return nil, err
	}
	out, err := d.disassemble(obj, start, min(size, maxCode))
	if err == nil {
		err = d.nameTargets(r.Context(), g, m, out)
	}
	return out, err
}

// functionEnd returns the end of the function at an address, zero if it is unknown.
func (d *Door) functionEnd(ctx context.Context, g *token.Grant, m ident.Module, addr uint64) (uint64, error) {
	res, err := d.lookUp(ctx, g, &symbolicate.Request{Modules: []ident.Module{m}}, addr)
	if err != nil {
		return 0, err
	}
	defer res.Release()
	frames, err := res.Frames(0)
	if err != nil || len(frames) == 0 || frames[len(frames)-1].Size == 0 {
		return 0, err
	}
	f := &frames[len(frames)-1]
	return f.Entry + f.Size, nil
}

// program opens the program of a module.
func (d *Door) program(ctx context.Context, g *token.Grant, m ident.Module) (*locate.Found, *object.Object, error) {
	found, err := d.deps.Code(ctx, g, m)
	if err != nil {
		return nil, nil, missing("the program of the module", err)
	}
	obj, _, err := found.File(ctx)
	if err != nil {
		found.Close()
		return nil, nil, missing("the program of the module", err)
	}
	found.Keep() // for the next function
	return found, obj, nil
}

// disassemble decodes code of a program.
func (d *Door) disassemble(obj *object.Object, start, size uint64) (*asmAnswer, error) {
	set, err := instructionSet(obj, start)
	if err != nil {
		return nil, err
	}
	if set == disas.ARM64 || set == disas.A32 {
		start &^= 3
	}
	code, err := obj.AppendCode(nil, start, size+asm.MaxLen)
	if err != nil {
		return nil, missing("the code at startAddress", err)
	}
	if len(code) == 0 {
		return nil, fmt.Errorf("invalid startAddress %#x: must be in the code of the program", start)
	}
	name := archs[set]
	out := &asmAnswer{StartAddress: fmt.Sprintf("%#x", start), Arch: name[0], Syntax: []string{name[1]}, Instructions: [][2]any{}}
	d.decoding.Lock()
	defer d.decoding.Unlock()
	at := 0
	for uint64(at) < size && at < len(code) {
		i := asm.Decode(set, code[at:], start+uint64(at))
		if i.IsBranch {
			out.branches = append(out.branches, branch{len(out.Instructions), i.Target})
		}
		out.Instructions = append(out.Instructions, [2]any{at, i.Text})
		at += i.Len
	}
	out.Size = fmt.Sprintf("%#x", at)
	return out, nil
}

// instructionSet returns the instruction set of the code at an address.
func instructionSet(obj *object.Object, addr uint64) (disas.Arch, error) {
	arch := obj.Info().Module.Arch
	switch {
	case arch == ident.ArchX86_64 || arch == ident.ArchX86_64h:
		return disas.X8664, nil
	case arch == ident.ArchX86:
		return disas.X86, nil
	case arch >= ident.ArchARM64 && arch <= ident.ArchARM64_32v8:
		return disas.ARM64, nil
	case arch < ident.ArchARM || arch > ident.ArchARMv7em:
		return 0, fmt.Errorf("code for %s cannot be disassembled", arch)
	}
	list, _, err := obj.Stretches()
	if err != nil {
		return 0, missing("the instruction set of the code", err)
	}
	i, ok := slices.BinarySearchFunc(list, addr&^1, func(s object.Stretch, a uint64) int { return cmp.Compare(s.Addr, a) })
	if !ok {
		i--
	}
	if i < 0 || list[i].ISA != object.ISAA32 {
		return 0, errors.New("the code at startAddress is Thumb or data, which cannot be disassembled")
	}
	return disas.A32, nil
}

// nameTargets adds the names of the targets to branches: <name> or <name+0x1f>.
func (d *Door) nameTargets(ctx context.Context, g *token.Grant, m ident.Module, out *asmAnswer) error {
	if len(out.branches) == 0 {
		return nil
	}
	targets := make([]uint64, len(out.branches))
	for i, b := range out.branches {
		targets[i] = b.target
	}
	res, err := d.lookUp(ctx, g, &symbolicate.Request{Modules: []ident.Module{m}, Called: true}, targets...)
	if err != nil {
		return err
	}
	defer res.Release()
	for i, b := range out.branches {
		frames, err := res.Frames(i)
		if err != nil {
			return err
		}
		if len(frames) == 0 {
			continue
		}
		f := &frames[len(frames)-1]
		text := append([]byte(out.Instructions[b.instruction][1].(string)), " <"...)
		text, _ = res.AppendText(text, 0, f.Func)
		if b.target != f.Entry {
			text = strconv.AppendUint(append(text, "+0x"...), b.target-f.Entry, 16)
		}
		out.Instructions[b.instruction][1] = string(append(text, '>'))
	}
	return nil
}
