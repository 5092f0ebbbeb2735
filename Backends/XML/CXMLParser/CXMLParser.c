#include "CXMLParser.h"

#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

// Where in a document a byte is.
enum place { TEXT, OPENING, DECLARATION, TAG, COMMENT, SECTION, INSTRUCTION };
// An attribute has four bytes at least.
enum { MOST_ATTRIBUTES = 1000, SHORT_TAG = 4 * MOST_ATTRIBUTES, MOST_DEPTH = 512, MOST_PROPERTIES = 256 };
// Names that are known: of elements, and of attributes.
enum name { NAME, TYPE, ATTRIBUTE, IDREFS, DESTINATION, ID, OBJECT, NAME_COUNT };
static const char *const names[NAME_COUNT] = {"name", "type", "attribute", "idrefs", "destination", "id", "object"};

struct cxml_parser {
  cxml_events events;
  void *context;
  const char *root;
  const char *type;
  xmlSAXHandler sax;
  xmlParserCtxtPtr libxml;
  int is_stopped;
  int wants_types;
  // How many elements are open.
  int depth;
  // The second of them is an object.
  int is_in_object;
  // The known names as libxml2 keeps them, each once.
  const xmlChar *known[NAME_COUNT];
  // The object that is open. Its texts say, until they are handed over, how far from the start of `bytes` they are,
  // plus one.
  cxml_object object;
  cxml_property properties[MOST_PROPERTIES];
  char *bytes;
  size_t byte_count, byte_capacity;
  // Where the content of the innermost element begins.
  size_t content;
  enum place place;
  // What ends the quotation that the place is in, 0 outside of one.
  char quote;
  char last, before_last;
  int attribute_count;
};

static void refuse(cxml_parser *parser, const char *what) {
  if (parser->is_stopped) return;
  parser->events.refuse(parser->context, what);
  cxml_stop(parser);
}

static void internal_subset(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
  cxml_parser *parser = context;
  if (name && !strcmp((const char *)name, parser->root) && !external && system &&
      !strcmp((const char *)system, parser->type))
    return;
  refuse(parser, "has another document type");
}

static void entity_declaration(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                               const xmlChar *system_id, xmlChar *content) {
  refuse(context, "declares entities");
}

// MARK: Objects

static const cxml_text none = {NULL, 0};

static int add_bytes(cxml_parser *parser, const void *bytes, size_t count) {
  if (!parser->bytes || count > parser->byte_capacity - parser->byte_count) {
    size_t capacity = parser->byte_capacity + count + 4096;
    capacity += parser->byte_capacity;
    char *larger = capacity > count ? realloc(parser->bytes, capacity) : NULL;
    if (!larger) {
      refuse(parser, "has an object that is larger than the memory");
      return 0;
    }
    parser->bytes = larger;
    parser->byte_capacity = capacity;
  }
  memcpy(parser->bytes + parser->byte_count, bytes, count);
  parser->byte_count += count;
  return 1;
}

// What begins at `start` and ends with the last byte.
static cxml_text text_from(const cxml_parser *parser, size_t start) {
  return (cxml_text){(const char *)(start + 1), parser->byte_count - start};
}

// Of two attributes of the same name the first counts.
static void add_value(cxml_parser *parser, cxml_text *text, const xmlChar *value, const xmlChar *end) {
  size_t start = parser->byte_count;
  if (!text->bytes && add_bytes(parser, value, (size_t)(end - value))) *text = text_from(parser, start);
}

static void place(const cxml_parser *parser, cxml_text *text) {
  if (text->bytes) text->bytes = parser->bytes + ((size_t)text->bytes - 1);
}

// Hands over what is there of the object.
static void hand_over(cxml_parser *parser, int is_last) {
  cxml_object *object = &parser->object;
  for (size_t i = 0; i < object->count; i++) {
    cxml_property *property = &parser->properties[i];
    place(parser, &property->name);
    place(parser, &property->idrefs);
    place(parser, &property->type);
    place(parser, &property->destination);
    place(parser, &property->content);
  }
  place(parser, &object->type);
  place(parser, &object->id);
  object->properties = parser->properties;
  object->is_last = is_last;
  parser->events.object(parser->context, object);
  *object = (cxml_object){none, none, NULL, 0, 0, 0};
  parser->byte_count = 0;
}

static enum name known_name(const cxml_parser *parser, const xmlChar *name) {
  for (int i = 0; i < NAME_COUNT; i++)
    if (name == parser->known[i]) return i;
  for (int i = 0; i < NAME_COUNT; i++)
    if (!strcmp((const char *)name, names[i])) return i;
  return NAME_COUNT;
}

static void start_object(cxml_parser *parser, int count, const xmlChar **attributes) {
  parser->is_in_object = 1;
  parser->byte_count = 0;
  parser->object = (cxml_object){none, none, NULL, 0, 1, 0};
  for (int i = 0; i < count; i++, attributes += 5) {
    enum name name = known_name(parser, attributes[0]);
    if (name == TYPE) add_value(parser, &parser->object.type, attributes[3], attributes[4]);
    if (name == ID) add_value(parser, &parser->object.id, attributes[3], attributes[4]);
  }
}

static void start_property(cxml_parser *parser, const xmlChar *element, int count, const xmlChar **attributes) {
  if (parser->object.count == MOST_PROPERTIES) hand_over(parser, 0);
  if (parser->is_stopped) return;
  cxml_property *property = &parser->properties[parser->object.count++];
  *property = (cxml_property){known_name(parser, element) == ATTRIBUTE, none, none, none, none, none, 0};
  for (int i = 0; i < count; i++, attributes += 5) {
    enum name name = known_name(parser, attributes[0]);
    cxml_text *text = name == NAME                                      ? &property->name
                      : name == IDREFS                                  ? &property->idrefs
                      : parser->wants_types && name == TYPE             ? &property->type
                      : parser->wants_types && name == DESTINATION      ? &property->destination
                                                                        : NULL;
    if (text) add_value(parser, text, attributes[3], attributes[4]);
    if (name != NAME && name != IDREFS && name != TYPE && name != DESTINATION) property->has_others = 1;
  }
}

// MARK: Events

static void start_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                          int namespace_count, const xmlChar **namespaces, int count, int default_count,
                          const xmlChar **attributes) {
  cxml_parser *parser = context;
  if (parser->is_stopped) return;
  if (++parser->depth > MOST_DEPTH) {
    parser->events.too_deep(parser->context);
    return cxml_stop(parser);
  }
  if (parser->is_in_object) {
    if (parser->depth == 3) start_property(parser, name, count, attributes);
    parser->content = parser->byte_count;
  } else if (parser->depth == 2 && known_name(parser, name) == OBJECT) {
    start_object(parser, count, attributes);
  } else {
    parser->events.start(parser->context, (const char *)name);
  }
}

static void end_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  cxml_parser *parser = context;
  if (parser->is_stopped) return;
  int depth = parser->depth--;
  if (!parser->is_in_object) return parser->events.end(parser->context, (const char *)name);
  if (depth == 3) {
    parser->properties[parser->object.count - 1].content = text_from(parser, parser->content);
  } else if (depth == 2) {
    parser->is_in_object = 0;
    hand_over(parser, 1);
  }
}

static void characters(void *context, const xmlChar *bytes, int count) {
  cxml_parser *parser = context;
  // Between objects and properties there is white space only.
  if (parser->is_stopped || parser->depth < 3) return;
  if (parser->is_in_object)
    add_bytes(parser, bytes, (size_t)count);
  else
    parser->events.text(parser->context, (const char *)bytes, count);
}

// Errors are asked for, not printed.
#if LIBXML_VERSION >= 21200
static void no_print(void *context, const xmlError *error) {}
#else
static void no_print(void *context, xmlError *error) {}
#endif

cxml_parser *cxml_make(const cxml_events *events, void *context, const char *root, const char *type, int wants_types) {
  cxml_parser *parser = calloc(1, sizeof *parser);
  if (!parser) return NULL;
  parser->events = *events;
  parser->context = context;
  parser->wants_types = wants_types;
  parser->root = strdup(root);
  parser->type = strdup(type);
  parser->sax.initialized = XML_SAX2_MAGIC;
  parser->sax.internalSubset = internal_subset;
  parser->sax.entityDecl = entity_declaration;
  parser->sax.startElementNs = start_element;
  parser->sax.endElementNs = end_element;
  parser->sax.characters = characters;
  parser->sax.cdataBlock = characters;
  parser->sax.serror = (xmlStructuredErrorFunc)no_print;
  parser->libxml = xmlCreatePushParserCtxt(&parser->sax, parser, NULL, 0, NULL);
  if (!parser->libxml || !parser->root || !parser->type) {
    cxml_free(parser);
    return NULL;
  }
  // Large values are no attack; what entities could do is refused.
  xmlCtxtUseOptions(parser->libxml, XML_PARSE_NONET | XML_PARSE_HUGE);
  for (int i = 0; i < NAME_COUNT; i++)
    parser->known[i] = xmlDictLookup(parser->libxml->dict, (const xmlChar *)names[i], -1);
  return parser;
}

void cxml_free(cxml_parser *parser) {
  if (parser->libxml) xmlFreeParserCtxt(parser->libxml);
  free(parser->bytes);
  free((char *)parser->root);
  free((char *)parser->type);
  free(parser);
}

// Counts the attributes of elements before libxml2 sees them: it compares each with all others of its element, which
// takes hours for some hundred thousand. Core Data writes five. Gives whether an element has too many.
static int has_too_many_attributes(cxml_parser *parser, const char *bytes, int count) {
  for (const char *at = bytes, *end = bytes + count; at < end; at++) {
    char byte = *at;
    switch (parser->place) {
    case TEXT:
      at = memchr(at, '<', (size_t)(end - at));
      if (!at) return 0;
      parser->place = OPENING;
      continue;
    case OPENING:
      // In UTF-16 every other byte is zero.
      if (!byte) continue;
      parser->place = byte == '!' ? DECLARATION : byte == '?' ? INSTRUCTION : byte == '>' ? TEXT : TAG;
      if (parser->place == TAG) {
        // No tag has a < in it, so that one which the next follows soon is too short for so many.
        const char *next = memchr(at, '<', (size_t)(end - at < SHORT_TAG ? end - at : SHORT_TAG));
        if (next) {
          at = next;
          parser->place = OPENING;
          continue;
        }
      }
      parser->quote = parser->last = parser->before_last = 0;
      parser->attribute_count = 0;
      continue;
    case DECLARATION:
    case TAG:
      if (!byte) continue;
      if (parser->quote) {
        if (byte == parser->quote) parser->quote = 0;
      } else if (byte == '>') {
        parser->place = TEXT;
      } else if (byte == '"' || byte == '\'') {
        parser->quote = byte;
      } else if (parser->place == DECLARATION && !parser->last && (byte == '-' || byte == '[')) {
        parser->place = byte == '-' ? COMMENT : SECTION;
        byte = 0;
      } else if (byte == '=' && ++parser->attribute_count > MOST_ATTRIBUTES) {
        return 1;
      }
      parser->last = byte;
      continue;
    case COMMENT:
    case SECTION:
    case INSTRUCTION:
      if (!byte) continue;
      if (byte == '>' && (parser->place == INSTRUCTION ? parser->last == '?'
                                                       : parser->last == (parser->place == COMMENT ? '-' : ']') &&
                                                             parser->before_last == parser->last))
        parser->place = TEXT;
      parser->before_last = parser->last;
      parser->last = byte;
    }
  }
  return 0;
}

int cxml_parse(cxml_parser *parser, const char *bytes, int count, int is_last) {
  if (!parser->is_stopped && has_too_many_attributes(parser, bytes, count))
    refuse(parser, "has an element with more than 1000 attributes");
  return parser->is_stopped ? 0 : xmlParseChunk(parser->libxml, bytes, count, is_last);
}

void cxml_stop(cxml_parser *parser) {
  parser->is_stopped = 1;
  xmlStopParser(parser->libxml);
}

const char *cxml_error(const cxml_parser *parser) {
  const xmlError *error = xmlCtxtGetLastError(parser->libxml);
  return error ? error->message : NULL;
}

int cxml_line(const cxml_parser *parser) {
  const xmlError *error = xmlCtxtGetLastError(parser->libxml);
  return error ? error->line : 0;
}
