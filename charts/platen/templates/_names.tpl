{{- define "platen.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Which installation a pod is of: the release, and the alias besides where a chart has this one under another name, for it may have it
twice.
*/}}
{{- define "platen.instance" -}}
{{- eq .Chart.Name "platen" | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* What a selector asks for: it can never change. */}}
{{- define "platen.selectorLabels" -}}
app.kubernetes.io/name: platen
app.kubernetes.io/instance: {{ include "platen.instance" . }}
{{- end -}}

{{- define "platen.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "platen.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Of pods: nothing that changes when only the chart does, or every upgrade would start them anew. */}}
{{- define "platen.podLabels" -}}
{{ include "platen.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
Metadata of an object: (dict "root" $ "name" "…" "component" "…" "labels" {…} "annotations" {…} "namespace" "…").
The component is optional, and so is all that comes after it.
*/}}
{{- define "platen.metadata" -}}
{{- $labels := include "platen.labels" .root | fromYaml -}}
{{- with .component }}{{- $labels = merge (dict "app.kubernetes.io/component" .) $labels }}{{- end -}}
{{- $annotations := merge (deepCopy (.annotations | default dict)) (.root.Values.commonAnnotations | default dict) -}}
name: {{ .name }}
namespace: {{ .namespace | default .root.Release.Namespace }}
labels:
  {{- merge (deepCopy (.labels | default dict)) $labels | toYaml | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The image of an installation's processes, by digest where there is one. */}}
{{- define "platen.image" -}}
{{- $image := .Values.image -}}
{{- $registry := (.Values.global).imageRegistry | default $image.registry -}}
{{- if $registry }}{{ trimSuffix "/" $registry }}/{{ end -}}
{{- $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end -}}

{{/* An image of somebody else's from the registry of all images, unless it names one of its own: (dict "root" $ "image" "…"). */}}
{{- define "platen.mirrored" -}}
{{- $registry := (.root.Values.global).imageRegistry -}}
{{- $host := splitList "/" .image | first -}}
{{- $named := and (contains "/" .image) (or (contains "." $host) (contains ":" $host) (eq $host "localhost")) -}}
{{- if and $registry (not $named) }}{{ trimSuffix "/" $registry }}/{{ end -}}
{{- .image -}}
{{- end -}}

{{- define "platen.pullSecrets" -}}
{{- $names := list -}}
{{- range concat (.Values.image.pullSecrets | default list) ((.Values.global).imagePullSecrets | default list) -}}
{{- if kindIs "map" . }}{{ $names = append $names .name }}{{ else }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{- with uniq $names }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "platen.serviceAccountName" -}}
{{- $account := .Values.serviceAccount -}}
{{- $account.name | default (ternary (include "platen.fullname" .) "default" $account.create) -}}
{{- end -}}

{{- define "platen.controllerServiceAccountName" -}}
{{- $account := .Values.serviceAccount.controller -}}
{{- $account.name | default (ternary (printf "%s-controller" (include "platen.fullname" .)) "default" $account.create) -}}
{{- end -}}

{{/* The data of a Secret, without what is empty. Not as stringData, of which server-side apply takes nothing away. */}}
{{- define "platen.secretData" -}}
{{- range $key, $value := . }}
{{- with $value }}
{{ $key }}: {{ b64enc . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A map without what is empty, as YAML; nothing for an empty one. */}}
{{- define "platen.some" -}}
{{- $kept := dict -}}
{{- range $key, $value := . -}}
{{- if or $value (kindIs "bool" $value) (kindIs "float64" $value) (kindIs "int" $value) (kindIs "int64" $value) }}{{- $_ := set $kept $key $value -}}{{- end -}}
{{- end -}}
{{- with $kept }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/*
Who has a cluster-wide object that several releases want: (dict "root" $ "apiVersion" "…" "kind" "…" "name" "…"). Nothing when it
is not there, or is this release's; otherwise in words. `helm template` sees no cluster, and so finds none.
*/}}
{{- define "platen.ownedByOther" -}}
{{- $there := lookup .apiVersion .kind "" .name -}}
{{- if $there -}}
{{- $annotations := dig "metadata" "annotations" dict $there -}}
{{- $name := get $annotations "meta.helm.sh/release-name" -}}
{{- $namespace := get $annotations "meta.helm.sh/release-namespace" -}}
{{- if or (ne $name .root.Release.Name) (ne $namespace .root.Release.Namespace) -}}
{{- if $name }}the release {{ $name }} in the namespace {{ $namespace }}{{ else }}no release{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether a CustomResourceDefinition is this release's to make and to upgrade: (dict "root" $ "name" "…"). */}}
{{- define "platen.ownsDefinition" -}}
{{- if .root.Values.crds.enabled -}}
{{- if not (include "platen.ownedByOther" (merge (dict "apiVersion" "apiextensions.k8s.io/v1" "kind" "CustomResourceDefinition") .)) }}yes{{ end -}}
{{- end -}}
{{- end -}}

{{/* Where the installer of the seccomp profile runs: no two releases of a cluster have the same, or the first would own the second's. */}}
{{- define "platen.nodeSetupNamespace" -}}
{{- $own := printf "%s-node-setup" (list .Release.Namespace (include "platen.fullname" .) | uniq | join "-") -}}
{{- .Values.worker.sandbox.namespace | default $own | trunc 63 | trimSuffix "-" -}}
{{- end -}}
