"""What a run will cost, from the recipes' arithmetic and the catalogue's figures. Nothing is read but those two."""
