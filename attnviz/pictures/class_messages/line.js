// @ts-check
// The line to a class: a socket that is opened again when it is lost. It lies beside the page, on the server that the
// page came from: the page /learn listens at /class/CODE.

/** Where to listen, and for what. @typedef {{folder: string, code: string, seat: string, heed: string}} Place */
/**
 * `onCount`: a count came; `onEnded`: the class is no more; `onUnseated`: it does not know the seat; `onLost`: the socket closed, `tries` times in a row.
 * @typedef {{onOpen: () => void, onCount: (count: number) => void, onEnded: () => void,
 *   onUnseated: () => void, onLost: (tries: number) => void}} Callbacks
 */

const ENDED = 4404; // the close code of a class that is no more
const NO_SEAT = 4403; // that of a seat that the class does not know any more: the page joins again
const AGAIN_MS = [300, 1000, 3000, 5000];
const POLL_MS = 3000;
/** After so many tries in a row no socket is expected: the page asks at an even pace. */
export const DEAF_AFTER = 2;

/** A line that is closed; `move` opens it at a place, and at another one when that changes. */
export function makeLine(/** @type {Callbacks} */ { onOpen, onCount, onEnded, onUnseated, onLost }) {
  /** @type {ReturnType<typeof connect> | null} */
  let socket = null;
  let timer = 0;
  let tries = 0;
  let now = "";
  const open = (/** @type {Place} */ place) => {
    const opened = connect(place);
    socket = opened;
    opened.onopen = () => opened.send(place.seat); // not in the address: proxies write addresses down
    opened.onmessage = (event) => {
      tries = 0;
      onOpen(); // with the first count: before it the server may still refuse the seat
      onCount(Number(event.data));
    };
    opened.onclose = (event) => {
      if (socket !== opened) return;
      if (event.code === ENDED) {
        onEnded();
        return;
      }
      if (event.code === NO_SEAT) onUnseated();
      tries += 1;
      const wait = tries > DEAF_AFTER ? POLL_MS : AGAIN_MS[Math.min(tries, AGAIN_MS.length) - 1];
      timer = setTimeout(() => open(place), wait);
      onLost(tries);
    };
  };
  const close = () => {
    clearTimeout(timer); // else a second socket would open beside that of the next place
    const closing = socket;
    socket = null;
    closing?.close();
  };
  return {
    close,
    move(/** @type {Place} */ place) {
      const name = [place.folder, place.code, place.seat, place.heed].join("/");
      if (name === now) return;
      now = name;
      close();
      open(place);
    },
  };
}

function connect(/** @type {Place} */ place) {
  return new WebSocket(besidePage(place));
}

function besidePage(/** @type {Place} */ { folder, code, heed }) {
  const url = new URL(location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.pathname = [...url.pathname.split("/").slice(0, -1), folder, code].join("/");
  url.search = new URLSearchParams({ heed }).toString();
  url.hash = "";
  return url;
}
