/** A way in which a document makes the browser open a connection. */
export interface Vector {
  readonly name: string;
  /** Markup or script that does it, for a target such as http://127.0.0.1:8000. */
  readonly html: (target: string) => string;
}

const script = (code: (target: string) => string) => (target: string) =>
  `<script>try { ${code(target)} } catch (error) { console.log(error) }</script>`;
const markup = (name: string, html: (target: string) => string): Vector => ({ name, html });
const code = (name: string, body: (target: string) => string): Vector => ({ name, html: script(body) });

/** Each one opens a connection at once unless something prevents it: the control proves that for each. */
export const VECTORS: readonly Vector[] = [
  markup('img', (t) => `<img src="${t}/img">`),
  markup('img srcset', (t) => `<img srcset="${t}/srcset 1x">`),
  markup('svg image', (t) => `<svg width=9 height=9><image href="${t}/svg" width=9 height=9 /></svg>`),
  markup('css background', (t) => `<div style="background:url(${t}/css);height:9px">x</div>`),
  markup('css import', (t) => `<style>@import url("${t}/import.css");</style>`),
  markup(
    'font',
    (t) => `<style>@font-face{font-family:f;src:url(${t}/font)}p{font-family:f}</style><p>x</p>`,
  ),
  markup('stylesheet', (t) => `<link rel=stylesheet href="${t}/sheet.css">`),
  markup('script', (t) => `<script src="${t}/script.js"></script>`),
  markup('module', (t) => `<script type=module src="${t}/module.js"></script>`),
  markup('iframe', (t) => `<iframe src="${t}/iframe"></iframe>`),
  markup('nested iframe', (t) => `<iframe srcdoc="<iframe src='${t}/nested'></iframe>"></iframe>`),
  markup('object', (t) => `<object data="${t}/object" type="text/html"></object>`),
  markup('embed', (t) => `<embed src="${t}/embed" type="text/html">`),
  markup('video', (t) => `<video src="${t}/video" preload=auto></video>`),
  markup('audio', (t) => `<audio src="${t}/audio" preload=auto></audio>`),
  markup('preload', (t) => `<link rel=preload as=image href="${t}/preload">`),
  code('fetch', (t) => `fetch('${t}/fetch', { mode: 'no-cors' }).catch(() => {})`),
  code(
    'fetch with a body',
    (t) => `fetch('${t}/post', { method: 'POST', mode: 'no-cors', body: 'x' }).catch(() => {})`,
  ),
  code('XMLHttpRequest', (t) => `const x = new XMLHttpRequest(); x.open('GET', '${t}/xhr'); x.send()`),
  code('sendBeacon', (t) => `navigator.sendBeacon('${t}/beacon', 'x')`),
  code('EventSource', (t) => `new EventSource('${t}/events')`),
  code(
    'worker',
    (t) => `new Worker(URL.createObjectURL(new Blob(["fetch('${t}/worker', { mode: 'no-cors' })"])))`,
  ),
  code(
    'worker import',
    (t) => `new Worker(URL.createObjectURL(new Blob(["importScripts('${t}/imported.js')"])))`,
  ),
  code('script image', (t) => `new Image().src = '${t}/image'`),
  code(
    'frame from data',
    (t) =>
      `const f = document.createElement('iframe'); f.src = 'data:text/html,<img src=${t}/data>'; document.documentElement.append(f)`,
  ),
  code('web socket', (t) => `new WebSocket('${t.replace('http', 'ws')}/socket')`),
];

/** These lead the document itself away, so each needs one of its own. */
export const NAVIGATIONS: readonly Vector[] = [
  markup('meta refresh', (t) => `<meta http-equiv=refresh content="0;url=${t}/refresh">`),
  code('location', (t) => `location.href = '${t}/location'`),
  markup(
    'form',
    (t) => `<form method=post action="${t}/form"></form><script>document.forms[0].submit()</script>`,
  ),
];
