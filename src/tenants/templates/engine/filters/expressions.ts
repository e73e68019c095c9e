import type { Liquid } from 'liquidjs';
import { DocumentContext } from '../document-context.ts';
import { handlerOf } from './texts.ts';

/** Filters that evaluate an expression for each item of a list. */
const OF_EXPRESSIONS = ['where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_exp', 'find_index_exp'];

/** Lets the items of a list lack what such an expression names: it asks which of them have it. */
export function registerExpressionFilters(liquid: Liquid): void {
  for (const name of OF_EXPRESSIONS) {
    const handler = handlerOf(liquid.filters, name);
    liquid.registerFilter(name, function (...given: [unknown, ...unknown[]]) {
      const evaluation = handler.apply(this, given);
      return this.context instanceof DocumentContext ? this.context.asking(evaluation) : evaluation;
    });
  }
}
