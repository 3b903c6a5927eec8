"""Pretraining objectives, one a file, chosen by name.

An objective module has, beside its recipe (recipes/objectives, the file of the same name, which names its tasks and the
stores they read):

    POOLING                      how its vectors come from token states, None where it makes none
    vectors(recipe)              vectors that share a group's negatives, at most; None where there is no contrast
    CHOICES                      only where there is none and not the vocabulary is chosen from: of how many
    negatives(recipe, vectors)   where there is one: negatives of a query in a group of so many vectors
    batch(flat, vocabulary, recipe, group, rng)
                                 arrays of one group (sampling.Group), whose examples `flat` holds in their order, a
                                 pure function of its arguments; its `vectors` and `duplicates` are counted over the run
    flops(batch, recipe, shape)  operations of one group, forward and backward
    Heads(recipe, config)        what a task adds to the model (heads.ObjectiveHeads): begin(model) once, then
                                 Heads()(model, batch, processes) -> mean loss of the group, which several processes
                                 may share (sharding.py), and after_step(model, process)
    diverged(rows)               only where a run that comes to nothing is a result: why it did, by the log of its
                                 steps, or None. It ends before a step that is not finite, which elsewhere is an error

An objective whose tasks differ in more than their stores has `TASKS`, a module of the above for each. One whose
examples are not taken whole has take(stores, group, recipe, rng), whose result its `batch` gets in place of `flat`.

What objectives on pairs of texts share is in _contrastive.py.
"""
