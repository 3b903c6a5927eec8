"""Writers of the generated mirror, one dataset family a file.

Each has `write(site, world)`: it puts the family's files at their upstream addresses, in upstream's formats, and counts
what is in them. Sources of the formats stand in each file's docstring.
"""
