"""What stands between the network and Streamlit: hosts, headers, limits of uploads, health."""
