/** A body in parts, as a browser sends it, and its media type. Bytes are files. */
export async function formOf(
  parts: Readonly<Record<string, string | Uint8Array>>,
): Promise<{ readonly body: Uint8Array; readonly headers: { readonly 'content-type': string } }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)], { type: 'application/pdf' }), 'document.pdf');
  }
  const response = new Response(form);
  return {
    body: new Uint8Array(await response.arrayBuffer()),
    headers: { 'content-type': response.headers.get('content-type')! },
  };
}
