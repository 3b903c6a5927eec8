"""The recipes of the kinds of stand-ins, one a file beside the file of world/standins of its name.

They are apart from those so that the catalogue is checked without torch.
"""
