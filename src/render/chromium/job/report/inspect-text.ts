/**
 * A part of the inspection, in the scope of INSPECT: adds the fact `garbled` for a document whose letters beyond ASCII are,
 * for the most part, UTF-8 that was read as an encoding of single bytes; or that has replacement characters. Its name is
 * the encoding of the page; its number is 1 if the text was garbled before it came, or 2 for replacement characters.
 */
export const GARBLED = `
  await attempt(() => {
    const read = document.characterSet;
    const text = (document.body?.textContent ?? '').slice(0, 200000);
    if (text.includes('\\ufffd')) return add('garbled', null, read, [2]);
    const other = text.match(/[^\\0-\\x7f]/g)?.length ?? 0;
    if (other === 0) return;
    // Characters of the bytes 80 to BF, which continue a character of UTF-8, and of those that begin one.
    const decoder = new TextDecoder(/^utf-/i.test(read) ? 'windows-1252' : read);
    const between = (from, to) => {
      let set = '';
      for (let byte = from; byte <= to; byte++) {
        const character = decoder.decode(new Uint8Array([byte]));
        if (character.length === 1 && character > '\\x7f' && character !== '\\ufffd') set += '\\\\u' + character.charCodeAt(0).toString(16).padStart(4, '0');
      }
      return set === '' ? '(?!)' : '[' + set + ']';
    };
    const next = between(0x80, 0xbf);
    const sequence = new RegExp(between(0xc2, 0xdf) + next + '|' + between(0xe0, 0xef) + next + '{2}|' + between(0xf0, 0xf4) + next + '{3}', 'g');
    const found = text.match(sequence) ?? [];
    const share = found.join('').length / other;
    const isGarbled = /^utf-/i.test(read) ? found.length > 1 && share > 0.9 : found.length > 0 && share > 0.8;
    if (isGarbled) add('garbled', null, read, [/^utf-/i.test(read) ? 1 : 0]);
  });
`;
