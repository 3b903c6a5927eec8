"""Readers of Wikimedia's dumps: their files, XML and SQL, and the resolution of link targets to pages."""
