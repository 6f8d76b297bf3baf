"""Arrays, frames and files as named labels of records. All validation of user input happens here, once."""

from .argument_columns import read_columns
from .arguments import refuse_missing, same_length, weights_of
from .binning import binned
from .columns import (
    Column,
    Columns,
    Declared,
    IndexMatrix,
    NumberMatrix,
    binary,
    categorical,
    check_columns,
    continuous,
)
from .keys import record_keys
from .label import Codes, Dense, Label, Sparse, Variable, canonical, category_order, printable
from .label_rules import column_codes, label_set
from .labelset import Evaluation, LabelSet, align, join

__all__ = [
    "Codes",
    "Column",
    "Columns",
    "Declared",
    "Dense",
    "Evaluation",
    "IndexMatrix",
    "Label",
    "LabelSet",
    "NumberMatrix",
    "Sparse",
    "Variable",
    "align",
    "binary",
    "binned",
    "canonical",
    "categorical",
    "category_order",
    "check_columns",
    "column_codes",
    "continuous",
    "join",
    "label_set",
    "printable",
    "read_columns",
    "record_keys",
    "refuse_missing",
    "same_length",
    "weights_of",
]
