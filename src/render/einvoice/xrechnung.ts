import { type Facts, vatIdOf } from './facts.ts';
import { quoted, type Report } from './report.ts';
import { all, type Node, one, textAt } from './tree.ts';

/** Kinds of invoices that are allowed (BR-DE-17). */
const TYPE_CODES = ['326', '380', '384', '389', '381', '875', '876', '877'];
const TRANSFERS = ['30', '58'];
const CARDS = ['48', '54', '55'];
const DIRECT_DEBIT = '59';
const E_MAIL = /^[^@\s]+@([^@.\s]+\.)+[^@.\s]+$/;
/** Coarse, fine and check digits of an address of a German authority. */
const LEITWEG_ID = /^\d{2,12}(-[A-Za-z0-9]{1,30})?-\d{2}$/;
const SKONTO = /^#(SKONTO|VERZUG)#TAGE=\d+#PROZENT=\d+\.\d{2}(#BASISBETRAG=-?\d+\.\d{2})?#$/;

/** The rules of XRechnung 3.0 beyond those of EN 16931. */
export function checkXRechnung(facts: Facts, report: Report): void {
  const { agreement, delivery, settlement, document } = facts;
  const seller = one(agreement, 'SellerTradeParty');
  const buyer = one(agreement, 'BuyerTradeParty');

  const asked = 'the reference of the buyer (for German authorities their Leitweg-ID)';
  report.need(agreement, 'BuyerReference', 'BT-10', 'BR-DE-15', asked);
  const reference = textAt(agreement, 'BuyerReference') ?? '';
  // Only what is written as one is one: other buyers have references of their own.
  if (/^\d{2,12}-/.test(reference) && LEITWEG_ID.test(reference) && !hasCheckDigits(reference))
    report.add('BT-10', undefined, `the check digits of the Leitweg-ID ${quoted(reference)} are wrong`);

  const contact = one(seller, 'DefinedTradeContact');
  if (contact === undefined) {
    report.add('BG-6', 'BR-DE-2', 'the contact of the seller is required');
  } else {
    if ((textAt(contact, 'PersonName') ?? textAt(contact, 'DepartmentName')) === undefined)
      report.add('BT-41', 'BR-DE-5', 'the name of the contact is required');
    const phone = 'TelephoneUniversalCommunication/CompleteNumber';
    const email = 'EmailURIUniversalCommunication/URIID';
    report.need(contact, phone, 'BT-42', 'BR-DE-6', 'the telephone number of the contact');
    report.need(contact, email, 'BT-43', 'BR-DE-7', 'the e-mail address of the contact');
    const number = textAt(contact, phone);
    if (number !== undefined && number.replace(/\D/g, '').length < 3)
      report.add('BT-42', 'BR-DE-27', `${quoted(number)} has fewer than three digits`);
    const mail = textAt(contact, email);
    if (mail !== undefined && !E_MAIL.test(mail))
      report.add('BT-43', 'BR-DE-28', `${quoted(mail)} is no e-mail address`);
  }

  const places = [
    [seller, 'BT-37', 'BR-DE-3', 'BT-38', 'BR-DE-4', 'of the seller'],
    [buyer, 'BT-52', 'BR-DE-8', 'BT-53', 'BR-DE-9', 'of the buyer'],
  ] as const;
  for (const [party, city, cityRule, postCode, postCodeRule, of] of places) {
    report.need(party, 'PostalTradeAddress/CityName', city, cityRule, `the city ${of}`);
    report.need(party, 'PostalTradeAddress/PostcodeCode', postCode, postCodeRule, `the post code ${of}`);
  }
  const shipTo = one(delivery, 'ShipToTradeParty/PostalTradeAddress');
  if (shipTo !== undefined) {
    report.need(shipTo, 'CityName', 'BT-77', 'BR-DE-10', 'the city of the delivery');
    report.need(shipTo, 'PostcodeCode', 'BT-78', 'BR-DE-11', 'the post code of the delivery');
  }
  for (const [party, term, rule] of [
    [seller, 'BT-34', 'PEPPOL-EN16931-R020'],
    [buyer, 'BT-49', 'PEPPOL-EN16931-R010'],
  ] as const)
    report.need(party, 'URIUniversalCommunication/URIID', term, rule, 'the electronic address');

  const rated = facts.vat.filter(({ category }) => category !== 'O');
  if (rated.some(({ rate }) => rate === undefined))
    report.add('BT-119', 'BR-DE-14', 'the VAT rate is required');
  const isTaxed =
    vatIdOf(seller) !== undefined ||
    all(seller, 'SpecifiedTaxRegistration').length > 0 ||
    one(agreement, 'SellerTaxRepresentativeTradeParty') !== undefined;
  if (!isTaxed && rated.length > 0)
    report.add(
      'BT-31',
      'BR-DE-16',
      'the seller needs a VAT identifier, a tax number (BT-32) or a representative (BG-11)',
    );

  const type = textAt(document, 'TypeCode') ?? '';
  if (!TYPE_CODES.includes(type))
    report.add('BT-3', 'BR-DE-17', `is ${quoted(type)}, and XRechnung has ${TYPE_CODES.join(', ')}`);
  if (type === '384' && one(settlement, 'InvoiceReferencedDocument') === undefined)
    report.add('BG-3', 'BR-DE-26', 'a corrected invoice names the invoice that it corrects (BT-25)');
  checkMeans(settlement, report);
  const lines = (textAt(settlement, 'SpecifiedTradePaymentTerms/Description') ?? '').split(/\r?\n/);
  for (const line of lines.map((text) => text.trim()).filter((text) => text.startsWith('#')))
    if (!SKONTO.test(line))
      report.add('BT-20', 'BR-DE-18', `${quoted(line)} is not written as #SKONTO#TAGE=14#PROZENT=2.00#`);
  const names = all(agreement, 'AdditionalReferencedDocument').flatMap(
    (each) => one(each, 'AttachmentBinaryObject')?.attributes.filename ?? [],
  );
  if (new Set(names).size !== names.length)
    report.add('BT-125', 'BR-DE-22', 'two supporting documents have one file name');
}

function checkMeans(settlement: Node | undefined, report: Report): void {
  const means = all(settlement, 'SpecifiedTradeSettlementPaymentMeans');
  if (means.length === 0) report.add('BG-16', 'BR-DE-1', 'how it is paid is required');
  for (const each of means) {
    const code = textAt(each, 'TypeCode') ?? '';
    const creditor = one(each, 'PayeePartyCreditorFinancialAccount');
    const iban = textAt(creditor, 'IBANID');
    if (TRANSFERS.includes(code)) {
      if (creditor === undefined)
        report.add('BG-17', 'BR-DE-23', 'a transfer needs the account that is paid to');
      if (code === '58' && !isIban(iban))
        report.add('BT-84', 'BR-DE-19', `${quoted(iban)} is no IBAN, which a SEPA transfer needs`);
    }
    if (CARDS.includes(code) && one(each, 'ApplicableTradeSettlementFinancialCard') === undefined)
      report.add('BG-18', 'BR-DE-24', 'a payment by card needs the card');
    if (code !== DIRECT_DEBIT) continue;
    const debited = textAt(each, 'PayerPartyDebtorFinancialAccount/IBANID');
    if (!isIban(debited))
      report.add('BT-91', 'BR-DE-20', `${quoted(debited)} is no IBAN, which a SEPA direct debit needs`);
    if (textAt(settlement, 'CreditorReferenceID') === undefined)
      report.add('BT-90', 'BR-DE-30', 'a direct debit needs the identifier of the creditor');
  }
}

/** ISO 13616: letters count as 10 to 35, and the rest of a division by 97 is 1. */
function isIban(text = ''): boolean {
  const iban = text.replace(/\s/g, '');
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban) && remainder(iban.slice(4) + iban.slice(0, 4)) === 1n;
}

/** The check digits of a Leitweg-ID are those of an IBAN: ISO 7064, MOD 97-10. */
function hasCheckDigits(leitwegId: string): boolean {
  return remainder(leitwegId.replaceAll('-', '').toUpperCase()) === 1n;
}

function remainder(text: string): bigint {
  return BigInt(text.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))) % 97n;
}
