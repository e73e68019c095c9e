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
