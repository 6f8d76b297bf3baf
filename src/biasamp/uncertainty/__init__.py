"""How sure a figure is: resampling on counts, closed forms, and the certainty of signs."""
