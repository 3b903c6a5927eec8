"""Downloads of files: finding, fetching, unpacking, cutting, counting and verifying them."""
