/** Frames that follow each other at once, for the drawing of a document; later ones come at a screen's rate. */
const PROMPT_FRAMES = 10;
const PROMPT_MS = 1;
const SCREEN_MS = 16;

/** An event that, dispatched to the document, runs its next frame at once. */
export const FRAME_EVENT = 'platen-frame';

/** An event that, dispatched to the document, is cancelled when its scripts wait for a frame. */
export const FRAMES_WANTED_EVENT = 'platen-frames-wanted';

/** Runs in documents of a page that draws frames, before their scripts: records whether they have requested frames. */
export const COUNTED_FRAMES = `(() => {
  const { requestAnimationFrame: request, cancelAnimationFrame: cancel, addEventListener } = window;
  const asked = new Set();
  const hold = (event) => { if (asked.size > 0) event.preventDefault(); };
  window.requestAnimationFrame = function requestAnimationFrame(callback) {
    if (typeof callback !== 'function') return request.call(window, callback);
    // Each time, for document.open takes listeners off.
    addEventListener.call(document, '${FRAMES_WANTED_EVENT}', hold);
    const id = request.call(window, (time) => {
      asked.delete(id);
      callback(time);
    });
    asked.add(id);
    return id;
  };
  window.cancelAnimationFrame = function cancelAnimationFrame(id) {
    asked.delete(id);
    cancel.call(window, id);
  };
  window.webkitRequestAnimationFrame = window.requestAnimationFrame;
  window.webkitCancelAnimationFrame = window.cancelAnimationFrame;
})()`;

/**
 * Runs in documents of a page that draws no frames, before their scripts: implements requestAnimationFrame by a timer.
 * A frame that is requested within a frame is the next one, and all callbacks of a frame get the same time, as HTML
 * requires (https://html.spec.whatwg.org/multipage/imagebitmap-and-animations.html#animation-frames).
 */
export const TIMED_FRAMES = `(() => {
  const { setTimeout, reportError, performance, addEventListener } = window;
  let handle = 0, frames = 0, current = new Map(), next = new Map();
  const hold = (event) => { if (next.size > 0) event.preventDefault(); };
  const run = () => {
    frames++;
    current = next;
    next = new Map();
    const time = performance.now();
    for (const [id, callback] of current) {
      current.delete(id);
      try { callback(time); } catch (error) { reportError(error); }
    }
  };
  window.requestAnimationFrame = function requestAnimationFrame(callback) {
    if (typeof callback !== 'function') throw new TypeError('The callback provided is not a function.');
    // Each time, for document.open takes listeners off.
    addEventListener.call(document, '${FRAME_EVENT}', run);
    addEventListener.call(document, '${FRAMES_WANTED_EVENT}', hold);
    if (next.size === 0) setTimeout(run, frames < ${PROMPT_FRAMES} ? ${PROMPT_MS} : ${SCREEN_MS});
    next.set(++handle, callback);
    return handle;
  };
  window.cancelAnimationFrame = function cancelAnimationFrame(id) {
    // An emptied frame still comes: its place in the order of timers is taken.
    if (!current.delete(id) && next.has(id)) next.set(id, () => undefined);
  };
  window.webkitRequestAnimationFrame = window.requestAnimationFrame;
  window.webkitCancelAnimationFrame = window.cancelAnimationFrame;
})()`;
