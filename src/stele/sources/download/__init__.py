"""Downloads: where files are, fetching, unpacking, cutting, counting and verifying them."""
