// Makes chosen calls fail that change files, for a program that has this library preloaded.
//
// Every call below on a path that begins with FAULT_PREFIX, or on a descriptor opened there, gets the next number of one
// count for the whole process. What happens at number FAULT_AT, and at the FAULT_COUNT - 1 after it, says FAULT_MODE:
//
//   eio, enospc    the call does nothing and fails
//   late           the call does its work and then says EIO
//   before, after  the process dies before or after the call
//   swallow        every sync says that it is done, and does nothing; O_SYNC and O_DSYNC are dropped
//
// FAULT_LOG names a file that gets one line "number call path" a call. Reads and memory maps are not counted.
// FAULT_TRACE names a file for all that happens; see trace.h.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum fault { NONE, FAIL, LATE, BEFORE, AFTER };
enum { DESCRIPTORS = 1024 };

static atomic_long number;
static long first = -1, count = 1;
static enum fault fault;
static int fault_errno = EIO;
static const char *prefix;
static size_t prefix_length;
static int log_descriptor = -1;
static int swallows;
// 1 where the descriptor was opened under the prefix.
static atomic_char watched[DESCRIPTORS];

#include "trace.h"

__attribute__((constructor)) static void start(void) {
  const char *mode = getenv("FAULT_MODE"), *text;
  prefix = getenv("FAULT_PREFIX");
  prefix_length = prefix ? strlen(prefix) : 0;
  if ((text = getenv("FAULT_AT"))) first = atol(text);
  if ((text = getenv("FAULT_COUNT"))) count = atol(text);
  if ((text = getenv("FAULT_LOG")))
    log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND, 0600);
  trace_start();
  if (!mode) return;
  swallows = !strcmp(mode, "swallow");
  if (!strcmp(mode, "eio")) fault = FAIL;
  if (!strcmp(mode, "enospc")) fault = FAIL, fault_errno = ENOSPC;
  if (!strcmp(mode, "late")) fault = LATE;
  if (!strcmp(mode, "before")) fault = BEFORE;
  if (!strcmp(mode, "after")) fault = AFTER;
}

static int lasting(int flags) { return swallows ? flags & ~(O_SYNC | O_DSYNC) : flags; }

static int is_path(const char *path) { return prefix_length && path && !strncmp(path, prefix, prefix_length); }

static int is_watched(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS && watched[descriptor];
}

static void die(void) {
  syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
  for (;;) pause();
}

// Counts a call and says what shall happen at it; dies at once where it shall.
static enum fault next(const char *call, const char *path) {
  long mine = ++number;
  if (log_descriptor >= 0) {
    char line[512];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", mine, call, path);
    if (length > (int)sizeof line) length = sizeof line;
    syscall(SYS_write, log_descriptor, line, (size_t)length);
  }
  if (first < 0 || mine < first || mine >= first + count) return NONE;
  if (fault == BEFORE) die();
  return fault;
}

static const char *path_of(int descriptor) {
  static _Thread_local char path[256];
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = log_descriptor < 0 ? -1 : readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  return path;
}

#define REAL(type, name, ...)                     \
  static type (*real)(__VA_ARGS__);               \
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

// The call itself, or its failure. `undo` takes back what a late failure must not leave in this process.
#define CALL(type, name, path, call, undo)        \
  enum fault happens = next(name, path);          \
  if (happens == FAIL) { errno = fault_errno; return -1; } \
  type result = call;                             \
  if (happens == AFTER) die();                    \
  if (happens == LATE && result != -1) { undo; errno = EIO; return -1; }

#define OPEN(name)                                                        \
  int name(const char *path, int flags, ...) {                            \
    REAL(int, name, const char *, int, ...);                              \
    va_list arguments;                                                    \
    va_start(arguments, flags);                                           \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments);                                                    \
    if (!is_path(path)) return real(path, flags, mode);                   \
    int was_there = exists(AT_FDCWD, path);                               \
    flags = lasting(flags);                                               \
    CALL(int, "open", path, real(path, flags, mode), close(result))       \
    if (result >= 0 && result < DESCRIPTORS) watched[result] = 1;         \
    trace_open(result, AT_FDCWD, path, flags, was_there);                 \
    return result;                                                        \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                      \
  int name(int folder, const char *path, int flags, ...) {                \
    REAL(int, name, int, const char *, int, ...);                         \
    va_list arguments;                                                    \
    va_start(arguments, flags);                                           \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments);                                                    \
    if (!is_path(path) && !is_watched(folder)) return real(folder, path, flags, mode); \
    int was_there = exists(folder, path);                                 \
    flags = lasting(flags);                                               \
    CALL(int, "openat", path, real(folder, path, flags, mode), close(result)) \
    if (result >= 0 && result < DESCRIPTORS) watched[result] = 1;         \
    trace_open(result, folder, path, flags, was_there);                   \
    return result;                                                        \
  }
OPENAT(openat)
OPENAT(openat64)

int close(int descriptor) {
  REAL(int, close, int);
  if (descriptor >= 0 && descriptor < DESCRIPTORS) watched[descriptor] = 0;
  return real(descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  REAL(ssize_t, write, int, const void *, size_t);
  if (!is_watched(descriptor)) {
    ssize_t result = real(descriptor, bytes, size);
    if (descriptor == STDOUT_FILENO) trace_said(bytes, result);
    return result;
  }
  CALL(ssize_t, "write", path_of(descriptor), real(descriptor, bytes, size), )
  trace_write(descriptor, &(struct iovec){(void *)bytes, size}, 1, result, -1);
  return result;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  if (!is_watched(descriptor)) return real(descriptor, parts, count);
  CALL(ssize_t, "writev", path_of(descriptor), real(descriptor, parts, count), )
  trace_write(descriptor, parts, count, result, -1);
  return result;
}

#define PWRITE(name)                                                                     \
  ssize_t name(int descriptor, const void *bytes, size_t size, off_t offset) {           \
    REAL(ssize_t, name, int, const void *, size_t, off_t);                               \
    if (!is_watched(descriptor)) return real(descriptor, bytes, size, offset);           \
    CALL(ssize_t, "pwrite", path_of(descriptor), real(descriptor, bytes, size, offset), ) \
    trace_write(descriptor, &(struct iovec){(void *)bytes, size}, 1, result, offset + result); \
    return result;                                                                       \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define SYNC(name)                                                    \
  int name(int descriptor) {                                          \
    REAL(int, name, int);                                             \
    if (!is_watched(descriptor)) return real(descriptor);             \
    if (swallows) return 0;                                           \
    long mine = trace_sync(descriptor);                               \
    CALL(int, #name, path_of(descriptor), real(descriptor), )         \
    if (result == 0) trace_synced(mine);                              \
    return result;                                                    \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name)                                                        \
  int name(int descriptor, off_t size) {                                      \
    REAL(int, name, int, off_t);                                              \
    if (!is_watched(descriptor)) return real(descriptor, size);               \
    CALL(int, "ftruncate", path_of(descriptor), real(descriptor, size), )     \
    if (result == 0) trace_truncate(descriptor, size);                        \
    return result;                                                            \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  if (!is_path(path)) return real(path);
  CALL(int, "unlink", path, real(path), )
  if (result == 0) trace_unlink(AT_FDCWD, path);
  return result;
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  if (!is_path(path) && !is_watched(folder)) return real(folder, path, flags);
  CALL(int, "unlink", path, real(folder, path, flags), )
  if (result == 0) trace_unlink(folder, path);
  return result;
}

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  if (!is_path(from) && !is_path(to)) return real(from, to);
  CALL(int, "rename", to, real(from, to), )
  if (result == 0) trace_rename(AT_FDCWD, from, AT_FDCWD, to);
  return result;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  REAL(int, renameat, int, const char *, int, const char *);
  if (!is_watched(from_folder) && !is_path(from) && !is_path(to)) return real(from_folder, from, to_folder, to);
  CALL(int, "rename", to, real(from_folder, from, to_folder, to), )
  if (result == 0) trace_rename(from_folder, from, to_folder, to);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  if (!is_path(path)) return real(path, mode);
  CALL(int, "mkdir", path, real(path, mode), )
  if (result == 0) trace_name("mkdir", path);
  return result;
}

int link(const char *from, const char *to) {
  REAL(int, link, const char *, const char *);
  if (!is_path(from) && !is_path(to)) return real(from, to);
  CALL(int, "link", to, real(from, to), )
  if (result == 0) trace_name("link", to);
  return result;
}

// Not counted, but told: writes through a map are in no record.
#define MAP(name)                                                                                      \
  void *name(void *place, size_t size, int protection, int flags, int descriptor, off_t offset) {      \
    REAL(void *, name, void *, size_t, int, int, int, off_t);                                          \
    void *result = real(place, size, protection, flags, descriptor, offset);                           \
    if (is_tracing() && is_watched(descriptor) && protection & PROT_WRITE && flags & MAP_SHARED)       \
      trace("map %lu\n", inode_of(descriptor));                                                        \
    return result;                                                                                     \
  }
MAP(mmap)
MAP(mmap64)
