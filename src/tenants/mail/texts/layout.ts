/** The content of a mail, from which its plain text and its HTML are made. */
export interface MailText {
  readonly subject: string;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly paragraph: string }
  /** Names and values, each pair on a line. */
  | { readonly facts: readonly (readonly [name: string, value: string])[] }
  /** A button that opens a page; plain text shows its address. */
  | { readonly button: string; readonly url: string }
  /** A small link to a page; plain text shows its address. */
  | { readonly link: string; readonly url: string };

const SIGNATURE = 'Platen';
const LINE_CHARS = 76;

export function plainTextOf({ blocks }: MailText): string {
  const paragraphs = blocks.map((block) => {
    if ('paragraph' in block) return wrapped(block.paragraph);
    if ('facts' in block) return block.facts.map(([name, value]) => `  ${name}: ${value}`).join('\n');
    const what = 'button' in block ? block.button : block.link;
    return `${wrapped(`${what}:`)}\n${block.url}`;
  });
  return `${[...paragraphs, `-- \n${SIGNATURE}`].join('\n\n')}\n`;
}

/** HTML without external resources and with inline styles, as mail programs require it. */
export function htmlOf({ subject, blocks }: MailText): string {
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(subject)}</title></head>
<body style="margin:0;padding:24px;background:#f4f4f5;font:16px/1.5 Arial,Helvetica,sans-serif;color:#18181b">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#ffffff;border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px">${escaped(subject)}</h1>
${blocks.map(htmlOfBlock).join('\n')}
<p style="margin:24px 0 0;color:#71717a;font-size:14px">${SIGNATURE}</p>
</div>
</body>
</html>
`;
}

function htmlOfBlock(block: Block): string {
  if ('paragraph' in block) return `<p style="margin:0 0 16px">${escaped(block.paragraph)}</p>`;
  if ('facts' in block) {
    const rows = block.facts.map(
      ([name, value]) =>
        `<tr><td style="padding:4px 16px 4px 0;color:#71717a">${escaped(name)}</td><td>${escaped(value)}</td></tr>`,
    );
    return `<table role="presentation" style="margin:0 0 16px;border-collapse:collapse">${rows.join('')}</table>`;
  }
  const url = escaped(block.url);
  if ('link' in block)
    return `<p style="margin:0 0 16px;font-size:14px"><a href="${url}" style="color:#1d4ed8">${escaped(block.link)}</a></p>`;
  return `<p style="margin:0 0 16px"><a href="${url}" style="display:inline-block;padding:10px 16px;background:#1d4ed8;border-radius:6px;color:#ffffff;text-decoration:none">${escaped(block.button)}</a></p>`;
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!);
}

function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && line.length + 1 + word.length > LINE_CHARS) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
