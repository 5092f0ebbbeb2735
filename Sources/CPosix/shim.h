// Functions of the C library that the toolchain's own module leaves out.
#pragma once
#if __has_include(<sys/xattr.h>)
#include <sys/xattr.h>
#endif
#include <stdint.h>

// Reads only the device number and the file number of the file at a path; symbolic links are not followed. Returns 0,
// or -1 with errno.
//
// It does not use stat(), because Linux records the next change of a file with a time in nanoseconds if the time was
// read since the last change. A write then also changes the time, which must be written to the disk when the file is
// synced.
#if defined(__linux__) && __has_include(<linux/stat.h>)
#include <linux/stat.h>
#include <sys/syscall.h>
// The headers that declare these also declare struct stat, which Swift would then import as part of this module.
long syscall(long number, ...);
enum { cposix_at_fdcwd = -100, cposix_at_symlink_nofollow = 0x100 };
static inline int cposix_identity(const char *path, uint64_t *device, uint64_t *inode) {
  struct statx status;
  if (syscall(SYS_statx, cposix_at_fdcwd, path, cposix_at_symlink_nofollow, STATX_INO, &status) != 0) return -1;
  // The device number in the form of stat().
  uint64_t major = status.stx_dev_major, minor = status.stx_dev_minor;
  *device = (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffull) << 12 | (major & ~0xfffull) << 32;
  *inode = status.stx_ino;
  return 0;
}
#else
#include <sys/stat.h>
static inline int cposix_identity(const char *path, uint64_t *device, uint64_t *inode) {
  struct stat status;
  if (lstat(path, &status) != 0) return -1;
  *device = (uint64_t)status.st_dev;
  *inode = (uint64_t)status.st_ino;
  return 0;
}
#endif
