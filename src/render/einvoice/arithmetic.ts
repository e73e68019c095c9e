import { type Exact, exactOf, rounded, textOf, times, ZERO } from './decimals.ts';
import { type Facts, numberAt, sum, type Taxed, type VatFacts } from './facts.ts';
import type { Report } from './report.ts';
import { all, one } from './tree.ts';

const HUNDRED = 100n;
/** What official validators let pass between a VAT amount and its computation, in the invoice's currency: less than 1. */
const UNIT: Exact = 10n ** 20n;

/** The rules of EN 16931 that compute: each sum is exact to the last digit. */
export function checkArithmetic(facts: Facts, hasLines: boolean, report: Report): void {
  checkDecimals(facts, report);
  checkTotals(facts, hasLines, report);
  checkVat(facts, hasLines, report);
  for (const line of facts.lines) {
    const { id, gross, discount, price } = line;
    if (gross !== undefined && price !== undefined)
      report.same('BT-146', undefined, price, gross - (discount ?? ZERO), 'BT-148 less BT-147', `line ${id}`);
  }
}

/** Amounts have at most two decimals (BR-DEC-01 to BR-DEC-28). */
function checkDecimals({ totals, lines, adjustments, vat }: Facts, report: Report): void {
  const check = (term: string, value: Exact | undefined, where?: string): void => {
    if (value !== undefined && rounded(value, 2) !== value)
      report.add(term, 'BR-DEC', `is ${textOf(value)}, and amounts have at most two decimals`, where);
  };
  for (const [term, path] of TOTALS) check(term, numberAt(totals, path));
  for (const { id, net, adjustments: own } of lines) {
    check('BT-131', net, `line ${id}`);
    for (const { isCharge, amount } of own) check(isCharge ? 'BT-141' : 'BT-136', amount, `line ${id}`);
  }
  for (const { isCharge, amount } of adjustments) check(isCharge ? 'BT-99' : 'BT-92', amount);
  for (const { base, amount } of vat) {
    check('BT-116', base);
    check('BT-117', amount);
  }
}

const TOTALS = [
  ['BT-106', 'LineTotalAmount'],
  ['BT-107', 'AllowanceTotalAmount'],
  ['BT-108', 'ChargeTotalAmount'],
  ['BT-109', 'TaxBasisTotalAmount'],
  ['BT-112', 'GrandTotalAmount'],
  ['BT-113', 'TotalPrepaidAmount'],
  ['BT-114', 'RoundingAmount'],
  ['BT-115', 'DuePayableAmount'],
] as const;

function checkTotals(facts: Facts, hasLines: boolean, report: Report): void {
  const { totals, lines, adjustments, vat } = facts;
  const at = Object.fromEntries(TOTALS.map(([term, path]) => [term, numberAt(totals, path)]));
  const [inLines, withoutVat, withVat] = [at['BT-106'], at['BT-109'], at['BT-112']];
  const [allowances, charges] = [at['BT-107'] ?? ZERO, at['BT-108'] ?? ZERO];
  if (hasLines)
    report.same('BT-106', 'BR-CO-10', inLines, sum(lines.map(({ net }) => net)), 'the sum of BT-131');
  const amounts = (charged: boolean) =>
    sum(adjustments.filter((a) => a.isCharge === charged).map((a) => a.amount));
  // The smallest profile has neither the amounts nor what they are the sum of.
  if (inLines !== undefined) {
    report.same('BT-107', 'BR-CO-11', allowances, amounts(false), 'the sum of BT-92');
    report.same('BT-108', 'BR-CO-12', charges, amounts(true), 'the sum of BT-99');
    report.same(
      'BT-109',
      'BR-CO-13',
      withoutVat,
      inLines - allowances + charges,
      'BT-106 less BT-107 plus BT-108',
    );
  }
  const total = taxTotal(facts);
  if (vat.length > 0)
    report.same(
      'BT-110',
      'BR-CO-14',
      total ?? ZERO,
      sum(vat.map(({ amount }) => amount)),
      'the sum of BT-117',
    );
  report.same('BT-112', 'BR-CO-15', withVat, (withoutVat ?? ZERO) + (total ?? ZERO), 'BT-109 plus BT-110');
  const due = (withVat ?? ZERO) - (at['BT-113'] ?? ZERO) + (at['BT-114'] ?? ZERO);
  // The smallest profile has no prepaid amount, of which BT-115 is without.
  if (inLines !== undefined)
    report.same('BT-115', 'BR-CO-16', at['BT-115'], due, 'BT-112 less BT-113 plus BT-114');
}

/** BT-110: the total in the currency of the invoice. */
function taxTotal({ totals, currency }: Facts): Exact | undefined {
  const found = all(totals, 'TaxTotalAmount');
  const own = found.find(({ attributes }) => attributes.currencyID === currency) ?? found[0];
  return own && exactOf(own.text);
}

function checkVat(facts: Facts, hasLines: boolean, report: Report): void {
  for (const row of facts.vat) {
    const where = `VAT category ${row.category}${row.rate === undefined ? '' : `, ${textOf(row.rate, 0)} %`}`;
    const parts = partsOf(facts, row);
    if (hasLines) {
      const rule = `${prefixOf(row.category)}-8`;
      const expected = sum(parts);
      report.same(
        'BT-116',
        rule,
        row.base,
        expected,
        'the sum of BT-131 and BT-99 less BT-92 of the category and rate',
        where,
      );
    }
    if (row.base === undefined || row.amount === undefined) continue;
    const exact = times(row.base, row.rate ?? ZERO) / HUNDRED;
    const expected = rounded(exact, 2);
    if (row.amount === expected) continue;
    const difference = row.amount > exact ? row.amount - exact : exact - row.amount;
    if (difference <= allowedDifference(hasLines, parts.length)) continue;
    report.same('BT-117', 'BR-CO-17', row.amount, expected, 'BT-116 times BT-119 in percent', where);
  }
}

/** VAT may have been rounded line by line: half a hundredth for each. Without lines nobody knows. */
function allowedDifference(hasLines: boolean, parts: number): Exact {
  if (!hasLines) return UNIT - 1n;
  return parts > 1 ? (UNIT / 200n) * BigInt(parts) : ZERO;
}

/** What a row of the VAT breakdown is the sum of. */
function partsOf({ lines, adjustments }: Facts, { category, rate }: VatFacts): Exact[] {
  const isOf = (other: Taxed): boolean =>
    other.category === category && (other.rate ?? ZERO) === (rate ?? ZERO);
  return [
    ...lines.filter(isOf).map(({ net }) => net ?? ZERO),
    ...adjustments.filter(isOf).map(({ isCharge, amount = ZERO }) => (isCharge ? amount : -amount)),
  ];
}

/** How the rules call the categories (UNTDID 5305). */
const RULES: Readonly<Record<string, string>> = { K: 'IC', L: 'AF', M: 'AG' };

/** What the names of the rules of a category begin with. */
export function prefixOf(category: string | undefined): string {
  return `BR-${RULES[category ?? ''] ?? category}`;
}

/** Whether the totals of a currency for VAT are there (BR-53). */
export function checkTaxCurrency({ settlement, totals }: Facts, report: Report): void {
  const currency = one(settlement, 'TaxCurrencyCode')?.text;
  const has = all(totals, 'TaxTotalAmount').some(({ attributes }) => attributes.currencyID === currency);
  if (currency !== undefined && !has)
    report.add('BT-111', 'BR-53', `is required, as BT-6 names ${currency} as the currency of VAT`);
}
