#include "CXMLParser.h"

#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

// Where in a document a byte is.
enum place { TEXT, OPENING, DECLARATION, TAG, COMMENT, SECTION, INSTRUCTION };
// An attribute has four bytes at least.
enum { MOST_ATTRIBUTES = 1000, SHORT_TAG = 4 * MOST_ATTRIBUTES };

struct cxml_parser {
  cxml_events events;
  void *context;
  const char *root;
  const char *type;
  xmlSAXHandler sax;
  xmlParserCtxtPtr libxml;
  cxml_attribute *attributes;
  int capacity;
  int is_stopped;
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

static void start_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                          int namespace_count, const xmlChar **namespaces, int count, int default_count,
                          const xmlChar **attributes) {
  cxml_parser *parser = context;
  if (parser->is_stopped) return;
  if (count > parser->capacity) {
    cxml_attribute *larger = realloc(parser->attributes, sizeof(cxml_attribute) * (size_t)count);
    if (!larger) return refuse(parser, "has more attributes than there is memory for");
    parser->attributes = larger;
    parser->capacity = count;
  }
  for (int i = 0; i < count; i++) {
    parser->attributes[i].name = (const char *)attributes[i * 5];
    parser->attributes[i].value = (const char *)attributes[i * 5 + 3];
    parser->attributes[i].length = (size_t)(attributes[i * 5 + 4] - attributes[i * 5 + 3]);
  }
  parser->events.start(parser->context, (const char *)name, parser->attributes, count);
}

static void end_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  cxml_parser *parser = context;
  if (!parser->is_stopped) parser->events.end(parser->context, (const char *)name);
}

static void characters(void *context, const xmlChar *bytes, int count) {
  cxml_parser *parser = context;
  if (!parser->is_stopped) parser->events.text(parser->context, (const char *)bytes, count);
}

// Errors are asked for, not printed.
#if LIBXML_VERSION >= 21200
static void no_print(void *context, const xmlError *error) {}
#else
static void no_print(void *context, xmlError *error) {}
#endif

cxml_parser *cxml_make(const cxml_events *events, void *context, const char *root, const char *type) {
  cxml_parser *parser = calloc(1, sizeof *parser);
  if (!parser) return NULL;
  parser->events = *events;
  parser->context = context;
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
  return parser;
}

void cxml_free(cxml_parser *parser) {
  if (parser->libxml) xmlFreeParserCtxt(parser->libxml);
  free(parser->attributes);
  free((char *)parser->root);
  free((char *)parser->type);
  free(parser);
}

// Counts the attributes of elements before libxml2 sees them: it compares each with all others of its element, which takes hours for
// some hundred thousand. Core Data writes five. Gives whether an element has too many.
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
