// Functions of the C library that the toolchain's own module leaves out.
#pragma once
#if __has_include(<sys/xattr.h>)
#include <sys/xattr.h>
#endif
