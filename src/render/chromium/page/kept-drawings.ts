/**
 * Runs in documents of a page that draws frames, before their scripts: what is drawn by WebGL stays in its canvas until the
 * document is printed. Without that a canvas is empty once its frame has been shown, and a document that draws once is
 * printed without it. Libraries say that they do not need the drawing (`preserveDrawingBuffer: false`) without being asked.
 *
 * The method looks native to scripts; the attributes of the context show what it does.
 */
export const KEPT_DRAWINGS = `(() => {
  const { prototype } = HTMLCanvasElement;
  const { apply } = Reflect;
  prototype.getContext = new Proxy(prototype.getContext, {
    apply(getContext, canvas, given) {
      const [type, attributes] = given;
      const kept = type === 'webgl' || type === 'webgl2' || type === 'experimental-webgl';
      return apply(getContext, canvas, kept ? [type, { ...attributes, preserveDrawingBuffer: true }] : given);
    },
  });
})()`;
