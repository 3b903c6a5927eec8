"""The generated internet: a small world described in invented languages, in the formats of upstream's files."""
