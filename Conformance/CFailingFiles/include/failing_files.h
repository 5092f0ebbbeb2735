// Makes chosen calls on files fail, in the program that this is linked into.
//
// The program has functions of the names that the C library gives to these calls, so that those of all libraries come
// here first. That works with ELF and glibc, and not beside a sanitizer, which takes the same calls.
#ifndef FAILING_FILES_H
#define FAILING_FILES_H

#include <stdbool.h>

// Kinds of calls. A call can be of several: one that makes a file is an open, one to write, and one that creates.
enum {
  FF_OPEN = 1,        // open and openat
  FF_OPEN_WRITE = 2,  // those of them that can write or create, and asking for the right to (faccessat)
  FF_CREATE = 4,      // those of them that can create
  FF_WRITE = 8,       // write, writev, pwrite
  FF_SYNC = 16,       // fsync, fdatasync
  FF_TRUNCATE = 32,   // ftruncate
  FF_UNLINK = 64,     // unlink and unlinkat
  FF_RENAME = 128,    // rename and renameat
  FF_MAKE = 256,      // mkdir and link
  FF_READ = 512,      // read and pread
  FF_MAP = 1024,      // mmap of a file
  FF_LOCK = 2048,     // flock, and locks by fcntl
};

// What happens.
enum {
  FF_NOTHING,
  FF_FAIL,    // the call does nothing and fails
  FF_LATE,    // it does its work and then fails
  FF_SHORT,   // a write or read does half of it; other calls do all
  FF_FULL,    // writes beyond `room` bytes in all fail; any other call goes on
  FF_BEFORE,  // the process dies before the call
  FF_AFTER,   // it dies after it
  FF_TORN,    // it dies when a write has done half of it, or before any other call
};

struct ff_fault {
  // What the paths begin with. Descriptors count that were opened there, at any time since the prefix was first said.
  const char *prefix;
  int kinds;          // which calls are counted
  int effect;
  int error;          // the errno of a call that fails
  long first, count;  // the calls it happens to, from 1 on
  long room;
  const char *log;    // a file that gets a line "number call path" a counted call, or NULL
};

struct ff_report {
  long calls;  // how many were counted
  long hits;   // how many of them it has happened to
};

// Whether calls come here at all.
bool ff_works(void);
// From now on descriptors opened under the prefix are known.
void ff_watch(const char *prefix);
void ff_begin(const struct ff_fault *fault);
struct ff_report ff_end(void);
// Writes down from now on what changes under the prefix, as trace.h says; NULL ends it. False where there is no such
// file.
bool ff_trace(const char *path);
// By how many seconds clocks that tell the date are wrong.
void ff_set_clock(long seconds);
// As fork, of which Swift knows nothing. A child must end by _exit.
int ff_fork(void);

#endif
