"""One module per package format; `program` describes what they pack."""
