"""The edge of the server: everything between the network and Streamlit.

In: requests of browsers and of those who run the server. Out: the same requests, checked; headers,
health and numbers; and the time from the start of the server to its end.
"""
