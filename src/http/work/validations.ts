import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { PROFILES, type ProfileName } from '../../render/einvoice/profiles.ts';
import { CHECKS } from '../../render/pdf/checks.ts';
import type { ValidatedPdf } from '../../render/pdf/sent/validate-sent.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { SENT_PDF_FIELDS, SENT_PDF_FORM, sentPdfErrors } from './conversion-schema.ts';
import { jobWithPdf } from './sent-pdf.ts';

const defineRoute = routesOf({ tags: ['Rendering'], auth: 'apiKey' });

/** Milliseconds that one PDF may take, and its invoice after that. */
const VALIDATE_MS = 20_000;
/** Bytes of the PDF of a job that is validated: it is held in memory, as a request is. */
const MAX_BYTES = 32 * 1024 * 1024;

const finding = z.string();
const signature = z
  .strictObject({
    subFilter: z.string().describe('Its kind, such as `ETSI.CAdES.detached` for PAdES.'),
    coversWholeFile: z.boolean().describe('Whether it is of the whole file: nothing was added after it.'),
    subject: z.string().nullable().describe('The subject of the certificate; null where it was not read.'),
    fault: z.string().nullable().describe('What is wrong with it.'),
    isChecked: z
      .boolean()
      .describe(
        'Whether its digest and certificate were checked: those of PAdES alone are, never who is trusted.',
      ),
  })
  .meta({ id: 'PdfSignature' });
const validation = z
  .strictObject({
    holds: z.boolean().describe('Whether no check has failed.'),
    version: z.string().nullable().describe('Version of PDF; null for a file that cannot be opened.'),
    pages: z.int().min(0).nullable().describe('Number of pages; null for a file that cannot be opened.'),
    encrypted: z.boolean().describe('Whether it is encrypted: then nothing else is checked.'),
    claims: z
      .strictObject({
        pdfa: z.string().nullable().describe('Part and level of PDF/A, such as `3b`; null for none.'),
        pdfua: z.string().nullable().describe('Part of PDF/UA, such as `1`; null for none.'),
        einvoice: z
          .strictObject({
            level: z.string().describe('The profile, such as `EN 16931`.'),
            fileName: z.string().describe('The file that has the XML.'),
          })
          .nullable()
          .describe('Factur-X, ZUGFeRD or XRechnung; null for none.'),
      })
      .meta({ id: 'PdfClaims' })
      .describe('What its XMP packet says of it.'),
    signatures: z.array(signature).describe('Its signatures, 20 at most.'),
    checks: z
      .array(
        z
          .strictObject({
            check: z.enum(CHECKS).describe('What was looked at.'),
            outcome: z
              .enum(['passed', 'failed', 'notClaimed', 'notChecked'])
              .describe(
                '`notClaimed`: the PDF does not say that it is so. `notChecked`: it cannot be told, and `findings` says why.',
              ),
            findings: z.array(finding).describe('What is wrong, in words.'),
          })
          .meta({ id: 'PdfCheck' }),
      )
      .describe('Every check that there is, in a fixed order.'),
  })
  .meta({ id: 'PdfValidation' });

const validate = defineRoute('POST /v1/pdf/validate', {
  operationId: 'validatePdf',
  summary: 'Say what a PDF claims, and whether it holds',
  description:
    "The file of a form, `pdf` or `jobId` is the PDF. The response lists every check of Platen's own: `file` (it can be read whole), `encryption`, `metadata` (its XMP packet), `pdfa` (level B of parts 2 and 3: fonts, colours, actions, annotations, files), `pdfua` (tags, language, title, alternative texts, headings), `einvoice` (its XML, by schema and arithmetic) and `signatures` (PAdES: digest and certificate, not who is trusted). They find much, not everything: veraPDF is not part of Platen. It uses no quota, and counts as a request of the plan's rate. A PDF that cannot be read is no error: its check `file` has failed.",
  requestsWork: true,
  withoutRoom: 'unconfirmed',
  body: z.strictObject(SENT_PDF_FIELDS).meta({
    id: 'ValidationRequest',
    description: 'Exactly one of `pdf` (or the file of a form) and `jobId`.',
  }),
  formBody: { ...SENT_PDF_FORM, description: 'The PDF as the file `file`.', json: [] },
  bodyErrors: sentPdfErrors,
  responses: { 200: { description: 'What was found.', schema: validation } },
  errors: [
    'NOT_FOUND',
    'INPUT_TOO_LARGE',
    'DOCUMENT_LIMIT',
    'RENDER_TIMEOUT',
    'RENDER_FAILED',
    'WORKER_LOST',
  ],
}).handledBy(async ({ body, caller, onHangUp, admission }, deps: ApiDeps) => {
  // It may take long, and admits nothing.
  admission.releasePermit();
  const gone = new AbortController();
  onHangUp(() => gone.abort());
  const limits = { account: caller.accountId, timeoutMs: VALIDATE_MS, signal: gone.signal };
  const { xml, ...found } = await withPdf(body, caller, deps, (pdf) => deps.validator.validate(pdf, limits));
  const checks = await withInvoiceCheck(found, xml, caller, deps);
  const holds = checks.every(({ outcome }) => outcome !== 'failed');
  const copied = checks.map((check) => ({ ...check, findings: [...check.findings] }));
  return { status: 200, json: { holds, ...found, signatures: [...found.signatures], checks: copied } };
});

export const validationRoutes = [validate];

/** Reads the PDF of a request, and holds the bytes of that of a job as those of a body. */
async function withPdf<Result>(
  { pdf, jobId }: { readonly pdf?: string | undefined; readonly jobId?: string | undefined },
  caller: Caller,
  { renders, bodies }: Pick<ApiDeps, 'renders' | 'bodies'>,
  work: (pdf: Uint8Array) => Promise<Result>,
): Promise<Result> {
  if (jobId === undefined) return await work(Buffer.from(pdf!, 'base64'));
  const job = await jobWithPdf(jobId, caller, renders);
  const { size } = job.output!;
  if (size > MAX_BYTES)
    throw new PlatenError(
      'INPUT_TOO_LARGE',
      `The PDF of the job has ${size} bytes, and may have ${MAX_BYTES}.`,
    );
  const held = bodies.begin(caller.accountId, size);
  try {
    held.completed();
    return await work(await buffer((await renders.openOutput(job)).stream));
  } finally {
    held.release();
  }
}

/** The checks with that of the content of the invoice, which has a process of its own. */
async function withInvoiceCheck(
  { checks, claims }: Omit<ValidatedPdf, 'xml'>,
  xml: string | null,
  { accountId }: Caller,
  { einvoices }: Pick<ApiDeps, 'einvoices'>,
): Promise<ValidatedPdf['checks']> {
  if (xml === null) return checks;
  const profile = profileNamed(claims.einvoice!.level);
  if (profile === undefined) {
    const findings = [`the profile ${JSON.stringify(claims.einvoice!.level)} is not known here`];
    return replaced(checks, 'notChecked', findings);
  }
  try {
    await einvoices.xmlOf({ profile, xml }, { account: accountId, withinMs: VALIDATE_MS });
    return checks;
  } catch (error) {
    if (!(error instanceof PlatenError) || error.code !== 'EINVOICE_INVALID') throw error;
    return replaced(checks, 'failed', error.details.length > 0 ? error.details : [error.message]);
  }
}

function replaced(
  checks: ValidatedPdf['checks'],
  outcome: 'failed' | 'notChecked',
  findings: readonly string[],
): ValidatedPdf['checks'] {
  return checks.map((one) => (one.check === 'einvoice' ? { check: one.check, outcome, findings } : one));
}

function profileNamed(level: string): ProfileName | undefined {
  const names = Object.keys(PROFILES) as ProfileName[];
  return names.find((name) => PROFILES[name].level === level);
}
