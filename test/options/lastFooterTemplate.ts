import type { OptionCases } from './support/cases.ts';
import { ownTemplateCases } from './support/own-template.ts';

export const cases: OptionCases = ownTemplateCases('lastFooterTemplate', 'footerTemplate', [
  '1all',
  '2all',
  '3own3of3',
]);
