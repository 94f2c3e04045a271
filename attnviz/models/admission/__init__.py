"""The files of a model, checked as plain data before any library reads them.

In: a folder that anyone may have written. Out: a private copy of its small files, with only the
fields that attnviz allows, beside links to its weights; or an error that names the file and the
field. `json_files` parses and refuses, `config`, `tokenizer` and `processor` hold the rules of one
kind of file each, `sealed_copy` makes the copy.
"""
