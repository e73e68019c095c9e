import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { App, preload } from './app.tsx';
import { applyPreferences } from './preferences.ts';
import { retryUnlessRefused } from './session.tsx';
import './styles/tokens.css';
import './styles/layout.css';
import './styles/buttons.css';
import './styles/cards.css';
import './styles/forms.css';
import './styles/tables.css';
import './styles/notes.css';
import './styles/states.css';
import './styles/pickers.css';
import './styles/code.css';
import './styles/figures.css';
import './styles/charts.css';
import './styles/dialogs.css';
import './styles/lists.css';
import './styles/swatches.css';

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
