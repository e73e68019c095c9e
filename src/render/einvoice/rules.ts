import { RULES } from './arithmetic.ts';
import { type Exact, textOf, times, ZERO } from './decimals.ts';
import { type Facts, hasAny, numberAt, sum, vatIdOf } from './facts.ts';
import { quoted, type Report } from './report.ts';
import { all, type Node, one, textAt } from './tree.ts';

/** VAT categories (UNTDID 5305), and whether they have VAT. */
const CATEGORIES: Readonly<Record<string, 'rated' | 'zero' | 'exempt'>> = {
  S: 'rated',
  L: 'rated',
  M: 'rated',
  Z: 'zero',
  E: 'exempt',
  AE: 'exempt',
  K: 'exempt',
  G: 'exempt',
  O: 'exempt',
  B: 'rated',
};

/** Kinds of invoices that EN 16931 knows (BT-3, UNTDID 1001). */
const TYPE_CODES = new Set(
  (
    '71 80 81 82 83 84 102 130 202 203 204 211 218 219 261 262 295 296 308 325 326 331 380 381 382 383 384 385 386 ' +
    '387 388 389 390 393 394 395 396 420 456 457 458 471 472 473 500 501 502 503 527 532 553 575 623 633 751 780 817 ' +
    '870 875 876 877 935'
  ).split(' '),
);
/** Those that are credit notes: nothing is to be paid for them. */
const CREDIT_NOTES = new Set([
  '81',
  '83',
  '261',
  '262',
  '296',
  '308',
  '381',
  '396',
  '420',
  '458',
  '502',
  '503',
  '532',
]);

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));
const REGIONS = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** Prefixes of VAT identifiers that are no country codes: Greece and Northern Ireland. */
const VAT_PREFIXES = new Set(['EL', 'XI']);
/** A date of CII in format 102. */
const DAY = /^(\d{4})(\d{2})(\d{2})$/;

/** The rules of EN 16931 that compute nothing. @param profile whether it has lines, and more than the smallest one. */
export function checkRules(
  facts: Facts,
  profile: { readonly hasLines: boolean; readonly isMinimum: boolean },
  report: Report,
): void {
  checkCodes(facts, report);
  checkParties(facts, profile.isMinimum, report);
  checkLines(facts, report);
  checkCategories(facts, profile, report);
  if (profile.isMinimum) return;
  checkPayment(facts, report);
  checkPeriod(one(facts.settlement, 'BillingSpecifiedPeriod'), 'BT-74', 'BR-29', report);
  for (const { isCharge, hasReason } of facts.adjustments)
    if (isCharge)
      report.require(hasReason, 'BT-104', 'BR-38', 'a charge needs a reason, or the code of one (BT-105)');
    else
      report.require(hasReason, 'BT-97', 'BR-33', 'an allowance needs a reason, or the code of one (BT-98)');
}

function checkCodes({ document, settlement, currency }: Facts, report: Report): void {
  const type = textAt(document, 'TypeCode');
  report.require(
    type !== undefined && TYPE_CODES.has(type),
    'BT-3',
    'BR-CL-01',
    `${quoted(type)} is no code of an invoice or credit note (UNTDID 1001), such as 380`,
  );
  const check = (term: string, code: string | undefined, rule: string): void =>
    report.require(
      code === undefined || CURRENCIES.has(code),
      term,
      rule,
      `${quoted(code)} is no currency (ISO 4217), such as EUR`,
    );
  check('BT-5', currency, 'BR-CL-04');
  check('BT-6', textAt(settlement, 'TaxCurrencyCode'), 'BR-CL-05');
  checkDay(one(document, 'IssueDateTime'), 'BT-2', report);
  checkDay(one(settlement, 'SpecifiedTradePaymentTerms/DueDateDateTime'), 'BT-9', report);
}

function checkParties(facts: Facts, isMinimum: boolean, report: Report): void {
  const { agreement, delivery, document } = facts;
  const seller = one(agreement, 'SellerTradeParty');
  const buyer = one(agreement, 'BuyerTradeParty');
  const representative = one(agreement, 'SellerTaxRepresentativeTradeParty');
  const need = (party: Node | undefined, path: string, term: string, rule: string, what: string): void =>
    report.require(textAt(party, path) !== undefined, term, rule, `${what} is required`);
  report.require(
    textAt(document, 'ID') !== undefined,
    'BT-1',
    'BR-2',
    'the number of the invoice is required',
  );
  need(seller, 'Name', 'BT-27', 'BR-6', 'the name of the seller');
  need(buyer, 'Name', 'BT-44', 'BR-7', 'the name of the buyer');
  need(seller, 'PostalTradeAddress/CountryID', 'BT-40', 'BR-9', "the country of the seller's address");
  if (!isMinimum)
    need(buyer, 'PostalTradeAddress/CountryID', 'BT-55', 'BR-11', "the country of the buyer's address");
  report.require(
    hasAny(seller, ['ID', 'GlobalID', 'SpecifiedLegalOrganization/ID']) || vatIdOf(seller) !== undefined,
    'BT-29',
    'BR-CO-26',
    'the seller needs an identifier (BT-29), a registration (BT-30) or a VAT identifier (BT-31)',
  );
  const countries = [
    [seller, 'BT-40'],
    [buyer, 'BT-55'],
    [representative, 'BT-69'],
    [one(delivery, 'ShipToTradeParty'), 'BT-80'],
  ] as const;
  for (const [party, term] of countries) {
    const country = textAt(party, 'PostalTradeAddress/CountryID');
    report.require(
      country === undefined || isCountry(country),
      term,
      'BR-CL-14',
      `${quoted(country)} is no country (ISO 3166-1), such as DE`,
    );
  }
  const vatIds = [
    [seller, 'BT-31'],
    [buyer, 'BT-48'],
    [representative, 'BT-63'],
  ] as const;
  for (const [party, term] of vatIds) {
    const id = vatIdOf(party);
    report.require(
      id === undefined || isCountry(id.slice(0, 2)) || VAT_PREFIXES.has(id.slice(0, 2)),
      term,
      'BR-CO-9',
      `${quoted(id)} does not begin with the code of a country, as DE123456789 does`,
    );
  }
}

function checkLines({ lines }: Facts, report: Report): void {
  for (const { id, net, quantity, unit, price, gross, base, adjustments } of lines) {
    const where = `line ${id}`;
    report.require(
      unit !== undefined && unit !== '',
      'BT-130',
      'BR-23',
      'the unit of the quantity is required',
      where,
    );
    report.require((price ?? ZERO) >= ZERO, 'BT-146', 'BR-27', 'a price must not be negative', where);
    report.require((gross ?? ZERO) >= ZERO, 'BT-148', 'BR-28', 'a price must not be negative', where);
    report.require(base === undefined || base > ZERO, 'BT-149', undefined, 'must be more than 0', where);
    for (const { isCharge, hasReason } of adjustments)
      if (isCharge)
        report.require(hasReason, 'BT-144', 'BR-44', 'a charge needs a reason, or its code (BT-145)', where);
      else
        report.require(
          hasReason,
          'BT-139',
          'BR-42',
          'an allowance needs a reason, or its code (BT-140)',
          where,
        );
    if (net === undefined || quantity === undefined || price === undefined || (base ?? 1n) <= ZERO) continue;
    const own = sum(adjustments.map(({ isCharge, amount = ZERO }) => (isCharge ? amount : -amount)));
    const product = (times(quantity, price) * 10n ** 20n) / (base ?? 10n ** 20n);
    const difference = net - (product + own);
    // However it has been rounded.
    if (difference >= CENT || difference <= -CENT)
      report.add(
        'BT-131',
        'PEPPOL-EN16931-R120',
        `is ${textOf(net)}, and BT-129 times BT-146${base === undefined ? '' : ' by BT-149'} less BT-136 plus BT-141 is ${textOf(product + own)}`,
        where,
      );
  }
}

const CENT: Exact = 10n ** 18n;

function checkCategories(
  facts: Facts,
  { hasLines, isMinimum }: { hasLines: boolean; isMinimum: boolean },
  report: Report,
): void {
  const { lines, adjustments, vat, agreement, delivery, settlement } = facts;
  if (isMinimum) return;
  report.require(vat.length > 0, 'BG-23', 'BR-CO-18', 'the VAT breakdown is required');
  const used = [
    ...lines.map(({ category, rate, id }) => ({
      category,
      rate,
      term: 'BT-151',
      rateTerm: 'BT-152',
      where: `line ${id}`,
    })),
    ...adjustments.map(({ isCharge, category, rate }) => ({
      ...{ category, rate, where: undefined },
      ...(isCharge ? { term: 'BT-102', rateTerm: 'BT-103' } : { term: 'BT-95', rateTerm: 'BT-96' }),
    })),
    ...vat.map(({ category, rate }) => ({
      category,
      rate,
      term: 'BT-118',
      rateTerm: 'BT-119',
      where: undefined,
    })),
  ];
  for (const { category, rate, term, rateTerm, where } of used) {
    const kind = CATEGORIES[category ?? ''];
    if (kind === undefined) {
      report.add(
        term,
        'BR-CL-17',
        `${quoted(category)} is no VAT category: S, Z, E, AE, K, G, O, L or M`,
        where,
      );
      continue;
    }
    const rule = `BR-${RULES[category!] ?? category}-5`;
    if (category === 'O') {
      report.require(
        rate === undefined,
        rateTerm,
        rule,
        'there is no rate where VAT does not apply (O)',
        where,
      );
    } else if (category === 'S') {
      report.require(
        rate !== undefined && rate > ZERO,
        rateTerm,
        rule,
        'must be more than 0 for category S',
        where,
      );
    } else if (kind !== 'rated') {
      report.require(rate === ZERO, rateTerm, rule, `must be 0 for category ${category}`, where);
    }
    const isListed = vat.some((row) => row.category === category && (row.rate ?? ZERO) === (rate ?? ZERO));
    report.require(
      isListed,
      'BG-23',
      `BR-${RULES[category!] ?? category}-1`,
      `the VAT breakdown has no row of category ${category} with the rate of ${term}`,
      where,
    );
  }
  for (const { category, amount, hasReason } of vat) {
    const kind = CATEGORIES[category ?? ''];
    const prefix = `BR-${RULES[category ?? ''] ?? category}`;
    if (kind === 'exempt') {
      report.require(
        hasReason,
        'BT-120',
        `${prefix}-10`,
        `category ${category} needs a reason, or its code (BT-121)`,
      );
      report.require(amount === ZERO, 'BT-117', `${prefix}-9`, `must be 0 for category ${category}`);
    } else if (kind !== undefined) {
      report.require(
        !hasReason,
        'BT-120',
        `${prefix}-10`,
        `category ${category} has no reason of an exemption`,
      );
    }
  }
  const seen = new Set<string>();
  for (const { category, rate } of vat) {
    const key = `${category} ${rate ?? ZERO}`;
    report.require(
      !seen.has(key),
      'BG-23',
      undefined,
      `there are two rows of category ${category} with one rate`,
    );
    seen.add(key);
  }
  const seller = one(agreement, 'SellerTradeParty');
  const buyer = one(agreement, 'BuyerTradeParty');
  const represented = vatIdOf(one(agreement, 'SellerTaxRepresentativeTradeParty')) !== undefined;
  const categories = new Set(vat.map(({ category }) => category ?? ''));
  const hasVatId = vatIdOf(seller) !== undefined || represented;
  const hasNumber = hasVatId || all(seller, 'SpecifiedTaxRegistration').length > 0;
  for (const category of categories) {
    const rule = `BR-${RULES[category] ?? category}-2`;
    if (category === 'O' || CATEGORIES[category] === undefined) continue;
    const isAbroad = category === 'K' || category === 'G';
    report.require(
      isAbroad ? hasVatId : hasNumber,
      'BT-31',
      rule,
      `category ${category} needs the VAT identifier of the seller${isAbroad ? '' : ', its tax number (BT-32),'} or a representative (BT-63)`,
    );
  }
  if (categories.has('O')) {
    const without = 'must be left out where VAT does not apply (O)';
    report.require(vatIdOf(seller) === undefined, 'BT-31', 'BR-O-2', without);
    report.require(vatIdOf(buyer) === undefined, 'BT-48', 'BR-O-2', without);
    report.require(!represented, 'BT-63', 'BR-O-2', without);
    report.require(categories.size === 1, 'BG-23', 'BR-O-11', 'category O goes together with no other one');
  }
  if (categories.has('AE'))
    report.require(
      vatIdOf(buyer) !== undefined || textAt(buyer, 'SpecifiedLegalOrganization/ID') !== undefined,
      'BT-48',
      'BR-AE-2',
      'category AE needs the VAT identifier of the buyer, or its registration (BT-47)',
    );
  if (!categories.has('K')) return;
  report.require(
    vatIdOf(buyer) !== undefined,
    'BT-48',
    'BR-IC-2',
    'category K needs the VAT identifier of the buyer',
  );
  const isDated =
    one(delivery, 'ActualDeliverySupplyChainEvent') !== undefined ||
    one(settlement, 'BillingSpecifiedPeriod') !== undefined;
  report.require(
    isDated,
    'BT-72',
    'BR-IC-11',
    'category K needs the date of the delivery, or a period (BG-14)',
  );
  const country = textAt(delivery, 'ShipToTradeParty/PostalTradeAddress/CountryID');
  if (hasLines)
    report.require(
      country !== undefined,
      'BT-80',
      'BR-IC-12',
      'category K needs the country of the delivery',
    );
}

function checkPayment({ document, settlement, totals }: Facts, report: Report): void {
  const due = numberAt(totals, 'DuePayableAmount') ?? ZERO;
  const isCredit = CREDIT_NOTES.has(textAt(document, 'TypeCode') ?? '');
  const terms = [
    'SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString',
    'SpecifiedTradePaymentTerms/Description',
  ];
  report.require(
    due <= ZERO || isCredit || hasAny(settlement, terms),
    'BT-9',
    'BR-CO-25',
    'an amount that is due needs the date when it is due, or terms of payment (BT-20)',
  );
  const tax = all(settlement, 'ApplicableTradeTax');
  const both =
    tax.some((t) => one(t, 'TaxPointDate') !== undefined) &&
    tax.some((t) => one(t, 'DueDateTypeCode') !== undefined);
  report.require(!both, 'BT-7', 'BR-CO-3', 'must not be given together with BT-8');
  for (const means of all(settlement, 'SpecifiedTradeSettlementPaymentMeans')) {
    const account = one(means, 'PayeePartyCreditorFinancialAccount');
    const isTransfer = ['30', '58'].includes(textAt(means, 'TypeCode') ?? '');
    report.require(
      !isTransfer || hasAny(account, ['IBANID', 'ProprietaryID']),
      'BT-84',
      'BR-61',
      'a transfer needs the account that is paid to',
    );
  }
}

function checkPeriod(period: Node | undefined, term: string, rule: string, report: Report): void {
  const [start, end] = ['StartDateTime', 'EndDateTime'].map((name) =>
    textAt(period, `${name}/DateTimeString`),
  );
  if (start !== undefined && end !== undefined)
    report.require(end >= start, term, rule, 'is before the first day');
}

function checkDay(date: Node | undefined, term: string, report: Report): void {
  const day = date && textAt(date, 'DateTimeString');
  if (day === undefined) return;
  const [, year, month, dayOfMonth] = DAY.exec(day) ?? [];
  const iso = `${year}-${month}-${dayOfMonth}`;
  const read = new Date(`${iso}T00:00:00Z`);
  const exists = !Number.isNaN(read.getTime()) && read.toISOString().startsWith(iso);
  report.require(exists, term, undefined, `${quoted(day)} is no date of the form 20261130`);
}

function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && REGIONS.of(code) !== undefined;
}
