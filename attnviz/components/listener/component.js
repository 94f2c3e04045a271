// @ts-check
// Listener: holds a socket to the class and asks for a run when the count that comes is not the one that was drawn.
// Where no socket opens it asks every few seconds instead. What the one who leads has chosen in a real head is announced
// to the pictures of the page. Data: {strings, folder, code, seat, heed, drawn, chosen: {layer, head, query, key} | null}.

import { parse } from "../shared/buffer.js";
import { el, setData, setText } from "../shared/dom.js";
import { mounted } from "../shared/mounted.js";
import { announceSelection } from "../shared/selection.js";

const LISTEN_ENDED = 4404;
const LISTEN_GAP_MS = 250; // the presenter's page need not run for each of thirty answers
const LISTEN_AGAIN_MS = [300, 1000, 3000, 5000];
const LISTEN_POLL_MS = 3000;
const LISTEN_SURE_MS = 4000; // a run that was asked for and never came is asked for again
const LISTEN_DEAF_AFTER = 2;

/** Streamlit calls this with new data or a new theme. */
export default function listener(/** @type {any} */ component) {
  return mounted(component, mountListener, refreshListener);
}

function mountListener(/** @type {any} */ root) {
  const sign = el("span", { "aria-hidden": "true" });
  const words = el("span");
  const box = el("p", { class: "av av-listener", role: "status" }, sign, words);
  root.append(box);
  const ear = /** @type {any} */ ({
    box,
    sign,
    words,
    tries: 0,
    live: false,
    asked: 0,
    told: null,
    socket: null,
  });
  ear.destroy = () => {
    ear.gone = true;
    clearTimeout(ear.again);
    clearTimeout(ear.soon);
    clearTimeout(ear.sure);
    ear.socket?.close();
    box.remove();
  };
  return ear;
}

function refreshListener(/** @type {any} */ ear, /** @type {Uint8Array} */ data) {
  const { header } = parse(data);
  const place = [header.folder, header.code, header.seat, header.heed].join("/");
  Object.assign(ear, { header, drawn: header.drawn });
  if (ear.place !== place) {
    ear.place = place;
    ear.socket?.close();
    openListener(ear);
  }
  sayListener(ear, ear.live);
  const chosen = JSON.stringify(header.chosen);
  if (header.chosen && chosen !== ear.chosen) announceSelection(header.chosen);
  ear.chosen = chosen;
  if (ear.told !== null) hearListener(ear, ear.told);
}

/** The class's socket lies beside the page, on the server that the page came from: /learn listens at /class/CODE. */
function besidePage(/** @type {any} */ header) {
  const url = new URL(location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.pathname = [...url.pathname.split("/").slice(0, -1), header.folder, header.code].join("/");
  url.search = new URLSearchParams({ seat: header.seat, heed: header.heed }).toString();
  url.hash = "";
  return url;
}

function openListener(/** @type {any} */ ear) {
  const socket = new WebSocket(besidePage(ear.header));
  ear.socket = socket;
  socket.onopen = () => {
    ear.tries = 0;
    sayListener(ear, true);
  };
  socket.onmessage = (event) => hearListener(ear, Number(event.data));
  socket.onclose = (event) => {
    if (ear.gone || ear.socket !== socket) return;
    if (event.code === LISTEN_ENDED) {
      askListener(ear, -1);
      return;
    }
    sayListener(ear, false);
    const wait = LISTEN_AGAIN_MS[Math.min(ear.tries, LISTEN_AGAIN_MS.length - 1)];
    ear.tries += 1;
    if (ear.tries > LISTEN_DEAF_AFTER) askListener(ear, -1);
    ear.again = setTimeout(() => openListener(ear), ear.tries > LISTEN_DEAF_AFTER ? LISTEN_POLL_MS : wait);
  };
}

/** A count came: where it is not the one on the page, the page runs again, but not more often than it must. */
function hearListener(/** @type {any} */ ear, /** @type {number} */ count) {
  ear.told = count;
  if (count === ear.drawn || ear.soon) return;
  const wait = ear.header.heed === "stage" ? 0 : Math.max(0, ear.asked + LISTEN_GAP_MS - Date.now());
  ear.soon = setTimeout(() => {
    ear.soon = null;
    if (!ear.gone && ear.told !== ear.drawn) askListener(ear, ear.told);
  }, wait);
}

function askListener(/** @type {any} */ ear, /** @type {number} */ count) {
  ear.asked = Date.now();
  ear.send("heard", { count, at: ear.asked });
  clearTimeout(ear.sure);
  ear.sure = setTimeout(() => {
    if (!ear.gone && ear.told !== null) hearListener(ear, ear.told);
  }, LISTEN_SURE_MS);
}

function sayListener(/** @type {any} */ ear, /** @type {boolean} */ live) {
  ear.live = live;
  setData(ear.box, { heard: live ? "live" : "lost", drawn: ear.drawn });
  setText(ear.sign, live ? "●" : "○");
  setText(ear.words, live ? ear.header.strings.live : ear.header.strings.lost);
}
