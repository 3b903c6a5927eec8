"""Pretraining objectives, one a file, chosen by name.

An objective module has, beside its recipe (recipes/objectives, the file of the same name, which names its tasks and the
stores they read):

    POOLING                      how its vectors come from token states, None where it makes none
    examples(recipe)             examples in one group
    vectors(recipe)              vectors that share a group's negatives, at most; None where there is no contrast
    negatives(recipe, vectors)   where there is one: negatives of a query in a group of so many vectors
    batch(flat, vocabulary, recipe, language, rng)
                                 arrays of one group, a pure function of its arguments; its `vectors` and `duplicates`
                                 are counted over the run; language None: the group mixes them
    flops(batch, recipe, shape)  operations of one group, forward and backward
    Heads(recipe, config)        what a task adds to the model (heads.ObjectiveHeads): begin(model) once, then
                                 Heads()(model, batch, processes) -> mean loss of the group, which several processes
                                 may share (sharding.py), and after_step(model, process)

What objectives on pairs of texts share is in _contrastive.py.
"""
