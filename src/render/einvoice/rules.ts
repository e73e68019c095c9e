import { prefixOf } from './arithmetic.ts';
import { isCode } from './code-lists.ts';
import { type Exact, textOf, times, ZERO } from './decimals.ts';
import { type Facts, hasAny, numberAt, sum, type Taxed, vatIdOf } from './facts.ts';
import { quoted, type Report } from './report.ts';
import { all, type Node, one, textAt } from './tree.ts';

/** VAT categories (UNTDID 5305), and whether they have VAT. */
export const CATEGORIES: Readonly<Record<string, 'rated' | 'zero' | 'exempt'>> = {
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

/** Those that are credit notes: nothing is to be paid for them. */
const CREDIT_NOTES = '81 83 261 262 296 308 381 396 420 458 502 503 532'.split(' ');

const TAX_REPRESENTATIVE = 'SellerTaxRepresentativeTradeParty';
/** The prefix of VAT identifiers of Greece, which is no country code. */
const GREEK_PREFIX = 'EL';
/** A date of CII in format 102. */
const DAY = /^(\d{4})(\d{2})(\d{2})$/;

/** The rules of EN 16931 that compute nothing. @param profile whether it has lines, and more than the smallest one. */
export function checkRules(
  facts: Facts,
  profile: { readonly hasLines: boolean; readonly isMinimum: boolean },
  report: Report,
): void {
  checkDay(one(facts.document, 'IssueDateTime'), 'BT-2', report);
  checkDay(one(facts.settlement, 'SpecifiedTradePaymentTerms/DueDateDateTime'), 'BT-9', report);
  checkParties(facts, profile.isMinimum, report);
  checkLines(facts, report);
  checkCategories(facts, profile, report);
  if (profile.isMinimum) return;
  checkPayment(facts, report);
  checkPeriod(one(facts.settlement, 'BillingSpecifiedPeriod'), report);
  for (const { isCharge } of facts.adjustments.filter(({ hasReason }) => !hasReason))
    if (isCharge) report.add('BT-104', 'BR-38', 'a charge needs a reason, or the code of one (BT-105)');
    else report.add('BT-97', 'BR-33', 'an allowance needs a reason, or the code of one (BT-98)');
}

function checkParties(facts: Facts, isMinimum: boolean, report: Report): void {
  const { agreement, document } = facts;
  const seller = one(agreement, 'SellerTradeParty');
  const buyer = one(agreement, 'BuyerTradeParty');
  const representative = one(agreement, TAX_REPRESENTATIVE);
  const country = 'PostalTradeAddress/CountryID';
  report.need(document, 'ID', 'BT-1', 'BR-2', 'the number of the invoice');
  report.need(seller, 'Name', 'BT-27', 'BR-6', 'the name of the seller');
  report.need(buyer, 'Name', 'BT-44', 'BR-7', 'the name of the buyer');
  report.need(seller, country, 'BT-40', 'BR-9', "the country of the seller's address");
  if (!isMinimum) report.need(buyer, country, 'BT-55', 'BR-11', "the country of the buyer's address");
  if (!hasAny(seller, ['ID', 'GlobalID', 'SpecifiedLegalOrganization/ID']) && vatIdOf(seller) === undefined)
    report.add(
      'BT-29',
      'BR-CO-26',
      'the seller needs an identifier (BT-29), a registration (BT-30) or a VAT identifier (BT-31)',
    );
  const vatIds = [
    [seller, 'BT-31'],
    [buyer, 'BT-48'],
    [representative, 'BT-63'],
  ] as const;
  for (const [party, term] of vatIds) {
    const id = vatIdOf(party);
    if (id !== undefined && !id.startsWith(GREEK_PREFIX) && !isCode('country', id.slice(0, 2)))
      report.add(
        term,
        'BR-CO-9',
        `${quoted(id)} does not begin with the code of a country, as DE123456789 does`,
      );
  }
}

function checkLines({ lines }: Facts, report: Report): void {
  for (const { id, net, quantity, unit, price, gross, base, adjustments } of lines) {
    const where = `line ${id}`;
    if (unit === undefined || unit === '')
      report.add('BT-130', 'BR-23', 'the unit of the quantity is required', where);
    if ((price ?? ZERO) < ZERO) report.add('BT-146', 'BR-27', 'a price must not be negative', where);
    if ((gross ?? ZERO) < ZERO) report.add('BT-148', 'BR-28', 'a price must not be negative', where);
    if (base !== undefined && base <= ZERO) report.add('BT-149', undefined, 'must be more than 0', where);
    for (const { isCharge } of adjustments.filter(({ hasReason }) => !hasReason))
      if (isCharge) report.add('BT-144', 'BR-44', 'a charge needs a reason, or its code (BT-145)', where);
      else report.add('BT-139', 'BR-42', 'an allowance needs a reason, or its code (BT-140)', where);
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
  if (vat.length === 0) report.add('BG-23', 'BR-CO-18', 'the VAT breakdown is required');
  const check = ({ category, rate }: Taxed, term: string, rateTerm: string, where?: string): void => {
    const kind = CATEGORIES[category ?? ''];
    if (kind === undefined) {
      const problem = `${quoted(category)} is no VAT category: S, Z, E, AE, K, G, O, L, M or B`;
      report.add(term, 'BR-CL-17', problem, where);
      return;
    }
    const rule = `${prefixOf(category)}-5`;
    if (category === 'O') {
      if (rate !== undefined)
        report.add(rateTerm, rule, 'there is no rate where VAT does not apply (O)', where);
    } else if (category === 'S') {
      if (rate === undefined || rate <= ZERO)
        report.add(rateTerm, rule, 'must be more than 0 for category S', where);
    } else if (kind !== 'rated' && rate !== ZERO) {
      report.add(rateTerm, rule, `must be 0 for category ${category}`, where);
    }
    if (vat.some((row) => row.category === category && (row.rate ?? ZERO) === (rate ?? ZERO))) return;
    const problem = `the VAT breakdown has no row of category ${category} with the rate of ${term}`;
    report.add('BG-23', `${prefixOf(category)}-1`, problem, where);
  };
  for (const line of lines) check(line, 'BT-151', 'BT-152', `line ${line.id}`);
  for (const each of adjustments)
    if (each.isCharge) check(each, 'BT-102', 'BT-103');
    else check(each, 'BT-95', 'BT-96');
  for (const row of vat) check(row, 'BT-118', 'BT-119');
  // Of the rated categories, official validators let a row of nothing pass.
  const taxed = new Set([...lines, ...adjustments].map(({ category }) => category));
  for (const { category, amount, hasReason } of vat) {
    const kind = CATEGORIES[category ?? ''];
    const prefix = prefixOf(category);
    if (hasLines && kind !== 'rated' && !taxed.has(category))
      report.add(
        'BG-23',
        `${prefix}-1`,
        `there is a row of category ${category}, which no line, allowance or charge has`,
      );
    if (kind === 'exempt') {
      if (!hasReason)
        report.add('BT-120', `${prefix}-10`, `category ${category} needs a reason, or its code (BT-121)`);
      if (amount !== ZERO) report.add('BT-117', `${prefix}-9`, `must be 0 for category ${category}`);
    } else if (kind !== undefined && hasReason) {
      report.add('BT-120', `${prefix}-10`, `category ${category} has no reason of an exemption`);
    }
  }
  const seen = new Set<string>();
  for (const { category, rate } of vat) {
    const key = `${category} ${rate ?? ZERO}`;
    if (seen.has(key))
      report.add('BG-23', undefined, `there are two rows of category ${category} with one rate`);
    seen.add(key);
  }
  const seller = one(agreement, 'SellerTradeParty');
  const buyer = one(agreement, 'BuyerTradeParty');
  const represented = vatIdOf(one(agreement, TAX_REPRESENTATIVE)) !== undefined;
  const categories = new Set(vat.map(({ category }) => category ?? ''));
  const hasVatId = vatIdOf(seller) !== undefined || represented;
  const hasNumber = hasVatId || all(seller, 'SpecifiedTaxRegistration').length > 0;
  for (const category of categories) {
    if (category === 'O' || CATEGORIES[category] === undefined) continue;
    const isAbroad = category === 'K' || category === 'G';
    if (isAbroad ? !hasVatId : !hasNumber)
      report.add(
        'BT-31',
        `${prefixOf(category)}-2`,
        `category ${category} needs the VAT identifier of the seller${isAbroad ? '' : ', its tax number (BT-32),'} or a representative (BT-63)`,
      );
  }
  if (categories.has('O')) {
    const without = 'must be left out where VAT does not apply (O)';
    if (vatIdOf(seller) !== undefined) report.add('BT-31', 'BR-O-2', without);
    if (vatIdOf(buyer) !== undefined) report.add('BT-48', 'BR-O-2', without);
    if (represented) report.add('BT-63', 'BR-O-2', without);
    if (categories.size !== 1) report.add('BG-23', 'BR-O-11', 'category O goes together with no other one');
  }
  const registration = textAt(buyer, 'SpecifiedLegalOrganization/ID');
  if (categories.has('AE') && vatIdOf(buyer) === undefined && registration === undefined) {
    const problem = 'category AE needs the VAT identifier of the buyer, or its registration (BT-47)';
    report.add('BT-48', 'BR-AE-2', problem);
  }
  if (categories.has('B')) {
    const parties = [seller, buyer, one(agreement, TAX_REPRESENTATIVE), one(delivery, 'ShipToTradeParty')];
    const countries = parties.flatMap((party) => textAt(party, 'PostalTradeAddress/CountryID') ?? []);
    if (countries.some((country) => country !== 'IT'))
      report.add('BT-151', 'BR-B-1', 'category B (split payment) is for Italian invoices alone');
    if (categories.has('S')) report.add('BG-23', 'BR-B-2', 'category B does not go together with category S');
  }
  if (!categories.has('K')) return;
  if (vatIdOf(buyer) === undefined)
    report.add('BT-48', 'BR-IC-2', 'category K needs the VAT identifier of the buyer');
  const isDated =
    one(delivery, 'ActualDeliverySupplyChainEvent') !== undefined ||
    one(settlement, 'BillingSpecifiedPeriod') !== undefined;
  if (!isDated)
    report.add('BT-72', 'BR-IC-11', 'category K needs the date of the delivery, or a period (BG-14)');
  const country = textAt(delivery, 'ShipToTradeParty/PostalTradeAddress/CountryID');
  if (hasLines && country === undefined)
    report.add('BT-80', 'BR-IC-12', 'category K needs the country of the delivery');
}

function checkPayment({ document, settlement, totals }: Facts, report: Report): void {
  const due = numberAt(totals, 'DuePayableAmount') ?? ZERO;
  const isCredit = CREDIT_NOTES.includes(textAt(document, 'TypeCode') ?? '');
  const terms = [
    'SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString',
    'SpecifiedTradePaymentTerms/Description',
  ];
  if (due > ZERO && !isCredit && !hasAny(settlement, terms))
    report.add(
      'BT-9',
      'BR-CO-25',
      'an amount that is due needs the date when it is due, or terms of payment (BT-20)',
    );
  const tax = all(settlement, 'ApplicableTradeTax');
  const both =
    tax.some((t) => one(t, 'TaxPointDate') !== undefined) &&
    tax.some((t) => one(t, 'DueDateTypeCode') !== undefined);
  if (both) report.add('BT-7', 'BR-CO-3', 'must not be given together with BT-8');
  for (const means of all(settlement, 'SpecifiedTradeSettlementPaymentMeans')) {
    const account = one(means, 'PayeePartyCreditorFinancialAccount');
    const isTransfer = ['30', '58'].includes(textAt(means, 'TypeCode') ?? '');
    if (isTransfer && !hasAny(account, ['IBANID', 'ProprietaryID']))
      report.add('BT-84', 'BR-61', 'a transfer needs the account that is paid to');
  }
}

function checkPeriod(period: Node | undefined, report: Report): void {
  const start = textAt(period, 'StartDateTime/DateTimeString');
  const end = textAt(period, 'EndDateTime/DateTimeString');
  if (start !== undefined && end !== undefined && end < start)
    report.add('BT-74', 'BR-29', 'is before the first day');
}

function checkDay(date: Node | undefined, term: string, report: Report): void {
  const day = date && textAt(date, 'DateTimeString');
  if (day === undefined) return;
  const [, year, month, dayOfMonth] = DAY.exec(day) ?? [];
  const iso = `${year}-${month}-${dayOfMonth}`;
  const read = new Date(`${iso}T00:00:00Z`);
  const exists = !Number.isNaN(read.getTime()) && read.toISOString().startsWith(iso);
  if (!exists) report.add(term, undefined, `${quoted(day)} is no date of the form 20261130`);
}
