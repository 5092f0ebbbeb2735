"""Checks the pictures of models that the tool draws, by geometry and contrast of its own."""
