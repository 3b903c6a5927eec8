"""Section pairs: sections of one entity's pages in two languages whose headings mean the same (Yu et al., section 4.1).

What training reads of a part ("de-en"; `training/section_store.py` has the arrays and the class `SectionStore`):

    store.pairs       int64 [pairs, 2]: numbers of two matched sections, column 0 of the first language (side 0, "de"),
                      column 1 of the second (side 1, "en"); len(store) is how many pairs there are: what a sampler draws
    store.sections    a `Store` of all sections of all pages that have a pair: store.sections[number] is the list of a
                      section's sentences, uint32 token ids without special tokens, in reading order, uncut
    store.of_page(numbers)             (begin, end) of the numbers of the page's sections: all but the section itself
                      are its hard negatives, T = end - begin - 1 (as the released code counts them)
    store.of_language(side)            (begin, end) of the numbers of a language's sections: the random negatives
    store.sentence_counts(numbers)     int64 [n]
    store.sentences(numbers, places)   Flat: one sentence of each section (a query)
    store.documents(numbers, most)     Flat: the first `most` tokens of each section (a document or a negative)

Nothing is drawn here: which side asks, the sentence, the negative are drawn anew in each pass, in training.
"""
