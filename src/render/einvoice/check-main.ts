/** The program of a process that checks invoices, one at a time. */
import { serve } from '../../infra/sandbox/serve.ts';
import { checkEinvoice, type EinvoiceCall } from './check.ts';

serve<EinvoiceCall>(checkEinvoice);
