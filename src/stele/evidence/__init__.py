"""Claims judged: on the numbers that the papers print, and on our own."""
