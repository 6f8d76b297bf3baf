/** What a message advises, in the words of the Python function audit(). */
export const ADVICE = {
  categories: "name all values with biasamp.categorical(..., categories=[...])",
  categorical: "say so with biasamp.categorical(...)",
  bins: "cut numbers into bins with biasamp.binned(column, edges=[...])",
  kinds: "say what they are with biasamp.binary(...) or biasamp.categorical(...), or give lists on both sides",
  wrap: "wrap the column in biasamp.categorical(...)",
  missing: 'missing="drop" leaves such a record out of the pairs concerned, missing="negative" reads it as not having the label.',
  encoding:
    "save it as UTF-8, or read it by the encoding that it has, as pandas.read_csv(..., encoding='cp1252') does, and give the dataframe",
  decimal: "read it with pandas.read_csv(..., sep=';', decimal=',') and give the dataframe",
  separator: "read it with pandas.read_csv(..., sep='...') and give the dataframe",
} as const;
