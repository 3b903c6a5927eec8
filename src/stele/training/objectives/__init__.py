"""Pretraining objectives, one a file, chosen by name.

An objective module has:

    STORE                        the mining method whose examples it reads
    Recipe                       its recipe: PretrainingRecipe with keys of its own
    examples(recipe)             examples in one group
    negatives(recipe)            negatives of a query, None where there is no contrast
    flops(recipe, shape)         operations of one group, forward and backward
    batch(flat, words, recipe, language, rng)    arrays of one group, a pure function of its arguments
    Heads(recipe, config)        what pretraining adds to the model; Heads()(model, batch) -> mean loss of the group
"""
