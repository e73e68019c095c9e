import type { OptionCases } from './support/cases.ts';
import { ownTemplateCases } from './support/own-template.ts';

export const cases: OptionCases = ownTemplateCases('firstFooterTemplate', 'footerTemplate', [
  '1own1of3',
  '2all',
  '3all',
]);
