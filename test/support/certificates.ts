import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A self-signed certificate with its key; PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Each made once by
 *
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=NAME -keyout … -out …
 */
export const CLIENT: Certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBgzCCASmgAwIBAgIUVIdzwDWTRJx0Y34fHDh8AdJQvvIwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLY2xpZW50LnRlc3QwIBcNMjYxMTI0MTYxODA0WhgPMjEyNjEw
MzExNjE4MDRaMBYxFDASBgNVBAMMC2NsaWVudC50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEp7Xi2FbhWuGvhYzIxM5UcSj6+xthR0M7PvJfNaGIg6QNi9Xb
bKiyA6RTjEC/p31nj3xx3xnSiJQJ+RvcxMrAMqNTMFEwHQYDVR0OBBYEFBeVLgaO
SP4b0DCRxNXmXnjxSdumMB8GA1UdIwQYMBaAFBeVLgaOSP4b0DCRxNXmXnjxSdum
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhANGdxplXHKxBp8Bh
EGQ7WEtE/NLR7QcqXTQp6+Czikp+AiBmhPNclzBP1pR3zNijc/2isnQUJnCNASXI
hoDgZgqRbg==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgW2xftT9Bfwsx0Ajl
Nsl+H9yYEoVw5+lrDOgvROdiXt+hRANCAASnteLYVuFa4a+FjMjEzlRxKPr7G2FH
Qzs+8l81oYiDpA2L1dtsqLIDpFOMQL+nfWePfHHfGdKIlAn5G9zEysAy
-----END PRIVATE KEY-----
`,
};

/** That of servers on 127.0.0.1 (made with `-addext subjectAltName=IP:127.0.0.1` besides), and its own authority. */
export const SERVER: Certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBlDCCATqgAwIBAgIUOxRIARIcyimf8IFDwgifbkCGdBYwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLc2VydmVyLnRlc3QwIBcNMjYxMTI0MTkzOTU2WhgPMjEyNjEw
MzExOTM5NTZaMBYxFDASBgNVBAMMC3NlcnZlci50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEyV9hUPIoJEsjceWTV/n5v+rqp6o5fRg7MmgiBf2fzMilTRXH
SGM/CQM6j/unmdhN8imcC2tuQMTfxgGM529Uq6NkMGIwHQYDVR0OBBYEFC53KxOj
3NH0bNMu+ZSNZU6BFh5DMB8GA1UdIwQYMBaAFC53KxOj3NH0bNMu+ZSNZU6BFh5D
MA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjOPQQDAgNI
ADBFAiEAukICpcZ1DTJP3NXTK3GWvijL+viN7Im4L6ZtFvGJ2TsCIEtVFHYB8dmX
F79inSvDRuDDHBkhZasAbaLn00k9s3vV
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzeobrs/j0jllYUJi
vHSWWNYwxvIoR1ZKeESC85Br0GehRANCAATJX2FQ8igkSyNx5ZNX+fm/6uqnqjl9
GDsyaCIF/Z/MyKVNFcdIYz8JAzqP+6eZ2E3yKZwLa25AxN/GAYznb1Sr
-----END PRIVATE KEY-----
`,
};

/** A client that no server of the tests trusts. */
export const STRANGER: Certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBiDCCAS2gAwIBAgIUapxSDFe91FB6XptkBRLe55rSlHQwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNc3RyYW5nZXIudGVzdDAgFw0yNjExMjQxNjE4MDRaGA8yMTI2
MTAzMTE2MTgwNFowGDEWMBQGA1UEAwwNc3RyYW5nZXIudGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABMKl5rqGR0WMYpB9T1se16+M2DU0U0WF8hZoiBwTNX3S
1vcxXWN57+nua2TDMYTyK8zi/qSWMjLg+SmxLU6XY0qjUzBRMB0GA1UdDgQWBBTw
hR9Jl+odXZVuRqgIDndcfS+RUTAfBgNVHSMEGDAWgBTwhR9Jl+odXZVuRqgIDndc
fS+RUTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDlr0cCmAge
CHISDKcCMSutmeZuYUJcYZ3ma+nx/wdUEAIhALeLjQwLiaOiPOnqfltUFlOk8n7V
F3S6MM1EZeSdt8PK
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1lH5cV/jv1/ejtY0
8Cuh/7lGafONoOWhyQ3AO5eDusOhRANCAATCpea6hkdFjGKQfU9bHtevjNg1NFNF
hfIWaIgcEzV90tb3MV1jee/p7mtkwzGE8ivM4v6kljIy4PkpsS1Ol2NK
-----END PRIVATE KEY-----
`,
};

/** Writes one where a setting can name it. */
export async function writeCertificate(folder: string, name: string, { cert, key }: Certificate) {
  const files = { certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
  await Promise.all([writeFile(files.certFile, cert), writeFile(files.keyFile, key, { mode: 0o600 })]);
  return files;
}
