#ifndef RAW_XML_H
#define RAW_XML_H
#include <stddef.h>
#include <stdint.h>

/// An employee as a program would hand it to libxml2.
typedef struct {
  int64_t key, department, tags[2];
  const char *name, *email;
  int age, active;
  double salary, hire_date;
  const uint8_t *uuid, *blob;
  int blob_count;
} raw_xml_employee;

/// The objects of one document; employees are in key order and come before the departments, those before the tags.
typedef struct {
  const raw_xml_employee *employees;
  size_t employee_count;
  int64_t first_department, first_tag;
  int department_count, tag_count;
} raw_xml_graph;

/// Writes the document that the XML store writes, but for its metadata, with libxml2's xmlTextWriter. 0 where that
/// worked.
int raw_xml_write(const raw_xml_graph *graph, int file);

/// What a pass over a document has seen.
typedef struct {
  size_t objects;
  /// Bytes of text between tags.
  size_t text;
} raw_xml_counts;

/// Parses a document with libxml2's SAX2 interface, and keeps nothing but the counts. 0 where it is well-formed.
int raw_xml_parse(const char *bytes, size_t count, raw_xml_counts *counts);

/// Parses a document and calls `employee` with each employee's key and the sum over its properties. 0 where it is
/// well-formed.
int raw_xml_sums(const char *bytes, size_t count, void *context, void (*employee)(void *context, int64_t key, double sum));

#endif
