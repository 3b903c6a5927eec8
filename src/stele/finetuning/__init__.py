"""Fine-tuning: an encoder, a training set and a recipe -> a dual encoder."""
