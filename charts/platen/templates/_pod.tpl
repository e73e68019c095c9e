{{/*
What a pod, and its container, may do: what its role says, or what all do, or else what suits a restricted namespace:
(dict "root" $ "values" {a role's values}). Each takes the place of the next whole, so that a field can be left out.
*/}}
{{- define "platen.podSecurityContext" -}}
{{- $own := dict "runAsNonRoot" true "runAsUser" 1000 "runAsGroup" 1000 "fsGroup" 1000 "fsGroupChangePolicy" "OnRootMismatch" "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- .values.podSecurityContext | default .root.Values.podSecurityContext | default $own | toYaml -}}
{{- end -}}

{{- define "platen.containerSecurityContext" -}}
{{- $own := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- .values.containerSecurityContext | default .root.Values.containerSecurityContext | default $own | toYaml -}}
{{- end -}}

{{/*
Lets cluster-autoscaler empty a node: what a pod keeps in an emptyDir may go with it. (dict "own" (list "tmp") "values" {…}),
a role's own volumes and those that its values add. The annotation names each, or one of them holds the node.
*/}}
{{- define "platen.evictable" -}}
{{- $names := .own -}}
{{- range .values.extraVolumes -}}
{{- if hasKey . "emptyDir" }}{{- $names = append $names .name }}{{- end -}}
{{- end -}}
cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: {{ uniq $names | join "," }}
{{- end -}}

{{/*
The probes of a role, with what its values say of their times laid over: (dict "values" {a role's values}). Liveness leaves a
process time that is slow, and has nothing to do with whether it can take work.
*/}}
{{- define "platen.probes" -}}
{{- $values := .values -}}
{{- $own := dict
  "startupProbe" (dict "httpGet" (dict "path" "/healthz" "port" "ops") "periodSeconds" 2 "timeoutSeconds" 5 "failureThreshold" 90)
  "livenessProbe" (dict "httpGet" (dict "path" "/healthz" "port" "ops") "periodSeconds" 10 "timeoutSeconds" 8 "failureThreshold" 6)
  "readinessProbe" (dict "httpGet" (dict "path" "/readyz" "port" "ops") "periodSeconds" 5 "timeoutSeconds" 5 "failureThreshold" 2)
-}}
{{- range $name, $probe := $own }}
{{ $name }}: {{- mergeOverwrite $probe (deepCopy (get $values $name | default dict)) | toYaml | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Spread as said, or else over zones and nodes where that can be: (dict "given" list-or-nil "labels" {…}). */}}
{{- define "platen.topologySpread" -}}
{{- $constraints := .given -}}
{{- if kindIs "invalid" $constraints -}}
{{- $constraints = list -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" -}}
{{- $constraints = append $constraints (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway" "matchLabelKeys" (list "pod-template-hash")) -}}
{{- end -}}
{{- end -}}
{{- $labels := .labels -}}
{{- with $constraints }}
topologySpreadConstraints:
{{- range . }}
  {{- $constraint := hasKey . "labelSelector" | ternary . (merge (dict "labelSelector" (dict "matchLabels" $labels)) .) }}
  - {{- toYaml $constraint | nindent 4 }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
Asks for different nodes, unless an affinity is given: (dict "given" map "labels" {…}). The scheduler ignores a constraint
over nodes beside one over zones where nodes have no zone.
*/}}
{{- define "platen.apart" -}}
{{- if not .given }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- toYaml .labels | nindent 14 }}
{{- end }}
{{- end -}}

{{/* The nodes that pods may go to: those of the installation and of a role's values: (dict "root" $ "values" {…}). */}}
{{- define "platen.nodeSelector" -}}
{{- with merge (deepCopy (.values.nodeSelector | default dict)) (.root.Values.nodeSelector | default dict) }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where pods go, how they find names, and what runs before them: (dict "root" $ "values" {a role's values}). */}}
{{- define "platen.podOptions" -}}
{{- include "platen.nodeSelector" . }}
{{- with .values }}
{{- range $field := list "tolerations" "affinity" "priorityClassName" "schedulerName" "hostAliases" "dnsPolicy" "dnsConfig" "initContainers" }}
{{- with get $.values $field }}
{{ dict $field . | toYaml }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" .hostUsers) }}
hostUsers: {{ .hostUsers }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
A list with the entries of another laid over it: an entry of the same key takes the place of the first, for a list that has a key
twice is refused by server-side apply. (dict "key" "name" "own" "YAML of a list" "extra" a list).
*/}}
{{- define "platen.overlaid" -}}
{{- $key := .key -}}
{{- $merged := list -}}
{{- range $entry := concat (fromYamlArray .own) (.extra | default list) -}}
{{- $others := list -}}
{{- range $merged }}{{ if ne (get . $key) (get $entry $key) }}{{ $others = append $others . }}{{ end }}{{ end -}}
{{- $merged = append $others $entry -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{/* A pod's spec with `podSpec` of a role's values laid over it: (dict "spec" "YAML of a pod's spec" "values" {…}). */}}
{{- define "platen.finishedSpec" -}}
{{- mergeOverwrite (fromYaml .spec) (deepCopy (.values.podSpec | default dict)) | toYaml -}}
{{- end -}}

{{/*
A file for each variable that comes from a Secret, named after it, of variables as YAML: by these a process sees that what it
was started with is no longer what the Secret says. Workers have none: what breaks out of a browser could read them. Optional,
for the kubelet tries a volume again at ever longer intervals, and a variable every few seconds.
*/}}
{{- define "platen.secretFiles" -}}
{{- range fromYamlArray . }}
{{- $variable := .name }}
{{- with dig "valueFrom" "secretKeyRef" dict . }}
{{- if .name }}
- secret: { name: {{ .name }}, optional: true, items: [{ key: {{ .key | quote }}, path: {{ $variable }} }] }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
The spec of a role's pods: (dict "root" $ "role" "api" "env" "…" "ports" "…" "volumes" "…" "mounts" "…" "lifecycle" "…"
"serviceAccount" "…" "token" bool "selector" {labels}). What is text is YAML of a list or map.
*/}}
{{- define "platen.roleSpec" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .role -}}
{{- $own := printf "%s\n%s\n- { name: PLATEN_SECRETS_DIR, value: /etc/platen/secrets }" (include "platen.commonEnv" $root) .env -}}
{{- $env := include "platen.overlaid" (dict "key" "name" "own" $own "extra" $values.extraEnv) -}}
serviceAccountName: {{ .serviceAccount }}
automountServiceAccountToken: {{ .token | default false }}
enableServiceLinks: false
{{- include "platen.pullSecrets" $root }}
terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
securityContext: {{- include "platen.podSecurityContext" (dict "root" $root "values" $values) | nindent 2 }}
containers:
  - name: {{ .role }}
    image: {{ include "platen.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: [{{ .role }}]
    env: {{- $env | nindent 6 }}
    {{- with $values.extraEnvFrom }}
    envFrom: {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      {{- .ports | default "" | nindent 6 }}
      - { name: ops, containerPort: 9090 }
    {{- include "platen.probes" (dict "values" $values) | nindent 4 }}
    {{- with .lifecycle }}
    lifecycle: {{- . | nindent 6 }}
    {{- end }}
    {{- with $values.resources }}
    resources: {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext: {{- include "platen.containerSecurityContext" (dict "root" $root "values" $values) | nindent 6 }}
    volumeMounts: {{- include "platen.overlaid" (dict "key" "mountPath" "own" (include "platen.roleMounts" .) "extra" $values.extraVolumeMounts) | nindent 6 }}
volumes: {{- include "platen.overlaid" (dict "key" "name" "own" (include "platen.roleVolumes" (set . "allEnv" $env)) "extra" $values.extraVolumes) | nindent 2 }}
{{- include "platen.podOptions" (dict "root" $root "values" $values) }}
{{- include "platen.apart" (dict "given" $values.affinity "labels" .selector) }}
{{- include "platen.topologySpread" (dict "given" $values.topologySpreadConstraints "labels" .selector) }}
{{- end -}}

{{- define "platen.roleMounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /etc/platen/secrets, readOnly: true }
{{- include "platen.caVolumeMounts" .root }}
{{ .mounts | default "" }}
{{- end -}}

{{- define "platen.roleVolumes" -}}
- { name: tmp, emptyDir: { sizeLimit: 256Mi } }
- name: secrets
  projected:
    sources: {{- include "platen.secretFiles" .allEnv | default "[]" | nindent 6 }}
{{- include "platen.caVolumes" .root }}
{{ .volumes | default "" }}
{{- end -}}

{{/*
The Deployment of a role: (dict "root" $ "role" "api" "env" "…" "ports" "…" "volumes" "…" "mounts" "…" "lifecycle" "…"
"serviceAccount" "…" "token" bool "checksum" "…"). What is text is YAML of a list or map.
*/}}
{{- define "platen.deployment" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .role -}}
{{- $fullname := include "platen.fullname" $root -}}
{{- $selector := merge (dict "app.kubernetes.io/component" .role) (include "platen.selectorLabels" $root | fromYaml) -}}
{{- $labels := merge (dict "app.kubernetes.io/component" .role) (include "platen.podLabels" $root | fromYaml) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "platen.metadata" (dict "root" $root "name" (printf "%s-%s" $fullname .role) "component" .role "annotations" $values.deploymentAnnotations) | nindent 2 }}
spec:
  {{- /* Rendered only when asked for: otherwise it belongs to whoever scales, and an upgrade must not touch it. */}}
  {{- if and (not (kindIs "invalid" $values.replicas)) (not (dig "autoscaling" "enabled" false $values)) }}
  replicas: {{ $values.replicas }}
  {{- end }}
  {{- if not (kindIs "invalid" $values.revisionHistoryLimit) }}
  revisionHistoryLimit: {{ $values.revisionHistoryLimit }}
  {{- end }}
  selector:
    matchLabels: {{- toYaml $selector | nindent 6 }}
  strategy: {{- $values.strategy | default (dict "type" "RollingUpdate" "rollingUpdate" (dict "maxUnavailable" 0 "maxSurge" 1)) | toYaml | nindent 4 }}
  template:
    metadata:
      labels: {{- merge (deepCopy $values.podLabels) $labels | toYaml | nindent 8 }}
      annotations: {{- merge (deepCopy $values.podAnnotations) $root.Values.commonAnnotations (include "platen.evictable" (dict "own" (list "tmp") "values" $values) | fromYaml) (dict "platen.dev/settings" (printf "%s%s" (include "platen.settingsChecksum" $root) (.checksum | default ""))) | toYaml | nindent 8 }}
    spec: {{- include "platen.finishedSpec" (dict "spec" (include "platen.roleSpec" (set . "selector" $selector)) "values" $values) | nindent 6 }}
{{- end -}}

{{- define "platen.disruptionBudget" -}}
{{- $values := index .root.Values .role -}}
{{- if $values.podDisruptionBudget.enabled -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "platen.metadata" (dict "root" .root "name" (printf "%s-%s" (include "platen.fullname" .root) .role) "component" .role) | nindent 2 }}
spec:
  maxUnavailable: {{ $values.podDisruptionBudget.maxUnavailable }}
  {{- /* A pod that is broken must not keep a node from being drained. */}}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      app.kubernetes.io/component: {{ .role }}
      {{- include "platen.selectorLabels" .root | nindent 6 }}
{{- end -}}
{{- end -}}
