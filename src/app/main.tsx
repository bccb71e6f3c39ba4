import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { followSettings } from './state/estimates.ts';
import { followLink } from './state/link.ts';
import { openRecorded } from './state/rollouts.ts';
import { followRollouts } from './state/selection.ts';
import './theme.css';

followLink();
followSettings();
followRollouts();
void openRecorded();

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
