/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

/** Text within a line that is code, also if it has backticks. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Facts that stand below a heading, one a line; those without a text are left out. */
export function facts(entries: Readonly<Record<string, string>>): string {
  const given = Object.entries(entries).filter(([, text]) => text !== '');
  return given.map(([name, text]) => `- **${name}:** ${text}\n`).join('');
}

/** The fields of an object, a line each, below its facts. */
export function fieldList(lines: readonly string[]): string {
  // Without a text in between, two lists would be one.
  return lines.length === 0 ? '' : `\nIts fields:\n\n${lines.join('')}`;
}
