"""Cross-lingual calibration of sentence vectors (CCP, section 3.2): shift, scale and rotate, without translations.

CCP refers to supplementary materials that are not public. Read here as: a language's mean is taken away, what is left
divided by its standard deviation in each coordinate ("variance" in the paper), and the first language of a pair turned
by an orthogonal W, learnt as Conneau et al. 2018 do, of vectors that are shifted and scaled already.
"""
