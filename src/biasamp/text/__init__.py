"""Labels from text: lists of words, and what a model puts in a blank."""
