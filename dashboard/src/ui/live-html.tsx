import { useEffect, useRef, useState } from 'react';
import { type Sheet, sheetOf } from '../sheet.ts';

/**
 * HTML as it will be printed, more or less, on a sheet of the paper's width. It stands in a page of its own, whose policy lets
 * nothing of it run or load (`public/preview.js`), and stays scrolled where it was when it changes.
 */
export function LiveHtml({ html, options }: { html: string; options: Readonly<Record<string, unknown>> }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  const sheet = JSON.stringify(sheetOf(options));
  useEffect(() => {
    if (!isLoaded) return;
    const message: { html: string; sheet: Sheet } = { html, sheet: JSON.parse(sheet) };
    // Its origin is nobody's, and what it gets is shown to whoever has typed it.
    frame.current?.contentWindow?.postMessage(message, '*');
  }, [isLoaded, html, sheet]);
  return (
    <iframe
      ref={frame}
      className="live"
      title="Live preview"
      src="/dashboard/preview.html"
      onLoad={() => setLoaded(true)}
    />
  );
}
