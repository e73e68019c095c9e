import type { CancelScope } from '../../cancel-scope.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { FRAMES_WANTED_EVENT } from '../../page/timed-frames.ts';
import type { JobDocument } from './job-document.ts';

/** Longest wait for what script moves by frames, in milliseconds; what never ends is printed as it is then. */
const MAX_MS = 2000;
/** Longest wait as a part of the time left until the deadline. */
const MAX_SHARE = 0.5;

/**
 * Runs in the document. Moves each animation and transition that has an end to that end; scripts that react to the end
 * do so in the next frames. Frame-by-frame drawing by a script continues until it requests no more frames.
 */
const END_ANIMATIONS = `async (scripted, timed, ms) => {
  const frame = () => Promise.race([
    new Promise((resolve) => timed ? setTimeout(resolve, 16) : requestAnimationFrame(resolve)),
    new Promise((resolve) => setTimeout(resolve, 500)),
  ]);
  // Shadow trees, and frames of the same origin, have animations of their own.
  const trees = () => {
    const found = [document];
    for (const root of found) {
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot) found.push(element.shadowRoot);
        else if (element.contentDocument) found.push(element.contentDocument);
      }
    }
    return found;
  };
  const finish = (animation) => {
    const end = animation.effect?.getComputedTiming().endTime;
    if (animation.playState !== 'running' || !Number.isFinite(end)) return false;
    // One that follows the scrolling has no end in time. By name, for each frame has a class of its own.
    if (Object.prototype.toString.call(animation.timeline) !== '[object DocumentTimeline]') return false;
    try {
      animation.finish();
      return true;
    } catch {
      return false;
    }
  };
  // When the last of a drawing's animations in SVG ends that has an end, in seconds of its own time.
  const endOf = (drawing) => {
    let end = 0;
    for (const animation of drawing.querySelectorAll('animate, animateTransform, animateMotion, set')) {
      try {
        const count = animation.getAttribute('repeatCount') ?? (animation.hasAttribute('repeatDur') ? 'indefinite' : 1);
        const ended = animation.getStartTime() + animation.getSimpleDuration() * Number(count);
        if (Number.isFinite(ended)) end = Math.max(end, ended);
      } catch {
        // It has not begun and may never do so, or has no end.
      }
    }
    return end;
  };
  const seek = (drawing) => {
    const end = endOf(drawing);
    if (drawing.animationsPaused() || drawing.getCurrentTime() >= end) return false;
    drawing.setCurrentTime(end);
    return true;
  };
  const finishAll = () => {
    let finished = false;
    for (const root of trees()) {
      for (const animation of root.getAnimations()) finished = finish(animation) || finished;
      for (const drawing of root.querySelectorAll('svg')) {
        if (drawing.ownerSVGElement === null) finished = seek(drawing) || finished;
      }
    }
    return finished;
  };
  const framesWanted = () => !document.dispatchEvent(new Event('${FRAMES_WANTED_EVENT}', { cancelable: true }));
  if (!scripted) {
    finishAll();
    return true;
  }
  const begun = performance.now();
  for (let quiet = 0, first = true; ; first = false) {
    quiet = finishAll() || framesWanted() ? 0 : quiet + 1;
    if (quiet > 2 || (quiet > 0 && first)) return true;
    if (performance.now() - begun > ms) return false;
    await frame();
  }
}`;

/**
 * Brings movement to its end, so that nothing is printed half-way: animations and transitions that have an end at once,
 * and drawing by scripts in animation frames over time, for two seconds at most and never longer than half of the time
 * left until the deadline.
 *
 * @returns whether all of it has ended.
 */
export async function endAnimations(
  page: RenderPage,
  { still }: JobDocument,
  end: CancelScope,
): Promise<boolean> {
  const ms = Math.min(MAX_MS, (end.deadline - Date.now()) * MAX_SHARE);
  return await page.runIsolated<boolean>(END_ANIMATIONS, !still, !page.drawsFrames, ms);
}
