"""The generated internet: a small world told in invented languages, in the formats of upstream's files."""
