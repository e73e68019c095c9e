/** Two texts side by side; lines that the other has nowhere are marked. */
export function Compared({
  texts,
}: {
  texts: readonly [
    before: readonly [title: string, text: string],
    after: readonly [title: string, text: string],
  ];
}) {
  return (
    <div className="split">
      {texts.map(([title, text], i) => (
        <figure key={title} className="code">
          <figcaption>{title}</figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
          <pre tabIndex={0}>{marked(text, texts[1 - i]![1])}</pre>
        </figure>
      ))}
    </div>
  );
}

function marked(text: string, other: string) {
  const known = new Set(other.split('\n'));
  return text.split('\n').map((line, i) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its number
    return known.has(line) ? <span key={i}>{`${line}\n`}</span> : <mark key={i}>{`${line}\n`}</mark>;
  });
}
