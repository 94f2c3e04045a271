"""Teaching: lessons that are computed (`course`) and written (`lessons`), classes, the calculator.

In: numbers of the embedded models, texts in each language. Out: cards, worksheets, the rooms of a
class and typed matrices as an attention call; nothing here knows Streamlit.
"""
