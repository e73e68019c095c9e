import assert from 'node:assert/strict';
import { cssTraits } from '../../../src/render/chromium/job/document/css-traits.ts';
import {
  documentTraits,
  MAX_READ,
  needsFrames,
} from '../../../src/render/chromium/job/document/document-traits.ts';
import { readMarkup } from '../../../src/render/chromium/job/document/markup.ts';
import {
  originsInMarkup,
  originsInTemplate,
} from '../../../src/render/chromium/job/document/written-origins.ts';

const EVERYTHING = {
  scripted: true,
  lasting: true,
  loads: true,
  webFonts: true,
  draws: true,
  observes: true,
  moves: true,
  frameBound: true,
  relativeLinks: true,
};

describe('the traits of a document', () => {
  for (const html of [
    '<script>1</script>',
    '<SCRIPT src=x>',
    '<svg><script>1</script></svg>',
    '<img src=x onerror=alert(1)>',
    '<img/onerror=alert(1)>',
    '<img src="x"onerror = alert(1)>',
    '<body onload\n=\nx()>',
    '<noscript>x</noscript>',
    '<iframe srcdoc="&lt;script>">',
    '<img src=x on&#101;rror=1 onload=1>',
    '<style>@media (scripting: none) { p { color: red } }</style>',
  ]) {
    it(`${JSON.stringify(html)} may run script`, () => assert.ok(documentTraits(html).scripted));
  }

  for (const html of [
    '<p>content="x"',
    '<p>the script reads on = off</p>'.replace(' on =', ' is'),
    '<p class=icon>x',
    '<p>switch on=off, &lt;script&gt;',
    '<p title="<script>">x',
    '<textarea><script>1</script></textarea>',
    '<svg><title>a &amp; b</title><style>.a { fill: red }</style></svg>',
    '<script',
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
    '<img src=" https://a.example/x">',
    '<img src="#x">',
    '<img srcset="data:image/png;base64,AAAA 1x, /x 2x">',
    '<body background=x>',
    '<svg><image href=x /></svg>',
    '<svg><use xlink:href="x#y"/></svg>',
    '<svg><rect fill="url(x#y)"/></svg>',
    '<svg><image><animate attributeName=href to=x /></image></svg>',
    '<style>p { background: URL( "x" ) }</style>',
    '<style>p { background: image-set("x" 1x) }</style>',
    '<style>/*"*/ p { background: u\\72l(x) } /*"*/</style>',
    '<p style="b: url(data:,&apos;); background: u\\72l(x)">',
    '<style>@\\69mport "x"</style>',
    '<link rel=stylesheet href="data:text/css,x">',
    '<template><img src=x></template>',
  ]) {
    it(`${JSON.stringify(html)} may fetch something`, () => assert.ok(documentTraits(html).loads));
  }

  for (const html of [
    '<p>see src=x, url(x) and \\ in the text</p>',
    '<a href="https://a.example/">x</a>',
    '<img src="data:image/png;base64,AAAA">',
    '<style>p { background: url(data:image/png;base64,AAAA); content: "\\201C" }</style>',
    '<svg><g id=a></g><use href="#a"/><rect fill="url(#b)"/></svg>',
    '<textarea><img src=x></textarea>',
    '<!-- <img src=x> -->',
  ]) {
    it(`${JSON.stringify(html)} fetches nothing`, () => assert.ok(!documentTraits(html).loads));
  }

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
});

describe('markup that can be read in two ways', () => {
  // In SVG and MathML the content of these elements is markup; a CDATA section is text, and ends elsewhere.
  for (const html of [
    '<svg><style><img src=x onerror=1></style></svg>',
    '<svg><style>&#64;import "x"</style></svg>',
    '<svg><xmp><img src=x></xmp></svg>',
    '<math><mi></math><style><img src=x></style>',
    '<svg><desc></svg></desc><style><img src=x></style></svg>',
    '<svg><foreignObject><div></foreignObject></svg></div></foreignObject><style><img src=x></style>',
    '<svg><p><title><!--</title><img src=x onerror=1>-->',
    '<div><svg></div><title><!--</title><img src=x onerror=1>-->',
    '<svg><title><title><!--</title><img src=x onerror=1>--></title>',
    `<svg><![CDATA[ > <x y=' ]]></svg><img src=x onerror=1>'>`,
    '<noscript><!--</noscript><img src=x>-->',
    '<frameset><style></frameset><img src=x>',
    '<plaintext><p>',
  ]) {
    it(`${JSON.stringify(html)} gets everything`, () => assert.deepEqual(documentTraits(html), EVERYTHING));
  }

  for (const html of [
    '<svg><defs><style>.a { fill: red }</style></defs><title>a</title><path class=a /></svg><style>p > b {}</style>',
    '<svg><style><![CDATA[ .a { fill: red } ]]></style></svg><p>x',
    '<svg /><style>a { content: "<" }</style><p>x',
  ]) {
    it(`${JSON.stringify(html)} is understood`, () => {
      assert.deepEqual(Object.values(documentTraits(html)), new Array(9).fill(false));
    });
  }
});

describe('links', () => {
  for (const address of ['pay', '/pay', '../x#y', '//a.example/x', '?page=2', ' a b', 'a/b:c'])
    it(`of the address ${address} are relative`, () => {
      assert.ok(documentTraits(`<p><a href="${address}">x</a>`).relativeLinks);
      assert.ok(documentTraits(`<map><area href="${address}">`).relativeLinks);
    });
  for (const address of ['#x', '', ' #x', 'https://a.example/x', 'mailto:a@a.example', 'x-own+app:1'])
    it(`of the address ${JSON.stringify(address)} are not`, () => {
      assert.ok(
        !documentTraits(`<base href="/x"><link href="x"><a name=x href="${address}">x</a>`).relativeLinks,
      );
    });
});

describe('a hostile document', () => {
  const LENGTH = 2_000_000;
  const HOSTILE: readonly [start: string, repeated: string][] = [
    ['', 'image/svg+xml;'],
    ['<style>', 'image/svg+xml;'],
    ['<p style="', 'image/svg+xml;'],
    ['<script>', 'image/svg+xml;'],
    ['', '<script'],
    ['', '<script src='],
    ['', '<style>'],
    ['<style>', '/*'],
    ['<style>', '"'],
    ['<style>\\', `"${'a'.repeat(60)}`],
    ['<style>\\', `"\\abcdef\\abcdef\\abcdef\\abcdef\\abcdef\\abcdef\\abcdef\\abcdef`],
    ['<style>', 'url( '],
    ['<style>url(', ' '],
    ['<style>', '</style '],
    ['<script>', 'Function '],
    ['<script>open', ' '],
    ['<script>', '<!--<script>'],
    ['', '<div>'],
    ['', '<b><p>'],
    ['<table>', '<b>x'],
    ['', '<svg>'],
    ['<svg>', '<g>'],
    ['<svg>', '<style>'],
    ['<p ', 'a=b '],
    ['<p ', 'style="x" '],
    ['<p a="', '&amp;'],
    ['', '&a'],
    ['', '<!--'],
    ['<!--', '-'],
    ['', '//a-'],
    ['//a', '-'],
    ['', 'http'],
  ];
  const fill = (start: string, repeated: string) =>
    start + repeated.repeat(Math.floor((LENGTH - start.length) / repeated.length));
  const nothing = { tag() {}, style: cssTraits, script() {}, hidden() {} };
  const examine = (html: string) => {
    documentTraits(html);
    documentTraits(html.slice(0, MAX_READ));
    readMarkup(html, nothing);
    originsInMarkup(html);
    originsInTemplate(html);
  };
  for (const [start, repeated] of HOSTILE) {
    it(`is read in linear time: ${start}${repeated.slice(0, 30)}…`, () => {
      // It takes tenths of a second. What takes quadratic time takes a thousand times as long, and hangs.
      examine(fill(start, repeated));
    });
  }

  it('gets everything unread when it is too long', () => {
    assert.deepEqual(documentTraits('x'.repeat(MAX_READ + 1)), EVERYTHING);
    assert.ok(!documentTraits('x'.repeat(MAX_READ)).lasting);
  });
});
