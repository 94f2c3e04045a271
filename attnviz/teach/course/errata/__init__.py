"""Lesson 13: mistakes in printed examples, found by computing them again.

`printed_program` has the cards on a lecture note's program, `worked_example` the one on a course
text's softmax.
"""
