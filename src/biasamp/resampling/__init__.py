"""How sure a figure is: resampled bags of records, closed forms, exact tests and q-values."""
