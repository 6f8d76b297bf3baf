"""Results for people: terminal, Markdown, notebook, figures, one-file pages and the explorer."""
