"""Reading dumps: files, XML, SQL, and the titles that links lead to."""
