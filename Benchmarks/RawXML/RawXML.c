#include "RawXML.h"

#include <libxml/parser.h>
#include <libxml/xmlwriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: Writing

#define X(text) ((const xmlChar *)(text))

static void start_attribute(xmlTextWriterPtr writer, const char *name, const char *type) {
  xmlTextWriterStartElement(writer, X("attribute"));
  xmlTextWriterWriteAttribute(writer, X("name"), X(name));
  xmlTextWriterWriteAttribute(writer, X("type"), X(type));
}

static void write_attribute(xmlTextWriterPtr writer, const char *name, const char *type, const char *text) {
  start_attribute(writer, name, type);
  xmlTextWriterWriteString(writer, X(text));
  xmlTextWriterFullEndElement(writer);
}

static void start_relationship(xmlTextWriterPtr writer, const char *name, const char *type, const char *destination) {
  xmlTextWriterStartElement(writer, X("relationship"));
  xmlTextWriterWriteAttribute(writer, X("name"), X(name));
  xmlTextWriterWriteAttribute(writer, X("type"), X(type));
  xmlTextWriterWriteAttribute(writer, X("destination"), X(destination));
}

static void start_object(xmlTextWriterPtr writer, const char *type, int64_t key) {
  char text[32];
  snprintf(text, sizeof text, "z%lld", (long long)key);
  xmlTextWriterStartElement(writer, X("object"));
  xmlTextWriterWriteAttribute(writer, X("type"), X(type));
  xmlTextWriterWriteAttribute(writer, X("id"), X(text));
}

static void write_keys(xmlTextWriterPtr writer, const char *keys) {
  if (*keys) xmlTextWriterWriteAttribute(writer, X("idrefs"), X(keys));
  xmlTextWriterFullEndElement(writer);
}

static void write_employee(xmlTextWriterPtr writer, const raw_xml_employee *employee) {
  char text[64];
  start_object(writer, "EMPLOYEE", employee->key);
  snprintf(text, sizeof text, "%d", employee->active);
  write_attribute(writer, "active", "bool", text);
  snprintf(text, sizeof text, "%d", employee->age);
  write_attribute(writer, "age", "int16", text);
  start_attribute(writer, "blob", "binary");
  xmlTextWriterWriteBase64(writer, (const char *)employee->blob, 0, employee->blob_count);
  xmlTextWriterFullEndElement(writer);
  write_attribute(writer, "email", "string", employee->email);
  snprintf(text, sizeof text, "%.20f", employee->hire_date);
  write_attribute(writer, "hiredate", "date", text);
  write_attribute(writer, "name", "string", employee->name);
  snprintf(text, sizeof text, "%.17g", employee->salary);
  write_attribute(writer, "salary", "double", text);
  const uint8_t *u = employee->uuid;
  snprintf(text, sizeof text, "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X", u[0], u[1], u[2], u[3],
           u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  write_attribute(writer, "uuid", "uuid", text);
  start_relationship(writer, "department", "0/1", "DEPARTMENT");
  snprintf(text, sizeof text, "z%lld", (long long)employee->department);
  write_keys(writer, text);
  start_relationship(writer, "tags", "0/0", "TAG");
  snprintf(text, sizeof text, "z%lld z%lld", (long long)employee->tags[0], (long long)employee->tags[1]);
  write_keys(writer, text);
  xmlTextWriterFullEndElement(writer);
}

// An owner's list of employees, to be written as one text.
struct list {
  char *text;
  size_t count, capacity;
};

static void append(struct list *list, int64_t key) {
  if (list->count + 32 > list->capacity) {
    list->capacity = list->capacity * 2 + 1024;
    list->text = realloc(list->text, list->capacity);
  }
  list->count += (size_t)sprintf(list->text + list->count, "%sz%lld", list->count ? " " : "", (long long)key);
}

static void write_owner(xmlTextWriterPtr writer, const char *type, const char *name, int64_t key, struct list *list) {
  start_object(writer, type, key);
  write_attribute(writer, "name", "string", name);
  start_relationship(writer, "employees", "0/0", "EMPLOYEE");
  write_keys(writer, list->text ? list->text : "");
  xmlTextWriterFullEndElement(writer);
  free(list->text);
}

int raw_xml_write(const raw_xml_graph *graph, int file) {
  xmlOutputBufferPtr output = xmlOutputBufferCreateFd(file, NULL);
  xmlTextWriterPtr writer = output ? xmlNewTextWriter(output) : NULL;
  struct list *departments = calloc((size_t)graph->department_count, sizeof *departments);
  struct list *tags = calloc((size_t)graph->tag_count, sizeof *tags);
  if (!writer || !departments || !tags) return 1;
  xmlTextWriterSetIndent(writer, 1);
  xmlTextWriterSetIndentString(writer, X("    "));
  xmlTextWriterStartDocument(writer, NULL, NULL, "yes");
  xmlTextWriterStartElement(writer, X("database"));
  for (size_t i = 0; i < graph->employee_count; i++) {
    const raw_xml_employee *employee = &graph->employees[i];
    write_employee(writer, employee);
    append(&departments[employee->department - graph->first_department], employee->key);
    for (int n = 0; n < 2; n++) append(&tags[employee->tags[n] - graph->first_tag], employee->key);
  }
  char name[32];
  for (int i = 0; i < graph->department_count; i++) {
    snprintf(name, sizeof name, "Department %d", i + 1);
    write_owner(writer, "DEPARTMENT", name, graph->first_department + i, &departments[i]);
  }
  for (int i = 0; i < graph->tag_count; i++) {
    snprintf(name, sizeof name, "tag%d", i + 1);
    write_owner(writer, "TAG", name, graph->first_tag + i, &tags[i]);
  }
  int result = xmlTextWriterEndDocument(writer);
  xmlFreeTextWriter(writer);
  free(departments);
  free(tags);
  return result < 0;
}

// MARK: Reading

static void count_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces_count,
                        const xmlChar **namespaces, int count, int defaults, const xmlChar **attributes) {
  if (!strcmp((const char *)name, "object")) ((raw_xml_counts *)context)->objects++;
}

static void count_text(void *context, const xmlChar *bytes, int count) {
  ((raw_xml_counts *)context)->text += (size_t)count;
}

static void count_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {}

static int parse(xmlSAXHandler *sax, void *context, const char *bytes, size_t count) {
  sax->initialized = XML_SAX2_MAGIC;
  xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(sax, context, NULL, 0, NULL);
  if (!parser) return 1;
  xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_HUGE);
  int result = 0;
  for (size_t start = 0; start < count && !result; start += 1 << 16) {
    size_t part = count - start < 1 << 16 ? count - start : 1 << 16;
    result = xmlParseChunk(parser, bytes + start, (int)part, start + part == count);
  }
  xmlFreeParserCtxt(parser);
  return result;
}

int raw_xml_parse(const char *bytes, size_t count, raw_xml_counts *counts) {
  xmlSAXHandler sax = {.startElementNs = count_start, .endElementNs = count_end, .characters = count_text};
  return parse(&sax, counts, bytes, count);
}

struct sums {
  void *context;
  void (*employee)(void *, int64_t, double);
  int64_t key;
  int is_employee;
  double sum;
  char name[16], text[256];
  size_t count;
};

static void sum_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces_count,
                      const xmlChar **namespaces, int count, int defaults, const xmlChar **attributes) {
  struct sums *sums = context;
  sums->count = 0;
  for (int i = 0; i < count; i++) {
    const char *key = (const char *)attributes[i * 5], *value = (const char *)attributes[i * 5 + 3];
    size_t length = (size_t)(attributes[i * 5 + 4] - attributes[i * 5 + 3]);
    if (!strcmp((const char *)name, "object")) {
      if (!strcmp(key, "type")) sums->is_employee = length == 8 && !strncmp(value, "EMPLOYEE", 8);
      if (!strcmp(key, "id")) sums->key = strtoll(value + 1, NULL, 10);
    } else if (!strcmp(key, "name")) {
      snprintf(sums->name, sizeof sums->name, "%.*s", (int)length, value);
    } else if (!strcmp(key, "idrefs") && !strcmp(sums->name, "department")) {
      sums->sum += 1;
    }
  }
}

static void sum_text(void *context, const xmlChar *bytes, int count) {
  struct sums *sums = context;
  for (int i = 0; i < count && sums->count + 1 < sizeof sums->text; i++) sums->text[sums->count++] = (char)bytes[i];
}

static void sum_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  struct sums *sums = context;
  sums->text[sums->count] = 0;
  if (!strcmp((const char *)name, "object")) {
    if (sums->is_employee) sums->employee(sums->context, sums->key, sums->sum);
    sums->sum = 0;
  } else if (!strcmp((const char *)name, "attribute")) {
    if (!strcmp(sums->name, "name") || !strcmp(sums->name, "email")) {
      sums->sum += (double)sums->count;
    } else if (!strcmp(sums->name, "uuid")) {
      sums->text[2] = 0;
      sums->sum += (double)strtol(sums->text, NULL, 16);
    } else if (!strcmp(sums->name, "blob")) {
      size_t digits = 0;
      for (size_t i = 0; i < sums->count; i++) digits += !strchr("= \r\n\t", sums->text[i]);
      sums->sum += (double)(digits * 3 / 4);
    } else {
      sums->sum += strtod(sums->text, NULL);
    }
  }
}

int raw_xml_sums(const char *bytes, size_t count, void *context, void (*employee)(void *, int64_t, double)) {
  xmlSAXHandler sax = {.startElementNs = sum_start, .endElementNs = sum_end, .characters = sum_text};
  struct sums sums = {.context = context, .employee = employee};
  return parse(&sax, &sums, bytes, count);
}
