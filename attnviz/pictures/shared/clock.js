// @ts-check
// The clock of a film: it runs, stops, is set to a moment, and ends. In: how long the film is. Out: calls with the moment
// in milliseconds, one in each animation frame while it runs. It stands still while its page is not seen.

/** @typedef {ReturnType<typeof makeClock>} Clock */

const LONGEST_FRAME_MS = 100; // after a pause of the browser the film goes on where it was

/**
 * @param {{length: number, onTime: (time: number) => void, onState: (isRunning: boolean) => void}} opts
 */
export function makeClock({ length, onTime, onState }) {
  let time = 0;
  let speed = 1;
  let frame = 0;
  let last = 0;
  const step = (/** @type {number} */ now) => {
    time = Math.min(length, time + speed * Math.min(LONGEST_FRAME_MS, now - last));
    last = now;
    frame = time < length ? requestAnimationFrame(step) : 0;
    onTime(time);
    if (!frame) onState(false);
  };
  const pause = () => {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    onState(false);
  };
  const seek = (/** @type {number} */ to) => {
    time = Math.max(0, Math.min(length, to));
    onTime(time);
  };
  const play = () => {
    if (frame) return;
    if (time >= length) seek(0);
    last = performance.now();
    frame = requestAnimationFrame(step);
    onState(true);
  };
  return {
    play,
    pause,
    seek,
    toggle: () => (frame ? pause() : play()),
    time: () => time,
    isRunning: () => frame !== 0,
    setSpeed: (/** @type {number} */ factor) => void (speed = factor),
    /** Another length, as when the film gets other scenes. */
    setLength(/** @type {number} */ ms) {
      length = ms;
      seek(Math.min(time, ms));
    },
  };
}

/** True if the visitor asked the system for less motion. */
export function wantsLessMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
