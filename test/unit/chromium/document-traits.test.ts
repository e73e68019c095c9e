import assert from 'node:assert/strict';
import { documentTraits, namedHosts, needsFrames } from '../../../src/chromium/document/document-traits.ts';

describe('what a document tells of itself', () => {
  for (const html of [
    '<script>1</script>',
    '<SCRIPT src=x>',
    '<svg><script>1</script></svg>',
    '<img src=x onerror=alert(1)>',
    '<img/onerror=alert(1)>',
    '<img src="x"onerror = alert(1)>',
    '<body onload\n=\nx()>',
    '<noscript>x</noscript>',
    '<style>@media (scripting: none) { p { color: red } }</style>',
  ]) {
    it(`${JSON.stringify(html)} may run script`, () => assert.ok(documentTraits(html).scripted));
  }

  for (const html of [
    '<p>content="x"',
    '<p>the script reads on = off</p>'.replace(' on =', ' is'),
    '<p class=icon>x',
  ]) {
    it(`${JSON.stringify(html)} runs none`, () => assert.ok(!documentTraits(html).scripted));
  }

  for (const html of [
    '<meta http-equiv="Content-Security-Policy" content="x">',
    '<META HTTP-EQUIV=refresh>',
    '<meta name=referrer content=no-referrer>',
    '<iframe src=x>',
    '<object data=x>',
    '<embed src=x>',
    '<frameset>',
    '<meta name="color-scheme" content="dark">',
    '<meta name="color&#45;scheme" content="dark">',
    '<meta charset=utf-8 name=color-scheme content=dark>',
    '<style title=screen>p { color: red }</style>',
    '<style media=">" title=screen>p { color: red }</style>',
    '<body link=red>',
    '<body vlink="red">',
  ]) {
    it(`${JSON.stringify(html)} lasts beyond the document`, () => assert.ok(documentTraits(html).lasting));
  }

  for (const html of [
    '<meta charset="utf-8"><title>x</title>',
    '<META CHARSET=utf-8 /><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<p title="x">y</p>',
  ]) {
    it(`nothing lasts of ${JSON.stringify(html)}`, () => assert.ok(!documentTraits(html).lasting));
  }

  it('takes megabytes of tags without an end', () => {
    const html = '<script'.repeat(600_000);
    assert.ok(documentTraits(html).scripted);
    assert.ok(!documentTraits(html).frameBound);
    assert.ok(documentTraits(`${html} src=x>`).frameBound);
  });

  it('knows what may fetch something, in escapes too', () => {
    for (const html of [
      '<img src=x>',
      '<p style="background: u\\72l(x)">',
      '<link href=x>',
      '<style>@import "x"</style>',
    ]) {
      assert.ok(documentTraits(html).loads, html);
    }
    assert.ok(!documentTraits('<p style="background: red">x').loads);
  });

  for (const html of [
    '<p>An invoice',
    '<img src=x>',
    '<style>p { color: red }</style>',
    '<canvas></canvas><script>requestAnimationFrame(draw); cancelAnimationFrame(1)</script>',
    '<script>navigator.storage; setTimeout(() => { p.innerHTML = "<b>x" })</script>',
  ]) {
    it(`${JSON.stringify(html)} prints the same without frames`, () => {
      assert.ok(!needsFrames(documentTraits(html), true));
    });
  }

  for (const html of [
    '<style>p { animation: x 1s }</style>',
    '<style>p { TRANSITION: color 1s }</style>',
    '<svg><animate attributeName=x></svg>',
    '<link rel=stylesheet href=x>',
    '<iframe src=x></iframe>',
    '<img loading="lazy" src=x>',
    '<input autofocus>',
    '<img src=/logo.svg>',
    '<img src="data:image/svg+xml;base64,PHN2Zz4=">',
  ]) {
    it(`${JSON.stringify(html)} needs frames`, () => assert.ok(needsFrames(documentTraits(html), false)));
  }

  for (const html of [
    '<script src=x></script>',
    '<script>new ResizeObserver(x)</script>',
    '<script>p.animate([])</script>',
    '<script>document.createElement("script")</script>',
    '<script>onscroll = x</script>',
    '<script>location = "x"</script>',
    '<script>window.open("x", "_self")</script>',
    '<script>a.dispatchEvent(new MouseEvent("click"))</script>',
    '<script>history.go(0)</script>',
    '<script>fetch("/part").then(show)</script>',
    '<script>new XMLHttpRequest()</script>',
    '<script>p.innerHTML = atob("PGI+")</script>',
    '<script>c.getContext("webgl2")</script>',
    '<script>c.toBlob(show)</script>',
    '<script>CSS.paintWorklet.addModule(x)</script>',
    '<script>i.setAttribute("loading", "lazy")</script>',
  ]) {
    it(`${JSON.stringify(html)} needs frames when it may run script`, () => {
      assert.ok(needsFrames(documentTraits(html), true));
    });
  }

  it('finds the hosts that are named', () => {
    const html =
      '<img src="https://A.example/x"><link href="//b.example:8080/y"><p>http://c.example. and ftp://d.example';
    assert.deepEqual([...namedHosts(html)].sort(), ['a.example', 'b.example:8080', 'c.example', 'd.example']);
  });
});
