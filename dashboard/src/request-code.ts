import { version } from '../package.json';

/** A render request, as it is sent with an API key. */
export type RenderBody = Readonly<Record<string, unknown>>;

/**
 * The same request in four languages, as whole programs. The key is read from the environment: no secret is shown. Each ends
 * with an error where the service answers with one, and leaves nothing but a PDF in document.pdf then.
 */
export function requestCode(body: RenderBody): readonly (readonly [language: string, code: string])[] {
  const { origin } = window.location;
  return [
    ['curl', curl(origin, body)],
    ['TypeScript', typescript(origin, body)],
    ['Python', python(origin, body)],
    ['Go', go(origin, body)],
  ];
}

function curl(origin: string, body: RenderBody): string {
  const quoted = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return `# Prints 200 once document.pdf is the PDF. A render that takes longer than the service keeps a caller waiting
# prints 202: document.pdf then says where its PDF will be. The clients below wait by themselves.
curl -sS --fail-with-body '${origin}/v1/pdf' \\
  -H "X-API-Key: $PLATEN_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${quoted}' \\
  -o document.pdf -w '%{http_code}\\n' || { cat document.pdf >&2; rm document.pdf; exit 1; }`;
}

function typescript(origin: string, body: RenderBody): string {
  return `// npm install ${origin}/clients/platen-client.tgz
import { writeFile } from 'node:fs/promises';
import { PlatenClient } from '@platen/client';

const platen = new PlatenClient({ baseUrl: '${origin}', apiKey: process.env.PLATEN_API_KEY });
const { bytes } = await platen.render(${JSON.stringify(body, null, 2)});
await writeFile('document.pdf', bytes);`;
}

/** The names of a request's fields in the Python client. */
const PYTHON_NAMES: Readonly<Record<string, string>> = {
  templateId: 'template_id',
  templateVersionId: 'template_version_id',
  strictData: 'strict_data',
  webhookUrl: 'webhook_url',
};

function python(origin: string, body: RenderBody): string {
  const given = Object.entries(body).map(
    ([name, value]) => `        ${PYTHON_NAMES[name] ?? name}=${pythonOf(value, '        ')},`,
  );
  return `# pip install ${origin}/clients/platen-${version}-py3-none-any.whl
import os

import platen

with platen.Client("${origin}", api_key=os.environ["PLATEN_API_KEY"]) as client:
    pdf = client.render(
${given.join('\n')}
    )
    pdf.save("document.pdf")`;
}

/** A JSON value as Python writes it. */
function pythonOf(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const parts = Array.isArray(value)
    ? value.map((each) => `${inner}${pythonOf(each, inner)},\n`)
    : Object.entries(value).map(
        ([name, each]) => `${inner}${JSON.stringify(name)}: ${pythonOf(each, inner)},\n`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return parts.length === 0 ? open + close : `${open}\n${parts.join('')}${indent}${close}`;
}

function go(origin: string, body: RenderBody): string {
  const json = JSON.stringify(body, null, 2);
  const quoted = /[`\r]/.test(json) ? JSON.stringify(json) : `\`${json}\``;
  return `package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(${quoted})
	request, err := http.NewRequest("POST", "${origin}/v1/pdf", body)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("X-API-Key", os.Getenv("PLATEN_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	pdf, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		// 202: it takes longer; the answer says where its PDF will be.
		log.Fatalf("%s: %s", response.Status, pdf)
	}
	if err := os.WriteFile("document.pdf", pdf, 0o644); err != nil {
		log.Fatal(err)
	}
}`;
}
