// Makes chosen calls fail in this program: by failing_files.h, or for a program that others run by its environment.
//
// Every call below on a path that begins with the prefix, or on a descriptor opened there, is one of some kinds, and
// gets the next number where these kinds are counted. In the environment:
//
//   FAULT_PREFIX   what the paths begin with; counted are all calls that can change a file
//   FAULT_MODE what happens at number FAULT_AT and at the FAULT_COUNT - 1 after it: eio, enospc (the call does nothing
//   and fails), late (it does its work and then says EIO), before, after (the process dies before or after it); or
//   swallow: every sync says that it is done, and does nothing, and O_SYNC and O_DSYNC are dropped FAULT_LOG a file
//   that gets one line "number call path" a call FAULT_TRACE a file for all that happens; see trace.h
#define _GNU_SOURCE
#include "include/failing_files.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__linux__) && !defined(HAS_SANITIZER)
#include <features.h>
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024 };
enum { CHANGES = FF_OPEN | FF_WRITE | FF_SYNC | FF_TRUNCATE | FF_UNLINK | FF_RENAME | FF_MAKE };

static char prefix[4096];
static size_t prefix_length;
static struct ff_fault fault;
static atomic_bool is_armed;
static atomic_long number, hits, room;
static int log_descriptor = -1;
static bool swallows;
static atomic_long clock_offset;
// 1 where the descriptor was opened under the prefix.
static atomic_char watched[DESCRIPTORS];

#include "trace.h"

bool ff_works(void) { return true; }

void ff_watch(const char *path) {
  prefix_length = (size_t)snprintf(prefix, sizeof prefix, "%s", path);
  if (prefix_length >= sizeof prefix) prefix_length = 0;
}

static int log_at(const char *path) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void ff_begin(const struct ff_fault *wanted) {
  if (wanted->prefix) ff_watch(wanted->prefix);
  fault = *wanted;
  log_descriptor = wanted->log ? log_at(wanted->log) : -1;
  number = 0;
  hits = 0;
  room = wanted->room;
  is_armed = true;
}

struct ff_report ff_end(void) {
  is_armed = false;
  if (log_descriptor >= 0) syscall(SYS_close, log_descriptor);
  log_descriptor = -1;
  return (struct ff_report){number, hits};
}

void ff_set_clock(long seconds) { clock_offset = seconds; }

bool ff_trace(const char *path) {
  if (trace_descriptor >= 0) syscall(SYS_close, trace_descriptor);
  trace_descriptor = path ? log_at(path) : -1;
  return !path || trace_descriptor >= 0;
}

int ff_fork(void) { return (int)fork(); }

static void start_from_environment(void) {
  const char *mode = getenv("FAULT_MODE"), *text;
  struct ff_fault wanted = {getenv("FAULT_PREFIX"), CHANGES, FF_NOTHING, EIO, -1, 1, 0, getenv("FAULT_LOG")};
  if (!wanted.prefix) return;
  if ((text = getenv("FAULT_AT"))) wanted.first = atol(text);
  if ((text = getenv("FAULT_COUNT"))) wanted.count = atol(text);
  if (mode) {
    swallows = !strcmp(mode, "swallow");
    if (!strcmp(mode, "eio")) wanted.effect = FF_FAIL;
    if (!strcmp(mode, "enospc")) wanted.effect = FF_FAIL, wanted.error = ENOSPC;
    if (!strcmp(mode, "late")) wanted.effect = FF_LATE;
    if (!strcmp(mode, "before")) wanted.effect = FF_BEFORE;
    if (!strcmp(mode, "after")) wanted.effect = FF_AFTER;
  }
  trace_start();
  ff_begin(&wanted);
}

__attribute__((constructor)) static void start(void) { start_from_environment(); }

static int lasting(int flags) { return swallows ? flags & ~(O_SYNC | O_DSYNC) : flags; }

static int is_path(const char *path) { return prefix_length && path && !strncmp(path, prefix, prefix_length); }

static int is_watched(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS && watched[descriptor];
}

static void watch(int descriptor) {
  if (descriptor >= 0 && descriptor < DESCRIPTORS) watched[descriptor] = 1;
}

static void die(void) {
  syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
  for (;;) pause();
}

// Counts a call, and says what shall happen at it; dies at once where it shall. `size` is what a write has to write.
static int next(int kinds, const char *call, const char *path, size_t size) {
  if (!is_armed || !(kinds & fault.kinds)) return FF_NOTHING;
  long mine = ++number;
  if (log_descriptor >= 0) {
    char line[512];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", mine, call, path);
    if (length > (int)sizeof line) length = sizeof line;
    syscall(SYS_write, log_descriptor, line, (size_t)length);
  }
  if (fault.effect == FF_NOTHING || fault.first < 0 || mine < fault.first || mine - fault.first >= fault.count)
    return FF_NOTHING;
  if (fault.effect == FF_FULL) {
    if (!(kinds & FF_WRITE) || (room -= (long)size) >= 0) return FF_NOTHING;
    hits++;
    return FF_FAIL;
  }
  hits++;
  if (fault.effect == FF_BEFORE) die();
  return fault.effect;
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
#define CALL(type, kinds, name, path, size, call, undo)        \
  int happens = next(kinds, name, path, size);                 \
  if (happens == FF_FAIL) { errno = fault.error; return (type)-1; } \
  if (happens == FF_TORN) die();                               \
  type result = call;                                          \
  if (happens == FF_AFTER) die();                              \
  if (happens == FF_LATE && result != (type)-1) { undo; errno = fault.error; return (type)-1; }

// The same of a call that may do a part of what it is asked to.
#define TRANSFER(kinds, name, descriptor, size, call)          \
  int happens = next(kinds, name, path_of(descriptor), size);  \
  if (happens == FF_FAIL) { errno = fault.error; return -1; }  \
  if ((happens == FF_SHORT || happens == FF_TORN) && size > 1) size /= 2; \
  ssize_t result = call;                                       \
  if (happens == FF_AFTER || happens == FF_TORN) die();        \
  if (happens == FF_LATE && result != -1) { errno = fault.error; return -1; }

// The mode of an open, which is there where the file may be made.
#define MODE(flags)                                                            \
  va_list arguments;                                                           \
  va_start(arguments, flags);                                                  \
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
  va_end(arguments)

static int open_kinds(int flags) {
  int kinds = FF_OPEN;
  if ((flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT) kinds |= FF_OPEN_WRITE;
  if (flags & O_CREAT) kinds |= FF_CREATE;
  return kinds;
}

// In the log: how a file is made, when it is.
static const char *open_name(int flags) {
  if (!(flags & O_CREAT)) return "open";
  return flags & O_EXCL ? flags & O_NOFOLLOW ? "create-exclusive-nofollow" : "create-exclusive" : "create";
}

#define OPEN(name)                                                        \
  int name(const char *path, int flags, ...) {                            \
    REAL(int, name, const char *, int, ...);                              \
    MODE(flags);                                                          \
    if (!is_path(path)) return real(path, flags, mode);                   \
    int was_there = exists(AT_FDCWD, path);                               \
    flags = lasting(flags);                                               \
    CALL(int, open_kinds(flags), open_name(flags), path, 0, real(path, flags, mode), close(result))       \
    watch(result);                                                        \
    trace_open(result, AT_FDCWD, path, flags, was_there);                 \
    return result;                                                        \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                      \
  int name(int folder, const char *path, int flags, ...) {                \
    REAL(int, name, int, const char *, int, ...);                         \
    MODE(flags);                                                          \
    if (!is_path(path) && !is_watched(folder)) return real(folder, path, flags, mode); \
    int was_there = exists(folder, path);                                 \
    flags = lasting(flags);                                               \
    CALL(int, open_kinds(flags), open_name(flags), path, 0, real(folder, path, flags, mode), close(result)) \
    watch(result);                                                        \
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
  TRANSFER(FF_WRITE, "write", descriptor, size, real(descriptor, bytes, size))
  trace_write(descriptor, &(struct iovec){(void *)bytes, size}, 1, result, -1);
  return result;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  if (!is_watched(descriptor)) return real(descriptor, parts, count);
  size_t size = 0;
  for (int part = 0; part < count; part++) size += parts[part].iov_len;
  CALL(ssize_t, FF_WRITE, "writev", path_of(descriptor), size, real(descriptor, parts, count), )
  trace_write(descriptor, parts, count, result, -1);
  return result;
}

#define PWRITE(name)                                                                     \
  ssize_t name(int descriptor, const void *bytes, size_t size, off_t offset) {           \
    REAL(ssize_t, name, int, const void *, size_t, off_t);                               \
    if (!is_watched(descriptor)) return real(descriptor, bytes, size, offset);           \
    TRANSFER(FF_WRITE, "pwrite", descriptor, size, real(descriptor, bytes, size, offset)) \
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
    CALL(int, FF_SYNC, #name, path_of(descriptor), 0, real(descriptor), )         \
    if (result == 0) trace_synced(mine);                              \
    return result;                                                    \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name)                                                        \
  int name(int descriptor, off_t size) {                                      \
    REAL(int, name, int, off_t);                                              \
    if (!is_watched(descriptor)) return real(descriptor, size);               \
    CALL(int, FF_TRUNCATE, "ftruncate", path_of(descriptor), 0, real(descriptor, size), )     \
    if (result == 0) trace_truncate(descriptor, size);                        \
    return result;                                                            \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  if (!is_path(path)) return real(path);
  CALL(int, FF_UNLINK, "unlink", path, 0, real(path), )
  if (result == 0) trace_unlink(AT_FDCWD, path);
  return result;
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  if (!is_path(path) && !is_watched(folder)) return real(folder, path, flags);
  CALL(int, FF_UNLINK, "unlink", path, 0, real(folder, path, flags), )
  if (result == 0) trace_unlink(folder, path);
  return result;
}

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  if (!is_path(from) && !is_path(to)) return real(from, to);
  CALL(int, FF_RENAME, "rename", to, 0, real(from, to), )
  if (result == 0) trace_rename(AT_FDCWD, from, AT_FDCWD, to);
  return result;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  REAL(int, renameat, int, const char *, int, const char *);
  if (!is_watched(from_folder) && !is_path(from) && !is_path(to)) return real(from_folder, from, to_folder, to);
  CALL(int, FF_RENAME, "rename", to, 0, real(from_folder, from, to_folder, to), )
  if (result == 0) trace_rename(from_folder, from, to_folder, to);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  if (!is_path(path)) return real(path, mode);
  CALL(int, FF_MAKE, "mkdir", path, 0, real(path, mode), )
  if (result == 0) trace_name("mkdir", path);
  return result;
}

int link(const char *from, const char *to) {
  REAL(int, link, const char *, const char *);
  if (!is_path(from) && !is_path(to)) return real(from, to);
  CALL(int, FF_MAKE, "link", to, 0, real(from, to), )
  if (result == 0) trace_name("link", to);
  return result;
}

// Writes through a map are in no record; that there is one is told.
#define MAP(name)                                                                                      \
  void *name(void *place, size_t size, int protection, int flags, int descriptor, off_t offset) {      \
    REAL(void *, name, void *, size_t, int, int, int, off_t);                                          \
    if (!is_watched(descriptor)) return real(place, size, protection, flags, descriptor, offset);      \
    int writes = protection & PROT_WRITE && flags & MAP_SHARED;                                        \
    CALL(void *, FF_MAP, writes ? "map-to-write" : "map", path_of(descriptor), 0,                      \
         real(place, size, protection, flags, descriptor, offset), munmap(result, size))               \
    if (is_tracing() && writes) trace("map %lu\n", inode_of(descriptor));                              \
    return result;                                                                                     \
  }
MAP(mmap)
MAP(mmap64)

ssize_t read(int descriptor, void *bytes, size_t size) {
  REAL(ssize_t, read, int, void *, size_t);
  if (!is_watched(descriptor)) return real(descriptor, bytes, size);
  TRANSFER(FF_READ, "read", descriptor, size, real(descriptor, bytes, size))
  return result;
}

#define PREAD(name)                                                                        \
  ssize_t name(int descriptor, void *bytes, size_t size, off_t offset) {                   \
    REAL(ssize_t, name, int, void *, size_t, off_t);                                       \
    if (!is_watched(descriptor)) return real(descriptor, bytes, size, offset);             \
    TRANSFER(FF_READ, "pread", descriptor, size, real(descriptor, bytes, size, offset))    \
    return result;                                                                         \
  }
PREAD(pread)
PREAD(pread64)

int flock(int descriptor, int operation) {
  REAL(int, flock, int, int);
  if (!is_watched(descriptor) || operation & LOCK_UN) return real(descriptor, operation);
  CALL(int, FF_LOCK, "flock", path_of(descriptor), 0, real(descriptor, operation), real(descriptor, LOCK_UN))
  return result;
}

#define FCNTL(name)                                                                                        \
  int name(int descriptor, int command, ...) {                                                             \
    REAL(int, name, int, int, ...);                                                                        \
    va_list arguments;                                                                                     \
    va_start(arguments, command);                                                                          \
    void *argument = va_arg(arguments, void *);                                                            \
    va_end(arguments);                                                                                     \
    int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW; \
    if (!locks || !is_watched(descriptor) || ((struct flock *)argument)->l_type == F_UNLCK)                \
      return real(descriptor, command, argument);                                                          \
    CALL(int, FF_LOCK, "fcntl", path_of(descriptor), 0, real(descriptor, command, argument), )             \
    return result;                                                                                         \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

// Asking for the right to write is as good as opening.
int faccessat(int folder, const char *path, int mode, int flags) {
  REAL(int, faccessat, int, const char *, int, int);
  if (!(mode & W_OK) || (!is_path(path) && !is_watched(folder))) return real(folder, path, mode, flags);
  CALL(int, FF_OPEN_WRITE, "access", path, 0, real(folder, path, mode, flags), )
  return result;
}

// Clocks that tell the date.
int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(int, clock_gettime, clockid_t, struct timespec *);
  int result = real(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += clock_offset;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  REAL(int, gettimeofday, struct timeval *, void *);
  int result = real(time, zone);
  if (result == 0) time->tv_sec += clock_offset;
  return result;
}

#else

bool ff_works(void) { return false; }
void ff_watch(const char *prefix) { (void)prefix; }
void ff_begin(const struct ff_fault *fault) { (void)fault; }
struct ff_report ff_end(void) { return (struct ff_report){0, 0}; }
void ff_set_clock(long seconds) { (void)seconds; }
bool ff_trace(const char *path) { return !path; }
int ff_fork(void) { return -1; }

#endif
