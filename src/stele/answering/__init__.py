"""The stage `answering` fine-tunes an encoder to find answers in paragraphs, and answers a benchmark's questions."""
