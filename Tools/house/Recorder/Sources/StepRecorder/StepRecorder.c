#define _GNU_SOURCE
#include "StepRecorder.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

static FILE *output;
static char current[32];
static uintptr_t base;

// The program itself is the first image.
static int note_base(struct dl_phdr_info *image, size_t size, void *context) {
  base = image->dlpi_addr;
  return 1;
}

void record_steps(const char *operation, const char *file) {
  dl_iterate_phdr(note_base, NULL);
  output = fopen(file, "a");
  snprintf(current, sizeof current, "%s", operation);
}

void record_nothing(void) {
  if (output) fclose(output);
  output = NULL;
}

// The program's own symbols come before those of its libraries.
int sqlite3_step(void *statement) {
  static int (*step)(void *);
  if (!step) step = (int (*)(void *))dlsym(RTLD_NEXT, "sqlite3_step");
  if (output) {
    void *addresses[128];
    int count = backtrace(addresses, 128);
    fputs(current, output);
    // An address is that of the instruction after the call.
    for (int index = 1; index < count; index++) fprintf(output, " %#lx", (uintptr_t)addresses[index] - base - 1);
    fputc('\n', output);
  }
  return step(statement);
}
