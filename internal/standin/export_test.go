package standin

const (
	MaxNesting = maxNesting
	MaxOpen    = maxOpen
)

var (
	LastPart     = lastPart
	LLVMSpelling = llvmSpelling
	PlainC       = plainC
	Words        = words

	WithoutParameters = withoutParameters
)

func Expand(args []string) []string { return expand(args, maxNesting) }

type Library = library

func (l *library) Open(name, arch string) *program { return l.open(name, arch) }
func (l *library) Len() int                        { return len(l.files) }
