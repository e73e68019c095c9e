/**
 * A certificate for callbacks.test and 127.9.9.1, valid for a hundred years, and its key. Made for tests only:
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=callbacks.test \
 *   -addext 'subjectAltName=DNS:callbacks.test,IP:127.9.9.1'
 */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqjCCAVCgAwIBAgIUVN0NGyFEa5Tla1QDWCdMLcc4ftgwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOY2FsbGJhY2tzLnRlc3QwIBcNMjYxMTIxMTIxMTMwWhgPMjEy
NjEwMjgxMjExMzBaMBkxFzAVBgNVBAMMDmNhbGxiYWNrcy50ZXN0MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEn57GqVB/lOUcjs/HG++qQy+e1OLptX/55V4BTO2b
fslWlUv+Od4f3a7KNcxb9GuFKyts83/bAEfycZEJvA6IQaN0MHIwHQYDVR0OBBYE
FN5SgqTJ2yct4y93dnp+AfYCngGKMB8GA1UdIwQYMBaAFN5SgqTJ2yct4y93dnp+
AfYCngGKMA8GA1UdEwEB/wQFMAMBAf8wHwYDVR0RBBgwFoIOY2FsbGJhY2tzLnRl
c3SHBH8JCQEwCgYIKoZIzj0EAwIDSAAwRQIgEqEYDW5hCMalk6pgR8F+fKuU1qao
KNbVApwGzIV2vLkCIQDZgE1NFkYiIPW37SO+j3Ob2oCvOcj2ZrDuZ5e8QMCycg==
-----END CERTIFICATE-----
`;

export const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtJ6AkOcObvlJubss
ExspVl+HTqIcIXRC9wNWz6+8lQShRANCAASfnsapUH+U5RyOz8cb76pDL57U4um1
f/nlXgFM7Zt+yVaVS/453h/drso1zFv0a4UrK2zzf9sAR/JxkQm8DohB
-----END PRIVATE KEY-----
`;
