{{- define "platen.defaultResources" -}}
{{- /* Where the controller looks after them: in its own namespace, unless it watches others only. */ -}}
{{- $watched := .Values.controller.watchNamespaces | default (list .Release.Namespace) -}}
{{- $namespace := has .Release.Namespace $watched | ternary .Release.Namespace (first $watched) -}}
{{- $resources := list -}}
{{- range $name, $spec := .Values.defaultResources.pools -}}
{{- $spec = deepCopy ($spec | default dict) -}}
{{- if and (include "platen.sandboxProfile" $) (not $spec.sandbox) }}{{- $_ := set $spec "sandbox" "required" }}{{- end -}}
{{- $resources = append $resources (dict "kind" "RenderPool" "name" $name "spec" $spec) -}}
{{- end -}}
{{- range $name, $spec := .Values.defaultResources.plans -}}
{{- $resources = append $resources (dict "kind" "RenderPlan" "name" $name "spec" ($spec | default dict)) -}}
{{- end -}}
{{- range $resources }}
- apiVersion: platen.dev/v1alpha1
  kind: {{ .kind }}
  metadata:
    name: {{ .name }}
    namespace: {{ $namespace }}
    {{- /* Not the instance: Argo CD, where it tracks by that label, would prune what is not in Git. */}}
    labels: {{- merge (dict "app.kubernetes.io/name" "platen") ($.Values.commonLabels | default dict) | toYaml | nindent 6 }}
    {{- with $.Values.commonAnnotations }}
    annotations: {{- toYaml . | nindent 6 }}
    {{- end }}
  spec: {{- toYaml .spec | nindent 4 }}
{{- end }}
{{- end -}}
