{{/* A quantity of Kubernetes as a number, for comparing: "500m" is 0.5, "1Ki" is 1024. */}}
{{- define "platen.quantity" -}}
{{- $text := toString . -}}
{{- $units := dict "n" 1e-9 "u" 1e-6 "m" 0.001 "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- $number := regexFind "^[0-9.]+([eE][-+]?[0-9]+)?" $text -}}
{{- mulf (float64 $number) (get $units (trimPrefix $number $text)) -}}
{{- end -}}

{{/* Requests that are greater than their limits, of every `resources`, as a YAML list of faults. The API server refuses such pods. */}}
{{- define "platen.resourceFaults" -}}
{{- $all := dict -}}
{{- range $role := list "api" "dispatcher" "controller" "worker" "test" -}}
{{- $_ := set $all (printf "%s.resources" $role) (index $.Values $role).resources -}}
{{- end -}}
{{- $_ := set $all "worker.sandbox.resources" .Values.worker.sandbox.resources -}}
{{- range $peer := list "mongodb" "kafka" -}}
{{- $_ := set $all (printf "demo.%s.resources" $peer) (index $.Values.demo $peer).resources -}}
{{- end -}}
{{- range $name, $spec := .Values.defaultResources.pools -}}
{{- $_ := set $all (printf "defaultResources.pools.%s.resources" $name) ($spec | default dict).resources -}}
{{- end -}}
{{- $faults := list -}}
{{- range $where, $resources := $all -}}
{{- $limits := ($resources | default dict).limits | default dict -}}
{{- range $resource, $request := ($resources | default dict).requests | default dict -}}
{{- $limit := get $limits $resource -}}
{{- if and (hasKey $limits $resource) (gt (include "platen.quantity" $request | float64) (include "platen.quantity" $limit | float64)) -}}
{{- $faults = append $faults (printf "%s: the request of %s, %v, is greater than its limit, %v." $where $resource $request $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $limit := dig "limits" "ephemeral-storage" "" (.Values.worker.resources | default dict) -}}
{{- with .Values.worker.tmp -}}
{{- if and $limit .sizeLimit (ne .medium "Memory") (gt (include "platen.quantity" .sizeLimit | float64) (include "platen.quantity" $limit | float64)) -}}
{{- $faults = append $faults (printf "worker.resources: the limit of ephemeral-storage, %v, is less than worker.tmp.sizeLimit, %v: workers would be evicted." $limit .sizeLimit) -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}
