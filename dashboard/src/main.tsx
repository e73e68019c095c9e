import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { App, preload } from './app.tsx';
import { applyPreferences } from './preferences.ts';
import { retryUnlessRefused } from './session.tsx';
import './styles/tokens.css';
import './styles/layout.css';
import './styles/parts.css';

applyPreferences();
preload(window.location.pathname);

// After an upgrade, a page that is open asks for parts that are gone: the new ones come with the page. Once, not for ever.
window.addEventListener('vite:preloadError', () => {
  const before = Number(sessionStorage.getItem('platen-reloaded') ?? 0);
  if (Date.now() - before < 60_000) return;
  sessionStorage.setItem('platen-reloaded', String(Date.now()));
  window.location.reload();
});

const queries = new QueryClient({
  defaultOptions: { queries: { retry: retryUnlessRefused, staleTime: 1000 } },
});

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router base="/dashboard">
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
