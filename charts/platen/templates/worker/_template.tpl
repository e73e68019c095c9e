{{/* The Localhost profile that lets Chromium have its sandbox, relative to the kubelet's folder; nothing without one. */}}
{{- define "platen.sandboxProfile" -}}
{{- $sandbox := .Values.worker.sandbox -}}
{{- if $sandbox.installProfile -}}
platen/{{ include "platen.sandboxProfileVersion" . }}.json
{{- else -}}
{{- $sandbox.localhostProfile -}}
{{- end -}}
{{- end -}}

{{/* Names the profile by its content: pods of an older release keep the one that they were started with. */}}
{{- define "platen.sandboxProfileVersion" -}}
sandbox-{{ .Files.Get "files/seccomp-profile.json" | sha256sum | trunc 12 }}
{{- end -}}

{{/* What the pods of every pool are made from: a PodTemplateSpec. */}}
{{- define "platen.workerTemplate" -}}
{{- $values := .Values.worker -}}
{{- $profile := include "platen.sandboxProfile" . -}}
{{- $labels := merge (dict "app.kubernetes.io/component" "worker") (include "platen.podLabels" . | fromYaml) -}}
{{- $placed := deepCopy $values -}}
{{- if $values.sandbox.installProfile -}}
{{- /*
A preference: an autoscaler starts no node for a label that only comes with a DaemonSet. On a node that has no profile yet
the kubelet tries again until it has.
*/ -}}
{{- $labelled := dict "matchExpressions" (list (dict "key" "platen.dev/seccomp-profile" "operator" "In" "values" (list (include "platen.sandboxProfileVersion" .)))) -}}
{{- $nodes := deepCopy (dig "nodeAffinity" dict ($values.affinity | default dict)) -}}
{{- $_ := set $nodes "preferredDuringSchedulingIgnoredDuringExecution" (append (dig "preferredDuringSchedulingIgnoredDuringExecution" list $nodes) (dict "weight" 100 "preference" $labelled)) -}}
{{- $_ := set $placed "affinity" (merge (dict "nodeAffinity" $nodes) ($placed.affinity | default dict)) -}}
{{- $_ := set $placed "nodeSelector" (merge (deepCopy ($placed.nodeSelector | default dict)) ($values.sandbox.nodeSelector | default dict)) -}}
{{- end -}}
{{- with include "platen.some" (dict "labels" .Values.commonLabels "annotations" .Values.commonAnnotations) }}
{{- /* Of every object that the controller makes for a pool, its pods among them. */}}
common: {{- . | nindent 2 }}
{{- end }}
{{- $account := include "platen.some" ($values.serviceAccount | default dict) | fromYaml -}}
{{- /* The API fetches PDFs from workers that store them, at the port that has their metrics. */}}
{{- $readers := .Values.networkPolicy.metricsFrom -}}
{{- if $readers -}}
{{- $api := merge (dict "app.kubernetes.io/component" "api") (include "platen.selectorLabels" . | fromYaml) -}}
{{- $readers = append $readers (dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" .Release.Namespace)) "podSelector" (dict "matchLabels" $api)) -}}
{{- end -}}
{{- /* What a pool can have of its own. */}}
{{- with include "platen.some" (dict "strategy" $values.strategy "serviceAccount" $account "metricsFrom" $readers) }}
{{ . }}
{{- end }}
metadata:
  labels: {{- merge (deepCopy $values.podLabels) $labels | toYaml | nindent 4 }}
  annotations: {{- merge (deepCopy $values.podAnnotations) .Values.commonAnnotations (include "platen.evictable" (dict "own" (list "tmp") "values" $values) | fromYaml) (dict "platen.dev/settings" (include "platen.settingsChecksum" .)) | toYaml | nindent 4 }}
spec: {{- include "platen.finishedSpec" (dict "spec" (include "platen.workerSpec" (dict "root" $ "profile" $profile "placed" $placed)) "values" $values) | nindent 2 }}
{{- end -}}

{{/* The spec of the workers' pods: (dict "root" $ "profile" "…" "placed" {the values, with where the sandbox wants them}). */}}
{{- define "platen.workerSpec" -}}
{{- $root := .root -}}
{{- $values := $root.Values.worker -}}
{{- $env := printf "%s\n%s%s" (include "platen.commonEnv" $root) (include "platen.jobEnv" $root) (include "platen.sealKeysEnv" $root) -}}
{{- $context := include "platen.podSecurityContext" (dict "root" $root "values" $values) | fromYaml -}}
{{- if .profile }}{{ $context = set $context "seccompProfile" (dict "type" "Localhost" "localhostProfile" .profile) }}{{ end -}}
{{- with $values.appArmorProfile }}{{ $context = set $context "appArmorProfile" . }}{{ end -}}
enableServiceLinks: false
{{- include "platen.pullSecrets" $root }}
securityContext: {{- toYaml $context | nindent 2 }}
{{- with $values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
containers:
  - name: worker
    image: {{ include "platen.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: [worker]
    env: {{- include "platen.overlaid" (dict "key" "name" "own" $env "extra" $values.extraEnv) | nindent 6 }}
    {{- with $values.extraEnvFrom }}
    envFrom: {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      - { name: ops, containerPort: 9090 }
    {{- include "platen.probes" (dict "values" $values) | nindent 4 }}
    {{- with $values.resources }}
    resources: {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext: {{- include "platen.containerSecurityContext" (dict "root" $root "values" $values) | nindent 6 }}
    volumeMounts: {{- include "platen.overlaid" (dict "key" "mountPath" "own" (include "platen.workerMounts" $root) "extra" $values.extraVolumeMounts) | nindent 6 }}
volumes: {{- include "platen.overlaid" (dict "key" "name" "own" (include "platen.workerVolumes" $root) "extra" $values.extraVolumes) | nindent 2 }}
{{- include "platen.podOptions" (dict "root" $root "values" .placed) }}
{{- if not (kindIs "invalid" $values.topologySpreadConstraints) }}
topologySpreadConstraints: {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The Secret with the keys that seal PDFs, which workers alone have; nothing without one. */}}
{{- define "platen.sealKeys" -}}
{{- dig "existingSecret" "name" "" (.Values.sealKeys | default dict) -}}
{{- end -}}

{{- define "platen.sealKeysEnv" -}}
{{- if include "platen.sealKeys" . }}
- name: PLATEN_SEAL_KEYS_DIR
  value: /etc/platen/seal-keys
{{- end }}
{{- end -}}

{{- define "platen.workerMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if include "platen.sealKeys" . }}
- { name: seal-keys, mountPath: /etc/platen/seal-keys, readOnly: true }
{{- end }}
{{- include "platen.caVolumeMounts" . }}
{{- end -}}

{{- define "platen.workerVolumes" -}}
- name: tmp
  emptyDir: {{- include "platen.some" .Values.worker.tmp | default "{}" | nindent 4 }}
{{- with include "platen.sealKeys" . }}
- name: seal-keys
  secret: { secretName: {{ . }} }
{{- end }}
{{- include "platen.caVolumes" . }}
{{- end -}}
