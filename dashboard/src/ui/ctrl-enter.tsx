import type { ReactNode } from 'react';

/** Two columns in whose fields Ctrl Enter does what the page is for. */
export function CtrlEnter({ onPress, children }: { onPress: () => void; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut of the fields inside
    <div
      className="split"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onPress();
      }}
    >
      {children}
    </div>
  );
}
