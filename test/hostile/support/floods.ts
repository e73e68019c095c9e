/** A document that many callers of one account have rendered concurrently. */
export interface Flood {
  readonly name: string;
  readonly html: string;
  readonly options: Record<string, unknown>;
  /** Whether the render runs until its deadline. */
  readonly isEndless: boolean;
}

export const FLOOD_CALLERS = 20;

const script = (work: string) => `<p id=p>x</p><script>${work}</script>`;
const never = { waitForSelector: '.never' };

/** Eight threads of each page begin to compute at once. */
const WORKERS = `setTimeout(() => {
  for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])));
}, 700)`;

export const FLOODS: readonly Flood[] = [
  { name: 'endless scripts', html: script('for (;;);'), options: {}, isEndless: true },
  {
    name: 'pages that pretend to wait, and compute',
    html: script('setTimeout(() => { for (;;); }, 700)'),
    options: never,
    isEndless: true,
  },
  {
    name: 'pages that pretend to wait while their workers compute',
    html: script(WORKERS),
    options: never,
    isEndless: true,
  },
  {
    name: 'boxes of more pages than anybody can read',
    html: '<div style="height:30000000px;border:1px solid"></div>',
    options: {},
    isEndless: false,
  },
];
