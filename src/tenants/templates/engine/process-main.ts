/** The main module of a template process. It renders and checks templates, one call at a time. */
import { serve } from '../../../infra/sandbox/serve.ts';
import { TemplateRenderer } from './liquid.ts';
import type { Call } from './protocol.ts';
import { DataSchemas } from './schema/data-schema.ts';
import { errorText } from './template-errors.ts';

const renderer = new TemplateRenderer();
const schemas = new DataSchemas();

serve<Call>((call) => {
  switch (call.kind) {
    case 'render':
      return renderer.render(call);
    case 'check':
      return renderer.check(call.source);
    case 'schema':
      return call.data === undefined ? schemas.check(call.schema) : schemas.errorsOf(call.schema, call.data);
  }
}, errorText);
