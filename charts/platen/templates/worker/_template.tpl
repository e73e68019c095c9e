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
metadata:
  labels: {{- merge (deepCopy $values.podLabels) $labels | toYaml | nindent 4 }}
  annotations: {{- merge (deepCopy $values.podAnnotations) .Values.commonAnnotations (include "platen.evictable" (dict "own" (list "tmp") "values" $values) | fromYaml) (dict "platen.dev/settings" (include "platen.settingsChecksum" .)) | toYaml | nindent 4 }}
spec:
  enableServiceLinks: false
  {{- include "platen.pullSecrets" . | nindent 2 }}
  securityContext:
    {{- $context := include "platen.podSecurityContext" (dict "root" $ "values" $values) | fromYaml }}
    {{- if $profile }}{{ $context = set $context "seccompProfile" (dict "type" "Localhost" "localhostProfile" $profile) }}{{ end }}
    {{- with $values.appArmorProfile }}{{ $context = set $context "appArmorProfile" . }}{{ end }}
    {{- toYaml $context | nindent 4 }}
  {{- with $values.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  containers:
    - name: worker
      image: {{ include "platen.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [worker]
      env:
        {{- include "platen.commonEnv" . | nindent 8 }}
        {{- include "platen.jobEnv" . | nindent 8 }}
        {{- with $values.extraEnv }}{{- toYaml . | nindent 8 }}{{- end }}
      {{- with $values.extraEnvFrom }}
      envFrom: {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: ops, containerPort: 9090 }
      {{- include "platen.probes" . | nindent 6 }}
      {{- with $values.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext: {{- include "platen.containerSecurityContext" (dict "root" $ "values" $values) | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- include "platen.caVolumeMounts" . | nindent 8 }}
        {{- with $values.extraVolumeMounts }}{{- toYaml . | nindent 8 }}{{- end }}
  volumes:
    - name: tmp
      emptyDir: {{- include "platen.some" $values.tmp | default "{}" | nindent 8 }}
    {{- include "platen.caVolumes" . | nindent 4 }}
    {{- with $values.extraVolumes }}{{- toYaml . | nindent 4 }}{{- end }}
  {{- include "platen.podOptions" $placed | nindent 2 }}
  {{- if not (kindIs "invalid" $values.topologySpreadConstraints) }}
  topologySpreadConstraints: {{- toYaml $values.topologySpreadConstraints | nindent 4 }}
  {{- end }}
{{- end -}}
