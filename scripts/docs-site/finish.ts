/**
 * Makes of what Astro has built in `site/built` what is served from `site/dist`: nothing inline, so that the site works under
 * a policy that allows files of its own alone; a compressed file beside each text; and a complaint about each link that leads
 * nowhere, upon which nothing is served.
 */
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  defaultTreeAdapter as dom,
  html,
  parse,
  serialize,
  type DefaultTreeAdapterTypes as Tree,
} from 'parse5';
import { findBrokenLinks } from './links.ts';
import { ROOT } from './root.ts';

const BUILT = join(ROOT, 'site/built');
const DIST = join(ROOT, 'site/dist');
const STYLES = '_astro/attributes.css';
/** The order that the theme counts on, said first: what is bundled with it can come before it. */
const LAYERS =
  '@layer starlight.base, starlight.reset, starlight.core, starlight.content, starlight.components, starlight.utils;';
/** How the style sheet of code finds what has a style attribute, and what that has in its place. */
const STYLED = "span[style^='--']:not([class])";
const WITH_CLASS = "span[class^='s-']";
const GZIPPED = /\.(?:html|js|css|svg|json|md|txt)$/;
const WORTH_GZIP = 1024;

const rules = new Map<string, string>();
const pages = globSync('**/*.html', { cwd: BUILT });
if (pages.length === 0) throw new Error('Nothing is built: run make docs.');
for (const page of pages)
  writeFileSync(join(BUILT, page), withoutInline(readFileSync(join(BUILT, page), 'utf8')));
writeFileSync(join(BUILT, STYLES), [LAYERS, ...rules.values()].join('\n'));
for (const sheet of globSync('_astro/*.css', { cwd: BUILT })) {
  const path = join(BUILT, sheet);
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(STYLED, WITH_CLASS));
}

const broken = findBrokenLinks(BUILT, ['/docs/api/try', '/openapi.json']);
if (broken.length > 0) throw new Error(`Links that lead nowhere:\n${broken.join('\n')}`);

for (const file of globSync('**/*', { cwd: BUILT }).filter((name) => GZIPPED.test(name))) {
  const bytes = readFileSync(join(BUILT, file));
  if (bytes.length >= WORTH_GZIP) writeFileSync(join(BUILT, `${file}.gz`), gzipSync(bytes, { level: 9 }));
}
// At once, so that a service which runs meanwhile has the old site or the new one.
rmSync(DIST, { recursive: true, force: true });
mkdirSync(dirname(DIST), { recursive: true });
try {
  renameSync(BUILT, DIST);
} catch {
  cpSync(BUILT, DIST, { recursive: true });
}

/** A page whose inline scripts, style sheets and style attributes are files. */
function withoutInline(text: string): string {
  const document = parse(text);
  visit(document);
  const head = elementsOf(document).find(({ tagName }) => tagName === 'head')!;
  const styles = element('link', { rel: 'stylesheet', href: `/docs/${STYLES}` });
  dom.insertBefore(head, styles, head.childNodes[0]!);
  return serialize(document);
}

function visit(node: Tree.Node): void {
  if ('tagName' in node) move(node);
  for (const child of 'childNodes' in node ? [...node.childNodes] : []) visit(child);
  if ('content' in node) visit(node.content);
}

function move(node: Tree.Element): void {
  const handler = node.attrs.find(({ name }) => name.startsWith('on'));
  if (handler !== undefined) throw new Error(`<${node.tagName} ${handler.name}>: no policy allows it`);
  const style = take(node, 'style');
  if (style !== undefined) addClass(node, ruleOf(style));
  if (node.tagName === 'table') nameColumns(node);
  if (node.tagName === 'script' && attribute(node, 'src') === undefined) {
    node.attrs.push({ name: 'src', value: `/docs/${fileOf(textOf(node), 'js')}` });
    node.childNodes = [];
  } else if (node.tagName === 'style') {
    const link = element('link', { rel: 'stylesheet', href: `/docs/${fileOf(textOf(node), 'css')}` });
    dom.insertBefore(node.parentNode!, link, node);
    dom.detachNode(node);
  }
}

/** Cells name their columns, so that the style sheet can show a row as a block where the page is narrow. */
function nameColumns(table: Tree.Element): void {
  const cells = (row: Tree.Element) => elementsOf(row).filter(({ tagName }) => /^t[hd]$/.test(tagName));
  const [head, ...rows] = elementsOf(table).filter(({ tagName }) => tagName === 'tr');
  const names = head === undefined ? [] : cells(head).map(wholeTextOf);
  for (const row of rows) {
    for (const [at, cell] of cells(row).entries()) {
      cell.attrs.push({ name: 'data-label', value: names[at] ?? '' });
      if (cell.childNodes.length === 0) addClass(cell, 'empty');
    }
  }
}

function wholeTextOf(node: Tree.ParentNode): string {
  return node.childNodes
    .map((child) => ('value' in child ? child.value : 'childNodes' in child ? wholeTextOf(child) : ''))
    .join('');
}

/** The class that stands for a style attribute; outside of every layer, it wins over the theme as the attribute does. */
function ruleOf(style: string): string {
  const name = `s-${hashOf(style)}`;
  rules.set(name, `.${name}.${name}.${name} { ${style} }`);
  return name;
}

function fileOf(text: string, extension: string): string {
  const path = `_astro/inline-${hashOf(text)}.${extension}`;
  writeFileSync(join(BUILT, path), text);
  return path;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}

function elementsOf(node: Tree.ParentNode): Tree.Element[] {
  return node.childNodes.flatMap((child) => ('tagName' in child ? [child, ...elementsOf(child)] : []));
}

function textOf(node: Tree.Element): string {
  return node.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
}

function attribute(node: Tree.Element, wanted: string): string | undefined {
  return node.attrs.find(({ name }) => name === wanted)?.value;
}

function take(node: Tree.Element, wanted: string): string | undefined {
  const value = attribute(node, wanted);
  node.attrs = node.attrs.filter(({ name }) => name !== wanted);
  return value;
}

function addClass(node: Tree.Element, name: string): void {
  const given = take(node, 'class');
  node.attrs.push({ name: 'class', value: given === undefined ? name : `${given} ${name}` });
}

function element(tagName: string, attributes: Readonly<Record<string, string>>): Tree.Element {
  const attrs = Object.entries(attributes).map(([name, value]) => ({ name, value }));
  return dom.createElement(tagName, html.NS.HTML, attrs);
}
