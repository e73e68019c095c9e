/** A render request, as it is sent with an API key. */
export type RenderBody = Readonly<Record<string, unknown>>;

/** The same request in four languages, ready to be copied. The key is a placeholder: no secret is shown. */
export function requestCode(body: RenderBody): readonly (readonly [language: string, code: string])[] {
  const url = `${window.location.origin}/v1/pdf`;
  const json = JSON.stringify(body, null, 2);
  return [
    ['curl', curl(url, json)],
    ['TypeScript', typescript(json)],
    ['Python', python(json)],
    ['Go', go(url, json)],
  ];
}

function curl(url: string, json: string): string {
  const quoted = json.replaceAll("'", `'\\''`);
  return `curl -fsS '${url}' \\
  -H "X-API-Key: $PLATEN_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${quoted}' \\
  -o document.pdf`;
}

function typescript(json: string): string {
  return `const response = await fetch('${window.location.origin}/v1/pdf', {
  method: 'POST',
  headers: { 'X-API-Key': process.env.PLATEN_API_KEY, 'Content-Type': 'application/json' },
  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),
});
if (!response.ok) throw new Error(await response.text());
await writeFile('document.pdf', Buffer.from(await response.arrayBuffer()));`;
}

function python(json: string): string {
  return `import json, os, urllib.request

request = urllib.request.Request(
    "${window.location.origin}/v1/pdf",
    data=json.dumps(json.loads(r'''${json}''')).encode(),
    headers={"X-API-Key": os.environ["PLATEN_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response, open("document.pdf", "wb") as file:
    file.write(response.read())`;
}

function go(url: string, json: string): string {
  const quoted = json.includes('`') ? JSON.stringify(json) : `\`${json}\``;
  return `body := strings.NewReader(${quoted})
request, _ := http.NewRequest("POST", "${url}", body)
request.Header.Set("X-API-Key", os.Getenv("PLATEN_API_KEY"))
request.Header.Set("Content-Type", "application/json")
response, err := http.DefaultClient.Do(request)
if err != nil {
	log.Fatal(err)
}
defer response.Body.Close()
file, _ := os.Create("document.pdf")
io.Copy(file, response.Body)`;
}
