/** The style sheet of the pages that the service renders itself, in light and dark, from a phone to a wide screen. */
export const PLAIN_STYLE = `
:root {
  color-scheme: light dark;
  --text: light-dark(#20242c, #d9dde4);
  --faint: light-dark(#59606b, #9aa3b0);
  --back: light-dark(#fff, #16181d);
  --raised: light-dark(#f4f6f9, #20242c);
  --line: light-dark(#dce0e6, #343a45);
  --link: light-dark(#1f5ab5, #8db8f5);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body {
  margin: 0;
  background: var(--back);
  color: var(--text);
  font: 1rem/1.6 system-ui, sans-serif;
  overflow-wrap: break-word;
}
a { color: var(--link); }
header {
  position: sticky;
  top: 0;
  display: flex;
  gap: 1.25rem;
  align-items: baseline;
  padding: 0.75rem 1.25rem;
  background: var(--back);
  border-bottom: 1px solid var(--line);
}
header a { text-decoration: none; }
header .brand { margin-right: auto; color: var(--text); font-weight: 700; font-size: 1.15rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; z-index: 1; padding: 0.5rem; background: var(--back); }
main, #pages { padding: 1.25rem; }
main { max-width: 52rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.45rem; line-height: 1.3; margin: 2.5rem 0 0.75rem; }
h3 { font-size: 1.15rem; line-height: 1.35; margin: 2rem 0 0.5rem; }
h4 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
.anchor { color: var(--faint); font-weight: 400; text-decoration: none; opacity: 0; }
:is(h2, h3, h4):hover .anchor, .anchor:focus { opacity: 1; }
:target { background: light-dark(#fff3c4, #4a3d0c); }
code { font: 0.875em/1.5 ui-monospace, monospace; background: var(--raised); padding: 0.1em 0.25em; border-radius: 3px; }
:is(p, li, td, th, h1, h2, h3, h4) code { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 0.9rem 1rem; background: var(--raised); border: 1px solid var(--line); border-radius: 6px; }
pre code { padding: 0; background: none; }
img { max-width: 100%; height: auto; }
blockquote { margin-inline: 0; padding-left: 1rem; border-left: 3px solid var(--line); }
table { width: 100%; border-collapse: collapse; font-size: 0.94rem; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.contents { margin: 1rem 0; padding: 0.5rem 1rem; background: var(--raised); border-radius: 6px; }
.contents ul { list-style: none; padding: 0; }
.contents .rank-3 { padding-left: 1.25rem; }
summary { padding-block: 0.25rem; cursor: pointer; font-weight: 600; }
.neighbours { display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; margin-top: 3rem; }
.about { color: var(--faint); font-size: 0.9rem; }
#pages { border-top: 1px solid var(--line); background: var(--raised); }
#pages ul { list-style: none; margin: 0.25rem 0 0.75rem; padding: 0; }
#pages li a { display: block; padding: 0.3rem 0.5rem; color: var(--text); text-decoration: none; border-radius: 4px; }
#pages li a:hover { text-decoration: underline; }
#pages [aria-current] { background: var(--link); color: var(--back); }
@media (max-width: 49.99rem) {
  thead { position: absolute; left: -100rem; }
  table, tbody, tr, td { display: block; }
  tr { padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
  td { padding: 0.1rem 0; border: 0; }
  td.empty { display: none; }
  td + td::before { content: attr(data-label) ": "; color: var(--faint); }
  td + td[data-label=""]::before { content: none; }
}
@media (min-width: 50rem) {
  body { display: grid; grid-template: auto 1fr / 18rem minmax(0, 1fr); }
  header { grid-column: 1 / -1; }
  header .menu { display: none; }
  #pages {
    grid-area: 2 / 1;
    position: sticky;
    top: 3.4rem;
    height: calc(100vh - 3.4rem);
    overflow-y: auto;
    border-right: 1px solid var(--line);
    border-top: 0;
    font-size: 0.92rem;
  }
  main { grid-area: 2 / 2; padding: 1.5rem 2.5rem 4rem; width: 100%; margin-inline: auto; }
}
`;
