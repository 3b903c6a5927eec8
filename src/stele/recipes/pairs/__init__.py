"""The keys of mining methods, one a file of the same name as the method's in pairs/methods."""
