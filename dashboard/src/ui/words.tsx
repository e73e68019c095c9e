/** A sentence of the service, in which `code` stands between backticks. */
export function Words({ text }: { text: string }) {
  return text.split('`').map((part, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text, which have no other name
    i % 2 === 1 ? <code key={i}>{part}</code> : <bdi key={i}>{part}</bdi>,
  );
}
