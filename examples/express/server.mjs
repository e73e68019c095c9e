// Express: a PDF as the response, a PDF in the background, and the callback when that has ended.
//   PLATEN_URL, PLATEN_API_KEY: the service. PLATEN_WEBHOOK_SECRET: from POST /user/webhook-keys/rotate.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PlatenClient, PlatenError, PlatenSignatureError, verifyCallback } from '@platen/client';
import express from 'express';

const { PORT = '3000', PLATEN_WEBHOOK_SECRET = '', CALLBACK_URL } = process.env;
const platen = new PlatenClient();
const app = express();

const invoice = (number) => ({
  html: `<h1>Invoice ${Number(number)}</h1>`,
  filename: `invoice-${Number(number)}.pdf`,
});

app.get('/invoices/:number', async (request, response) => {
  // Whoever closes the page wants no PDF any more.
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const { jobId } = await platen.renderAsync(invoice(request.params.number));
  await platen.waitFor(jobId, { signal: gone.signal, timeoutMs: 60_000, cancelOnAbort: true });
  const pdf = await platen.stream(jobId, { signal: gone.signal });
  response.type('application/pdf');
  await pipeline(Readable.fromWeb(pdf), response);
});

app.post('/invoices/:number', async (request, response) => {
  const { jobId } = await platen.renderAsync({ ...invoice(request.params.number), webhookUrl: CALLBACK_URL });
  response.status(202).json({ jobId });
});

// The body byte for byte as it arrived: the signature is of that.
app.post('/callbacks', express.raw({ type: '*/*' }), (request, response) => {
  try {
    const { event, jobId } = verifyCallback(request.body, request.headers, PLATEN_WEBHOOK_SECRET);
    console.log(event, jobId);
    response.sendStatus(204);
  } catch (error) {
    if (!(error instanceof PlatenSignatureError)) throw error;
    response.sendStatus(400);
  }
});

app.use((error, _request, response, next) => {
  if (response.headersSent || !(error instanceof PlatenError)) return next(error);
  console.error(error.message, error.remedy, error.requestId, error.jobId);
  response.status(502).json({ error: 'The PDF could not be made.', code: error.code });
});

app.listen(Number(PORT), () => console.log(`http://localhost:${PORT}/invoices/66`));
