// Next.js: the callback when a render in the background has ended.
//   PLATEN_WEBHOOK_SECRET: from POST /user/webhook-keys/rotate.
import { PlatenSignatureError, verifyCallback } from '@platen/client';

export async function POST(request: Request): Promise<Response> {
  // The body byte for byte as it arrived: the signature is of that.
  const body = new Uint8Array(await request.arrayBuffer());
  try {
    const { event, jobId } = verifyCallback(body, request.headers, process.env.PLATEN_WEBHOOK_SECRET ?? '');
    console.log(event, jobId);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!(error instanceof PlatenSignatureError)) throw error;
    return new Response(null, { status: 400 });
  }
}
