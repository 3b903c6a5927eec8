"""The recipes of the pretraining objectives, one a file: what `override` in config.yaml may change.

A file has `Recipe`, PretrainingRecipe with the keys of its objective, its tasks where it has several, and the
arithmetic of a group: `flops(shape, *sizes)`, its operations forward and backward, and `group_sizes(tokens,
sentences)`, the sizes of a group whose texts have such shares of the tokens and sentences that the recipe allows. They
are apart from the objectives so that a recipe is checked, and its cost known, while a run is planned, without torch.
"""
