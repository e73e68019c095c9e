import GithubSlugger from 'github-slugger';
import { Marked, type Token, type Tokens } from 'marked';

/** A heading of a page. */
export interface Heading {
  readonly rank: number;
  readonly text: string;
  /** What addresses of the heading end with, after #. */
  readonly anchor: string;
}
interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/**
 * Renders Markdown that is part of Platen. HTML within it is kept, so it is not for anything that others have written.
 *
 * Headings get the anchors that the built site gives them, or those that their own `<a id>` names. Cells of tables name their
 * columns (`data-label`), so that a style sheet can show a row as a block.
 */
export function renderMarkdown(markdown: string): Rendered {
  const slugger = new GithubSlugger();
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const named = tokens.map((token) => /^<a id="([^"]+)">/.exec(token.raw)?.[1]).find(Boolean);
        const slug = slugger.slug(textOf(tokens));
        const inner = this.parser.parseInline(tokens.filter(({ type }) => type !== 'html'));
        const anchor = named ?? slug;
        headings.push({ rank: depth, text: inner.replace(/<\/?a[^>]*>/g, ''), anchor });
        const both = named === undefined ? '' : `<a id="${slug}"></a>`;
        return `<h${depth} id="${anchor}">${both}${inner} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      table({ header, rows }) {
        const heads = header.map(({ tokens }) => this.parser.parseInline(tokens));
        const labels = header.map(({ tokens }) => escapeHtml(textOf(tokens)));
        const cells = (row: Tokens.TableCell[]) =>
          row.map(({ tokens }, at) => {
            const inner = this.parser.parseInline(tokens);
            return `<td data-label="${labels[at]}"${inner === '' ? ' class="empty"' : ''}>${inner}</td>`;
          });
        return `<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead>
<tbody>${rows.map((row) => `<tr>${cells(row).join('')}</tr>`).join('\n')}</tbody></table>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, headings };
}

/** Makes of a text what HTML shows as that text, also within an attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
}

/** The text of inline tokens, without their marks. */
function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return '';
      if ('tokens' in token && token.tokens !== undefined) return textOf(token.tokens);
      return 'text' in token ? String(token.text) : '';
    })
    .join('');
}
