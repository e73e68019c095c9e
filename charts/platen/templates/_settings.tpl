{{/* Where each secret is: the one that is given, or the one of this chart. */}}
{{- define "platen.mongodbSecret" -}}
{{- $existing := .Values.mongodb.existingSecret -}}
name: {{ $existing.name | default (printf "%s-mongodb" (include "platen.fullname" .)) }}
key: {{ empty $existing.name | ternary "uri" $existing.key }}
{{- end -}}

{{- define "platen.mongodbUri" -}}
{{- if .Values.mongodb.uri -}}
{{- .Values.mongodb.uri -}}
{{- else if .Values.demo.enabled -}}
{{- printf "mongodb://%s-demo-mongodb:27017/platen" (include "platen.fullname" .) -}}
{{- end -}}
{{- end -}}

{{- define "platen.kafkaBrokers" -}}
{{- $brokers := .Values.kafka.brokers -}}
{{- if $brokers -}}
{{- kindIs "slice" $brokers | ternary (join "," (kindIs "slice" $brokers | ternary $brokers list)) (toString $brokers) -}}
{{- else if .Values.demo.enabled -}}
{{- printf "%s-demo-kafka:9092" (include "platen.fullname" .) -}}
{{- end -}}
{{- end -}}

{{- define "platen.platenSecret" -}}
{{- $existing := .Values.secret.existingSecret -}}
name: {{ $existing.name | default (printf "%s-secret" (include "platen.fullname" .)) }}
key: {{ empty $existing.name | ternary "secret" $existing.key }}
{{- end -}}

{{/* Whether the controller makes it, for nobody has given any: not empty if so. */}}
{{- define "platen.makesLinkSecret" -}}
{{- with .Values.secret }}{{ not (or .value .existingSecret.name) | ternary "yes" "" }}{{ end -}}
{{- end -}}

{{/* Which variables of the bootstrap account come from which key of which secret, as JSON. */}}
{{- define "platen.bootstrapSecret" -}}
{{- $bootstrap := .Values.bootstrap -}}
{{- $existing := $bootstrap.existingSecret -}}
{{- if $existing.name -}}
name: {{ $existing.name }}
keys:
  {{- include "platen.some" (dict "PLATEN_BOOTSTRAP_PASSWORD" $existing.passwordKey "PLATEN_BOOTSTRAP_API_KEY" $existing.apiKeyKey) | nindent 2 }}
{{- else -}}
name: {{ include "platen.fullname" . }}-bootstrap
keys:
  {{- include "platen.some" (dict "PLATEN_BOOTSTRAP_PASSWORD" (ternary "password" "" (ne $bootstrap.password "")) "PLATEN_BOOTSTRAP_API_KEY" (ternary "api-key" "" (ne $bootstrap.apiKey ""))) | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Whether there is anything to sell by, and anybody to mail through: not empty if so. */}}
{{- define "platen.sells" -}}
{{- with .Values.stripe }}{{ or .secretKey .existingSecret.name }}{{ end -}}
{{- end -}}

{{- define "platen.mails" -}}
{{- with .Values.mail }}{{ or .smtpUrl .existingSecret.name }}{{ end -}}
{{- end -}}

{{/* What who calls Stripe is told: the API, and the dispatcher, which follows subscriptions and buys blocks. */}}
{{- define "platen.stripeEnv" -}}
{{- if include "platen.sells" . }}
{{- $existing := .Values.stripe.existingSecret }}
{{- $own := printf "%s-stripe" (include "platen.fullname" .) }}
{{ include "platen.secretVariable" (dict "name" "STRIPE_SECRET_KEY" "secret" (dict "name" ($existing.name | default $own) "key" (empty $existing.name | ternary "secret-key" $existing.secretKeyKey))) }}
{{- include "platen.variables" (dict "STRIPE_API_BASE" .Values.stripe.apiBase) }}
{{- end }}
{{- end -}}

{{/* What the API is told besides: it alone takes events. */}}
{{- define "platen.stripeWebhookEnv" -}}
{{- if include "platen.sells" . }}
{{- $existing := .Values.stripe.existingSecret }}
{{- $own := printf "%s-stripe" (include "platen.fullname" .) }}
{{ include "platen.secretVariable" (dict "name" "STRIPE_WEBHOOK_SECRET" "secret" (dict "name" ($existing.name | default $own) "key" (empty $existing.name | ternary "webhook-secret" $existing.webhookSecretKey))) }}
{{- end }}
{{- end -}}

{{/* What who sends mails is told: the dispatcher. */}}
{{- define "platen.mailEnv" -}}
{{- if include "platen.mails" . }}
{{- $existing := .Values.mail.existingSecret }}
{{- $own := printf "%s-mail" (include "platen.fullname" .) }}
{{ include "platen.secretVariable" (dict "name" "SMTP_URL" "secret" (dict "name" ($existing.name | default $own) "key" (empty $existing.name | ternary "smtp-url" $existing.key))) }}
{{- include "platen.variables" (dict "PLATEN_MAIL_FROM" .Values.mail.from) }}
{{- end }}
{{- end -}}

{{/* The authorities of the database and of the brokers, each where its role mounts it. */}}
{{- define "platen.mongodbCa" -}}
{{- $tls := .Values.mongodb.tls -}}
{{- if or $tls.ca $tls.existingSecret.name -}}
name: {{ $tls.existingSecret.name | default (printf "%s-mongodb" (include "platen.fullname" .)) }}
key: {{ empty $tls.existingSecret.name | ternary "ca.crt" $tls.existingSecret.key }}
{{- end -}}
{{- end -}}

{{- define "platen.kafkaCa" -}}
{{- $tls := .Values.kafka.tls -}}
{{- if and $tls.enabled (or $tls.ca $tls.existingSecret.name) -}}
name: {{ $tls.existingSecret.name | default (printf "%s-kafka" (include "platen.fullname" .)) }}
key: {{ empty $tls.existingSecret.name | ternary "ca.crt" $tls.existingSecret.key }}
{{- end -}}
{{- end -}}

{{/*
The client certificate of a server's `tls` values, if one is named. What is not set may be missing: `helm upgrade --reuse-values`
goes on with the defaults of an older chart.
*/}}
{{- define "platen.clientCertificate" -}}
{{- $existing := (.clientCertificate).existingSecret | default dict -}}
{{- with $existing.name -}}
name: {{ . }}
certKey: {{ $existing.certKey | default "tls.crt" | quote }}
keyKey: {{ $existing.keyKey | default "tls.key" | quote }}
{{- end -}}
{{- end -}}

{{/* What is shown to a server that asks for it: (dict "of" "mongodb" "tls" {…} "variables" "MONGODB_TLS"). */}}
{{- define "platen.clientCertificateEnv" -}}
{{- if include "platen.clientCertificate" .tls }}
- name: {{ .variables }}_CERT
  value: /etc/platen/tls/{{ .of }}-client/tls.crt
- name: {{ .variables }}_KEY
  value: /etc/platen/tls/{{ .of }}-client/tls.key
{{- end }}
{{- end -}}

{{/* One variable from a secret: (dict "name" "…" "secret" {name, key}). */}}
{{- define "platen.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret.name }}
      key: {{ .secret.key }}
{{- end -}}

{{/* Variables of plain values, those that are empty left out: (dict "NAME" value …). */}}
{{- define "platen.variables" -}}
{{- range $name, $value := . }}
{{- if or $value (eq (toString $value) "0") }}
- name: {{ $name }}
  value: {{ kindIs "float64" $value | ternary (int64 (kindIs "float64" $value | ternary $value 0)) $value | toString | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What every process is told of the database and of itself. */}}
{{- define "platen.commonEnv" -}}
{{ include "platen.secretVariable" (dict "name" "MONGODB_URI" "secret" (include "platen.mongodbSecret" . | fromYaml)) }}
{{- if include "platen.mongodbCa" . }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/platen/tls/mongodb/ca.crt
{{- end }}
{{- if include "platen.extraCaSources" . }}
{{- /* Node reads one file of NODE_EXTRA_CA_CERTS, and every file of this folder besides. */}}
- name: NODE_USE_SYSTEM_CA
  value: "1"
- name: SSL_CERT_DIR
  value: /etc/platen/tls/extra
{{- end }}
{{- include "platen.clientCertificateEnv" (dict "of" "mongodb" "tls" .Values.mongodb.tls "variables" "MONGODB_TLS") }}
{{- include "platen.variables" (dict "PLATEN_LOG_LEVEL" .Values.config.logLevel "PLATEN_OPS_PORT" 9090) }}
{{- end -}}

{{/* The proxy that a process leaves the network by: of config.proxy, which an older chart's values do not have. */}}
{{- define "platen.proxyEnv" -}}
{{- $existing := .existingSecret | default dict }}
{{- if or .url $existing.name }}
{{- if $existing.name }}
{{ include "platen.secretVariable" (dict "name" "HTTPS_PROXY" "secret" (dict "name" $existing.name "key" ($existing.key | default "url"))) }}
{{- end }}
{{- include "platen.variables" (dict
  "HTTPS_PROXY" (ternary "" .url (ne ($existing.name | default "") ""))
  "NO_PROXY" (join "," .noProxy)
  "PLATEN_PROXY_LOOKUP" .lookup
) }}
{{- end }}
{{- end -}}

{{/* Where traces are sent to: of `tracing`, which an older chart's values do not have. */}}
{{- define "platen.tracingEnv" -}}
{{- if .endpoint }}
{{- include "platen.variables" (dict "OTEL_EXPORTER_OTLP_ENDPOINT" .endpoint "OTEL_TRACES_SAMPLER" .sampler) }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .samplerArg | toString | quote }}
{{- $existing := (.headers).existingSecret | default dict }}
{{- if $existing.name }}
{{ include "platen.secretVariable" (dict "name" "OTEL_EXPORTER_OTLP_HEADERS" "secret" (dict "name" $existing.name "key" ($existing.key | default "headers"))) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where PDFs are kept: of `outputs`, which an older chart's values do not have. */}}
{{- define "platen.outputsEnv" -}}
{{- if eq (.store | default "gridfs") "s3" }}
{{- with .s3 }}
{{- include "platen.variables" (dict
  "PLATEN_OUTPUT_STORE" "s3"
  "PLATEN_S3_BUCKET" .bucket
  "PLATEN_S3_ENDPOINT" .endpoint
  "PLATEN_S3_REGION" .region
  "PLATEN_S3_PREFIX" .prefix
  "PLATEN_S3_PATH_STYLE" .pathStyle
  "PLATEN_S3_KMS_KEY" .kmsKey
  "PLATEN_S3_PUBLIC_ENDPOINT" .publicEndpoint
) }}
{{- $existing := .existingSecret }}
{{- if $existing.name }}
{{- range $variable, $key := dict "AWS_ACCESS_KEY_ID" $existing.accessKeyIdKey "AWS_SECRET_ACCESS_KEY" $existing.secretAccessKeyKey "AWS_SESSION_TOKEN" $existing.sessionTokenKey }}
{{- if $key }}
{{ include "platen.secretVariable" (dict "name" $variable "secret" (dict "name" $existing.name "key" $key)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Who the pod is, by the downward API. */}}
{{- define "platen.podEnv" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
{{- end -}}

{{/* What the processes that work on jobs are told besides. */}}
{{- define "platen.jobEnv" -}}
{{- $kafka := .Values.kafka -}}
{{- $topics := $kafka.topics -}}
{{- include "platen.variables" (dict
  "KAFKA_BROKERS" (include "platen.kafkaBrokers" .)
  "PLATEN_KAFKA_TOPIC_PREFIX" $topics.prefix
  "PLATEN_KAFKA_REPLICATION" $topics.replication
  "PLATEN_HEADER_PREFIX" .Values.config.headerPrefix
  "PLATEN_LOCALE" (.Values.config.locale | default "en-US")
  "PLATEN_ALLOWED_PRIVATE_NETWORKS" (join "," .Values.config.allowedPrivateNetworks)
) }}
{{- include "platen.proxyEnv" (.Values.config.proxy | default dict) }}
{{- include "platen.tracingEnv" (.Values.tracing | default dict) }}
{{- include "platen.outputsEnv" (.Values.outputs | default dict) }}
{{- if $kafka.tls.enabled }}
- name: KAFKA_SSL_CA
  value: {{ include "platen.kafkaCa" . | empty | ternary "system" "/etc/platen/tls/kafka/ca.crt" | quote }}
{{- include "platen.clientCertificateEnv" (dict "of" "kafka" "tls" $kafka.tls "variables" "KAFKA_SSL") }}
{{- end }}
{{- with $kafka.sasl }}
{{- if .mechanism }}
{{- $own := printf "%s-kafka" (include "platen.fullname" $) }}
{{- $existing := .existingSecret }}
- name: KAFKA_SASL_MECHANISM
  value: {{ .mechanism }}
{{- if and $existing.name $existing.usernameKey }}
{{ include "platen.secretVariable" (dict "name" "KAFKA_SASL_USERNAME" "secret" (dict "name" $existing.name "key" $existing.usernameKey)) }}
{{- else }}
- name: KAFKA_SASL_USERNAME
  value: {{ .username | quote }}
{{- end }}
{{ include "platen.secretVariable" (dict "name" "KAFKA_SASL_PASSWORD" "secret" (dict "name" ($existing.name | default $own) "key" (empty $existing.name | ternary "password" $existing.passwordKey))) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The authorities that every process trusts besides, as sources of a projected volume; nothing without any. */}}
{{- define "platen.extraCaSources" -}}
{{- $given := .Values.extraCa | default dict -}}
{{- with $given.existingSecret }}
{{- if .name }}
- secret: { name: {{ .name }}, items: [{ key: {{ .key | default "ca.crt" | quote }}, path: secret.crt }] }
{{- end }}
{{- end }}
{{- with $given.existingConfigMap }}
{{- if .name }}
- configMap: { name: {{ .name }}, items: [{ key: {{ .key | default "ca.crt" | quote }}, path: config-map.crt }] }
{{- end }}
{{- end }}
{{- end -}}

{{/* The authorities and certificates as volumes, and where they are mounted. */}}
{{- define "platen.caVolumes" -}}
{{- with include "platen.extraCaSources" . }}
- name: extra-ca
  projected:
    sources: {{- . | nindent 6 }}
{{- end }}
{{- range $name := list "mongodb" "kafka" }}
{{- with include (printf "platen.%sCa" $name) $ | fromYaml }}
- name: {{ $name }}-ca
  secret:
    secretName: {{ .name }}
    items: [{ key: {{ .key | quote }}, path: ca.crt }]
{{- end }}
{{- with include "platen.clientCertificate" (index $.Values $name).tls | fromYaml }}
- name: {{ $name }}-client
  secret:
    secretName: {{ .name }}
    items: [{ key: {{ .certKey | quote }}, path: tls.crt }, { key: {{ .keyKey | quote }}, path: tls.key }]
{{- end }}
{{- end }}
{{- end -}}

{{- define "platen.caVolumeMounts" -}}
{{- if include "platen.extraCaSources" . }}
- { name: extra-ca, mountPath: /etc/platen/tls/extra, readOnly: true }
{{- end }}
{{- range $name := list "mongodb" "kafka" }}
{{- if include (printf "platen.%sCa" $name) $ }}
- name: {{ $name }}-ca
  mountPath: /etc/platen/tls/{{ $name }}
  readOnly: true
{{- end }}
{{- if include "platen.clientCertificate" (index $.Values $name).tls }}
- name: {{ $name }}-client
  mountPath: /etc/platen/tls/{{ $name }}-client
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{/* Of what a change has to start processes anew: what their secrets and certificates are made of. */}}
{{- define "platen.settingsChecksum" -}}
{{- dict "mongodb" .Values.mongodb "uri" (include "platen.mongodbUri" .) "kafka" .Values.kafka | toJson | sha256sum | trunc 16 -}}
{{- end -}}

{{- define "platen.apiChecksum" -}}
{{- dict "secret" .Values.secret "bootstrap" .Values.bootstrap "stripe" .Values.stripe | toJson | sha256sum | trunc 16 -}}
{{- end -}}

{{- define "platen.dispatcherChecksum" -}}
{{- dict "stripe" .Values.stripe "mail" .Values.mail | toJson | sha256sum | trunc 16 -}}
{{- end -}}
