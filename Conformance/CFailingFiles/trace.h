// Writes down, in order and with their bytes, the calls that changed a file under FAULT_PREFIX, and what the program
// said on its standard output meanwhile. Scripts/powerloss makes of it what a disk may hold when the power goes.
//
// FAULT_TRACE names the file. A record is a line, then the bytes whose number it ends with, where it has bytes:
//
//   create I PATH, open I PATH, mkdir I PATH, close   I is the inode; open is one of a file that was there
//   write I OFFSET N BYTES durable when it returned where it is `dwrite`, by O_SYNC or O_DSYNC truncate I SIZE sync K
//   I, synced K a sync of a file or folder begins, and has ended well link I PATH, unlink PATH, rename FROM|TO map I a
//   memory map to write through, whose writes nobody sees say N BYTES what the program wrote to its standard output
#include <limits.h>
#include <sys/uio.h>

static int trace_descriptor = -1;
static atomic_long trace_syncs;
// 1 where writes to the descriptor are durable when they return.
static atomic_char is_synchronous[DESCRIPTORS];

static void trace_start(void) {
  const char *path = getenv("FAULT_TRACE");
  if (path) trace_descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static int is_tracing(void) { return trace_descriptor >= 0; }

// One record, in one call, so that those of several threads do not mix.
static void trace_parts(const struct iovec *parts, int count) {
  size_t size = 0;
  for (int part = 0; part < count; part++) size += parts[part].iov_len;
  if (syscall(SYS_writev, trace_descriptor, parts, count) != (ssize_t)size) abort();
}

__attribute__((format(printf, 1, 2))) static void trace(const char *format, ...) {
  char line[2 * PATH_MAX + 64];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  trace_parts(&(struct iovec){line, (size_t)length}, 1);
}

static unsigned long inode_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

// The path of a name in an open folder.
static const char *path_in(int folder, const char *name, char *path) {
  char link[64];
  ssize_t length = 0;
  path[0] = 0;
  if (name[0] != '/' && folder != AT_FDCWD) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) length = 0;
    path[length] = 0;
  }
  snprintf(path + length, (size_t)(PATH_MAX - length), length ? "/%s" : "%s", name);
  return path;
}

static int exists(int folder, const char *name) {
  struct stat status;
  int kept = errno;
  int result = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  errno = kept;
  return result;
}

static void trace_open(int descriptor, int folder, const char *name, int flags, int was_there) {
  char path[PATH_MAX];
  if (!is_tracing() || descriptor < 0) return;
  if (descriptor < DESCRIPTORS) is_synchronous[descriptor] = (flags & (O_SYNC | O_DSYNC)) != 0;
  unsigned long inode = inode_of(descriptor);
  trace("%s %lu %s\n", was_there ? "open" : "create", inode, path_in(folder, name, path));
  if (was_there && flags & O_TRUNC) trace("truncate %lu 0\n", inode);
}

// The written parts end at `end`, which is -1 for the place where the descriptor is now.
static void trace_write(int descriptor, const struct iovec *parts, int count, ssize_t written, off_t end) {
  struct iovec all[IOV_MAX + 1];
  char line[128];
  if (!is_tracing() || written <= 0 || count > IOV_MAX) return;
  if (end < 0) end = lseek(descriptor, 0, SEEK_CUR);
  int synced = descriptor < DESCRIPTORS && is_synchronous[descriptor];
  int length = snprintf(line, sizeof line, "%s %lu %lld %zd\n", synced ? "dwrite" : "write", inode_of(descriptor),
                        (long long)(end - written), written);
  all[0] = (struct iovec){line, (size_t)length};
  int used = 1;
  for (size_t left = (size_t)written; left > 0 && used <= count; used++) {
    all[used] = parts[used - 1];
    if (all[used].iov_len > left) all[used].iov_len = left;
    left -= all[used].iov_len;
  }
  trace_parts(all, used);
}

static void trace_said(const void *bytes, ssize_t size) {
  char line[32];
  if (!is_tracing() || size <= 0) return;
  int length = snprintf(line, sizeof line, "say %zd\n", size);
  trace_parts((struct iovec[]){{line, (size_t)length}, {(void *)bytes, (size_t)size}}, 2);
}

static void trace_truncate(int descriptor, long long size) {
  if (is_tracing()) trace("truncate %lu %lld\n", inode_of(descriptor), size);
}

static long trace_sync(int descriptor) {
  long mine = ++trace_syncs;
  if (is_tracing()) trace("sync %ld %lu\n", mine, inode_of(descriptor));
  return mine;
}

static void trace_synced(long mine) {
  if (is_tracing()) trace("synced %ld\n", mine);
}

static void trace_unlink(int folder, const char *name) {
  char path[PATH_MAX];
  if (is_tracing()) trace("unlink %s\n", path_in(folder, name, path));
}

static void trace_rename(int from_folder, const char *from, int to_folder, const char *to) {
  char old[PATH_MAX], new[PATH_MAX];
  if (is_tracing()) trace("rename %s|%s\n", path_in(from_folder, from, old), path_in(to_folder, to, new));
}

// A new name: of a folder that was made, or of a file that has another.
static void trace_name(const char *call, const char *path) {
  struct stat status;
  if (is_tracing() && lstat(path, &status) == 0) trace("%s %lu %s\n", call, (unsigned long)status.st_ino, path);
}
