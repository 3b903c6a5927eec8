"""Pretraining objectives, one a file, chosen by name.

An objective module has, beside its recipe (training/recipes, the file of the same name, which names its tasks and the
stores they read):

    POOLING                      how its vectors come from token states, None where it makes none
    examples(recipe)             examples in one group
    negatives(recipe)            negatives of a query, None where there is no contrast
    vectors(recipe)              where there is one: vectors that share a group's negatives, at most
    batch(flat, words, recipe, language, rng)    arrays of one group, a pure function of its arguments; its `vectors`
                                 and `duplicates` are counted over the run; language None: the group mixes them
    flops(batch, recipe, shape)  operations of one group, forward and backward
    Heads(recipe, config)        what a task adds to the model (heads.ObjectiveHeads): begin(model) once, then
                                 Heads()(model, batch, team) -> mean loss of the group, which a team of processes may
                                 share (division.py), and after_step(model, where)
"""
