"""The stage `answering`: an encoder learns to find answers in paragraphs, and answers a benchmark's questions."""
