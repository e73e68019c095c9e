/** Names or addresses with a port; the target of a lookup; addresses alone. */
const HOSTS = [
  /\b[a-z][a-z0-9+]*:\/\/\S+/gi,
  /\b(?:[0-9a-f]{1,4}:){1,7}(?::[0-9a-f]{0,4}|[0-9a-f]{1,4}:[0-9a-f]{1,4})[0-9a-f:]*/gi,
  /(?:\[[^\]\s]+\]|[\w-]+(?:\.[\w-]+)*\.?):\d{1,5}\b/gi,
  /(?<=\b(?:ENOTFOUND|EAI_AGAIN)\s+)\S+/g,
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/g,
];

/** A driver's error without the hosts it names: who may query health need not learn the network. The log has them. */
export function withoutHosts(text: string): string {
  return HOSTS.reduce((left, host) => left.replace(host, '(host)'), text.slice(0, 1000));
}
