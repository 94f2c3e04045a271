// @ts-check
// The line to a class: a socket that is opened again when it is lost. It lies beside the page, on the server that the
// page came from: the page /learn listens at /class/CODE.

/**
 * Where to listen, and for what; `query` has what the server is told besides, which moves no line.
 * @typedef {{folder: string, code: string, seat: string, heed: string, query?: Record<string, string>}} Place
 */
/**
 * `onCount`: a count came; `onText`, `onBytes`: other news, for who asks for more than counts; `onEnded`: the class is no more; `onUnseated`: it does not know the seat; `onLost`: the socket closed, `tries` times in a row.
 * @typedef {{onOpen: () => void, onCount: (count: number) => void, onText?: (text: string) => void,
 *   onBytes?: (bytes: ArrayBuffer) => void, onEnded: () => void, onUnseated: () => void,
 *   onLost: (tries: number) => void}} Callbacks
 */

const ENDED = 4404; // the close code of a class that is no more
const NO_SEAT = 4403; // that of a seat that the class does not know any more: the page joins again
const AGAIN_MS = [300, 1000, 3000, 5000];
const POLL_MS = 3000;
/** After so many tries in a row no socket is expected: the page asks at an even pace. */
export const DEAF_AFTER = 2;

/** A line that is closed; `move` opens it at a place, and at another one when that changes. */
export function makeLine(/** @type {Callbacks} */ callbacks) {
  const { onOpen, onEnded, onUnseated, onLost } = callbacks;
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
      hear(callbacks, event.data);
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

/** Hands on what came: a count, other text, or bytes. */
function hear(/** @type {Callbacks} */ { onCount, onText, onBytes }, /** @type {unknown} */ news) {
  if (news instanceof ArrayBuffer) onBytes?.(news);
  else if (/^\d+$/.test(String(news))) onCount(Number(news));
  else onText?.(String(news));
}

function connect(/** @type {Place} */ place) {
  const socket = new WebSocket(besidePage(place));
  socket.binaryType = "arraybuffer";
  return socket;
}

function besidePage(/** @type {Place} */ { folder, code, heed, query }) {
  const url = new URL(location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.pathname = [...url.pathname.split("/").slice(0, -1), folder, code].join("/");
  url.search = new URLSearchParams({ heed, ...query }).toString();
  url.hash = "";
  return url;
}
