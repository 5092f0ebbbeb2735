#pragma once
#include <stddef.h>

// libxml2's SAX2 push parser, as far as the store needs it: no tree, no network, no entities but the five of XML.

// Bytes that are valid during the call. NULL where there are none.
typedef struct {
  const char *bytes;
  size_t count;
} cxml_text;

// An element in an object.
typedef struct {
  // It is an <attribute>.
  int is_attribute;
  // Its attributes; type and destination only where they were asked for.
  cxml_text name, idrefs, type, destination;
  cxml_text content;
  // It has an attribute that is none of these.
  int has_others;
} cxml_property;

// An <object> in the root element, or a part of one that has many properties.
typedef struct {
  cxml_text type, id;
  const cxml_property *properties;
  size_t count;
  int is_first;
  int is_last;
} cxml_object;

// Elements and texts outside of objects come one by one, objects as a whole. Text in the root and in its children is
// left out.
typedef struct {
  void (*start)(void *context, const char *name);
  void (*text)(void *context, const char *bytes, int count);
  void (*end)(void *context, const char *name);
  void (*object)(void *context, const cxml_object *object);
  // Elements are nested too deep. Nothing comes after it.
  void (*too_deep)(void *context);
  // The document has something that is refused. Nothing comes after it.
  void (*refuse)(void *context, const char *what);
} cxml_events;

typedef struct cxml_parser cxml_parser;

// A parser for a document whose type, where it says one, must be `root` at the address `type`. NULL without memory.
// `wants_types`: the types of properties are asked for.
cxml_parser *cxml_make(const cxml_events *events, void *context, const char *root, const char *type, int wants_types);
void cxml_free(cxml_parser *parser);
// Takes the next bytes. 0, or an error after which nothing can be parsed.
int cxml_parse(cxml_parser *parser, const char *bytes, int count, int is_last);
// Lets nothing come any more.
void cxml_stop(cxml_parser *parser);
// What was wrong, NULL where nothing was, and the line of it.
const char *cxml_error(const cxml_parser *parser);
int cxml_line(const cxml_parser *parser);
