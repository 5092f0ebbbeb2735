"""Compiles the generated classes of all corpus models, and exercises each property."""
