#pragma once
#include <stddef.h>

// libxml2's SAX2 push parser, as far as the store needs it: no tree, no network, no entities but the five of XML.

typedef struct {
  const char *name;
  const char *value;
  size_t length;
} cxml_attribute;

typedef struct {
  void (*start)(void *context, const char *name, const cxml_attribute *attributes, int count);
  void (*text)(void *context, const char *bytes, int count);
  void (*end)(void *context, const char *name);
  // The document has something that is refused. Nothing comes after it.
  void (*refuse)(void *context, const char *what);
} cxml_events;

typedef struct cxml_parser cxml_parser;

// A parser for a document whose type, where it says one, must be `root` at the address `type`. NULL without memory.
cxml_parser *cxml_make(const cxml_events *events, void *context, const char *root, const char *type);
void cxml_free(cxml_parser *parser);
// Takes the next bytes. 0, or an error after which nothing can be parsed.
int cxml_parse(cxml_parser *parser, const char *bytes, int count, int is_last);
// Lets nothing come any more.
void cxml_stop(cxml_parser *parser);
// What was wrong, NULL where nothing was, and the line of it.
const char *cxml_error(const cxml_parser *parser);
int cxml_line(const cxml_parser *parser);
