"""The stage `finetuning` trains an encoder on a training set into a dual encoder, by a recipe."""
