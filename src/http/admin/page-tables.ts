import { type Html, html } from './html.ts';

type Cell = Html | string | number | null | undefined;

/** A table with a caption, or a sentence where there are no rows. */
export function tableOf(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
): Html {
  if (rows.length === 0) return html`<h2>${caption}</h2><p>There are none.</p>`;
  return html`<h2>${caption}</h2>
<section tabindex="0" aria-label="${caption}"><table>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell ?? '–'}</td>`)}</tr>`)}</tbody>
</table></section>`;
}

/** A button that posts to a path of the pages. */
export function act(label: string, name: string, path: string): Html {
  return html`<form method="post" action="/admin/act/${path}">
<button aria-label="${label} ${name}">${label}</button></form>`;
}

/** The link to the next page of a list; nothing at its end. */
export function nextPage(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  cursor: string | null,
): Html {
  if (cursor === null) return html``;
  const given = Object.entries({ ...query, cursor }).flatMap(([name, value]) =>
    value ? [[name, value]] : [],
  );
  return html`<p><a href="/admin/${path}?${new URLSearchParams(given).toString()}">Next page</a></p>`;
}
