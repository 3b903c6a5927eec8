"""The recipes of the pretraining objectives, one a file: what `override` in config.yaml may change.

A file has `Recipe`, PretrainingRecipe with the keys of its objective, and its tasks where it has several. They are
apart from the objectives so that a recipe is checked while a run is planned, without torch.
"""
