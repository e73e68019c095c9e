{{/*
Controllers of other releases that work on a namespace which this one's works on, in words, one a line. By their Roles, which lie
in the namespaces that they work on. `helm template` sees no cluster, and so finds none.
*/}}
{{- define "platen.otherControllers" -}}
{{- range $namespace := uniq (.Values.controller.watchNamespaces | default (list .Release.Namespace)) -}}
{{- range dig "items" list (lookup "rbac.authorization.k8s.io/v1" "Role" $namespace "") -}}
{{- $labels := dig "metadata" "labels" dict . -}}
{{- $annotations := dig "metadata" "annotations" dict . -}}
{{- $works := false -}}
{{- range .rules }}{{ if has "platen.dev" .apiGroups }}{{ $works = true }}{{ end }}{{ end -}}
{{- if and $works (eq (get $labels "app.kubernetes.io/name") "platen") (eq (get $labels "app.kubernetes.io/component") "controller") -}}
{{- $release := get $annotations "meta.helm.sh/release-name" | default (get $labels "app.kubernetes.io/instance") -}}
{{- $home := get $annotations "meta.helm.sh/release-namespace" | default $.Release.Namespace -}}
{{- if or (ne $release $.Release.Name) (ne $home $.Release.Namespace) }}
controller: that of the release {{ $release }} in the namespace {{ $home }} works on the namespace {{ $namespace }} already (Role {{ .metadata.name }}). Install this release in a namespace of its own, and let controller.watchNamespaces of the two have none in common.
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
