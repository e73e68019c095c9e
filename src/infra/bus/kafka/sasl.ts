/** Authentication mechanisms, apart from the client so that the configuration does not load all of Kafka. */
export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export type SaslMechanism = (typeof SASL_MECHANISMS)[number];
