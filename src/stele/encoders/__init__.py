"""Encoders: models, pooling, the EncodingSpec, the tokenizer probe; loading, saving and encoding."""
