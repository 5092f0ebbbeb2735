#include "cruntime.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Exported by the Swift runtime; declared here because no public header does.
extern void *swift_tryRetain(void *object);
extern void swift_release(void *object);
extern void _swift_stdlib_immortalize(void *object);
extern void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask);

unsigned char cd_trick_states[CD_TRICKS];

unsigned char cd_set_trick_state(int32_t trick, unsigned char state) {
  if (trick < 0 || trick >= CD_TRICKS) return state;
  unsigned char former = 0;
  bool is_first = __atomic_compare_exchange_n(
    &cd_trick_states[trick], &former, state, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return is_first ? state : former;
}

bool cd_lists(const char *variable, const char *name) {
  const char *list = getenv(variable);
  size_t length = strlen(name);
  while (list && *list) {
    size_t part = strcspn(list, ",");
    if (part == 3 && strncmp(list, "all", 3) == 0) return true;
    if (part == length && strncmp(list, name, length) == 0) return true;
    list += part + (list[part] == ',');
  }
  return false;
}

void cd_report(const char *text) { fprintf(stderr, "%s\n", text); }

void *cd_allocate_zeroed_object(const void *metadata, size_t size) {
  size_t header = 2 * sizeof(void *);
  if (size < header || size > 1 << 20) return NULL;
  // Swift frees objects as malloc has aligned them.
  char *object = swift_allocObject(metadata, size, 15);
  if (object) memset(object + header, 0, size - header);
  return object;
}

void cd_release(void *object) { swift_release(object); }

void *cd_allocate(size_t size) {
  void *memory = malloc(size);
  if (!memory) abort();
  return memory;
}

void *cd_allocate_zeroed(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) abort();
  return memory;
}

void cd_make_immortal(void *object) { _swift_stdlib_immortalize(object); }

bool cd_try_retain(void *object) { return swift_tryRetain(object) != NULL; }

static _Thread_local void *thread_slot;

void **cd_thread_slot(void) { return &thread_slot; }

void cd_read_arguments(va_list list, const char *kinds, size_t count, union cd_argument *arguments) {
  for (size_t i = 0; i < count; i++) {
    switch (kinds[i]) {
    case 'i': arguments[i].integer = va_arg(list, int); break;
    case 'u': arguments[i].integer = va_arg(list, unsigned int); break;
    case 'l': arguments[i].integer = va_arg(list, int64_t); break;
    case 'd': arguments[i].real = va_arg(list, double); break;
    default: arguments[i].pointer = va_arg(list, const void *); break;
    }
  }
}

#if defined(__APPLE__)

// On Apple's platforms the system's own Core Data is used.
void cd_find_classes(const char *name, bool (*body)(const void *, void *), void *context) {}

#else

// The layout of the runtime's list of metadata sections and of type context descriptors (the Swift ABI).
struct section { uintptr_t start, length; };
struct sections {
  uintptr_t version;
  const void *base;
  void *unused[2];
  struct section protocols, conformances, types;
};
extern void swift_enumerateAllMetadataSections(bool (*body)(const struct sections *, void *), void *context);

struct descriptor { uint32_t flags; int32_t parent, name, accessor; };
struct response { const void *metadata; size_t state; };

struct search {
  const char *name;
  bool (*body)(const void *, void *);
  void *context;
};

static const void *relative(const int32_t *field) { return (const char *)field + *field; }

static bool search_section(const struct sections *sections, void *context) {
  const struct search *search = context;
  // A layout that is not the known one has most likely no such section.
  if (!sections || !sections->types.start || sections->types.length % 4 != 0 || sections->types.length > 1 << 26)
    return true;
  const int32_t *records = (const int32_t *)sections->types.start;
  size_t count = sections->types.length / sizeof *records;
  for (size_t i = 0; i < count; i++) {
    // The two low bits say whether the record refers to the descriptor or to a pointer to it.
    int32_t record = records[i] & ~3;
    int kind = records[i] & 3;
    if (kind > 1) continue;
    const void *place = (const char *)&records[i] + record;
    const struct descriptor *type = kind == 0 ? place : *(const struct descriptor *const *)place;
    if (!type || (type->flags & 0x1f) != 16 || type->flags & 0x80) continue;
    if (strcmp(relative(&type->name), search->name) != 0) continue;
    struct response (*accessor)(size_t) = (struct response (*)(size_t))relative(&type->accessor);
    if (!search->body(accessor(0).metadata, search->context)) return false;
  }
  return true;
}

void cd_find_classes(const char *name, bool (*body)(const void *, void *), void *context) {
  struct search search = { name, body, context };
  swift_enumerateAllMetadataSections(search_section, &search);
}

#endif
