// Package itanium demangles names of the Itanium C++ ABI, which all compilers but
// Microsoft's use: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
//
// A name is read in one pass into a cpp.Tree, which is then written. There is no
// backtracking, with one exception: GCC and clang number the substitutions of
// some unresolved names in different ways, so a name with one that cannot be
// read in clang's way is read once more in GCC's.
package itanium
