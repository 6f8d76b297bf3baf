"""The public functions: labels in, result out."""
