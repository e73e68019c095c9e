// Next.js: GET responds with the PDF, POST has it rendered in the background.
//   PLATEN_URL, PLATEN_API_KEY: the service.
import { PlatenClient, PlatenError, type RenderInput } from '@platen/client';

interface Context {
  readonly params: Promise<{ readonly number: string }>;
}

let client: PlatenClient | undefined;

/** One client for all requests, made with the first one: `next build` has no key. */
function platen(): PlatenClient {
  client ??= new PlatenClient();
  return client;
}

function invoice(number: string): RenderInput {
  return { html: `<h1>Invoice ${Number(number)}</h1>`, filename: `invoice-${Number(number)}.pdf` };
}

export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { number } = await params;
  // Whoever closes the page wants no PDF any more.
  const { signal } = request;
  try {
    const { jobId } = await platen().renderAsync(invoice(number));
    await platen().waitFor(jobId, { signal, timeoutMs: 60_000, cancelOnAbort: true });
    return new Response(await platen().stream(jobId, { signal }), {
      headers: { 'Content-Type': 'application/pdf' },
    });
  } catch (error) {
    if (!(error instanceof PlatenError)) throw error;
    console.error(error.message, error.remedy, error.requestId, error.jobId);
    return Response.json({ error: 'The PDF could not be made.', code: error.code }, { status: 502 });
  }
}

export async function POST(_request: Request, { params }: Context): Promise<Response> {
  const { number } = await params;
  const webhookUrl = process.env.CALLBACK_URL;
  const { jobId } = await platen().renderAsync({ ...invoice(number), webhookUrl });
  return Response.json({ jobId }, { status: 202 });
}
