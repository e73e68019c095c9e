import { useQuery } from '@tanstack/react-query';

/** Light modules around a code, which its readers need (ISO/IEC 18004, 9.1). */
const BORDER = 4;

/** A text as a QR code, which a phone reads from the screen. What draws it is loaded when it is needed. */
export function QrCode({ label, text }: { label: string; text: string }) {
  const code = useQuery({
    queryKey: ['qr-code', text],
    queryFn: async () => (await import('uqr')).encode(text, { border: BORDER }),
    staleTime: Number.POSITIVE_INFINITY,
    // It contains a secret.
    gcTime: 0,
  });
  if (code.data === undefined) return null;
  const { size, data } = code.data;
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={data.map(rowPath).join('')} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}

/** The dark modules of a row. */
function rowPath(row: readonly boolean[], y: number): string {
  return row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('');
}
