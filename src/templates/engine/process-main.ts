/** The main module of a template process. It renders and checks templates, one call at a time. */
import { serve } from '../../sandbox/serve.ts';
import { TemplateRenderer } from './liquid.ts';
import type { Call } from './protocol.ts';
import { errorText } from './template-errors.ts';

const renderer = new TemplateRenderer();

serve<Call>((call) => {
  if (call.kind === 'render') return renderer.render(call);
  renderer.check(call.source);
  return '';
}, errorText);
