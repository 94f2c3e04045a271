// @ts-check
// Tells Streamlit where its server is. It would ask for the server's health below the address of the page first, which is
// none, and then one folder higher. Under an address that is no page of ours it still does. Held to one minor version of
// Streamlit; the server puts the names of the pages in.

{
  const page = /\/(?:PAGES)?$/;
  const { origin, pathname } = location;
  if (page.test(pathname)) {
    const server = origin + pathname.replace(page, "");
    const hosts = { allowedOrigins: [origin], useExternalAuthToken: false };
    Object.assign(window, { __streamlit: { BACKEND_BASE_URL: server, HOST_CONFIG: hosts } });
  }
}
