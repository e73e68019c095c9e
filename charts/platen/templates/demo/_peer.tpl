{{/*
A single server for a demonstration, with its Service: (dict "root" $ "name" "kafka" "port" 9092 "user" 1000 "dataPath" "…"
"env" "…" "args" "…" "probe" "…"). Neither is meant to be kept: docs/production.md has what is.
*/}}
{{- define "platen.demoPeer" -}}
{{- $root := .root -}}
{{- $demo := $root.Values.demo -}}
{{- $values := index $demo .name -}}
{{- $name := printf "%s-demo-%s" (include "platen.fullname" $root) .name -}}
{{- $component := printf "demo-%s" .name -}}
{{- $labels := merge (dict "app.kubernetes.io/component" $component) (include "platen.selectorLabels" $root | fromYaml) -}}
{{- $meta := dict "root" $root "name" $name "component" $component -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "platen.metadata" $meta | nindent 2 }}
spec:
  clusterIP: None
  ipFamilyPolicy: PreferDualStack
  # Kafka finds itself by this name before it is ready.
  publishNotReadyAddresses: true
  ports: [{ name: {{ .name }}, port: {{ .port }}, targetPort: peer }]
  selector: {{- toYaml $labels | nindent 4 }}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {{- include "platen.metadata" $meta | nindent 2 }}
spec:
  replicas: 1
  serviceName: {{ $name }}
  selector:
    matchLabels: {{- toYaml $labels | nindent 6 }}
  template:
    metadata:
      labels: {{- toYaml $labels | nindent 8 }}
      {{- if not $demo.persistence.enabled }}
      annotations: {{- include "platen.evictable" (dict "own" (list "data") "values" dict) | nindent 8 }}
      {{- end }}
    spec:
      automountServiceAccountToken: false
      # The variables of a Service named kafka would be taken for Kafka's configuration.
      enableServiceLinks: false
      {{- include "platen.pullSecrets" $root | nindent 6 }}
      securityContext: {{- $values.podSecurityContext | default (dict "runAsNonRoot" true "runAsUser" .user "runAsGroup" .user "fsGroup" .user "seccompProfile" (dict "type" "RuntimeDefault")) | toYaml | nindent 8 }}
      containers:
        - name: {{ .name }}
          image: {{ include "platen.mirrored" (dict "root" $root "image" $values.image) | quote }}
          {{- with .args }}
          args: {{ . }}
          {{- end }}
          {{- with .env }}
          env: {{- . | nindent 12 }}
          {{- end }}
          ports: [{ name: peer, containerPort: {{ .port }} }]
          startupProbe: { tcpSocket: { port: peer }, periodSeconds: 2, failureThreshold: 90 }
          readinessProbe: { tcpSocket: { port: peer }, periodSeconds: 5 }
          {{- with $values.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: { drop: [ALL] }
          volumeMounts: [{ name: data, mountPath: {{ .dataPath }} }]
      {{- if not $demo.persistence.enabled }}
      volumes: [{ name: data, emptyDir: {} }]
      {{- end }}
      {{- include "platen.nodeSelector" (dict "root" $root "values" $values) | nindent 6 }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
  {{- with $demo.persistence }}
  {{- if .enabled }}
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .storageClassName }}
        storageClassName: {{ . }}
        {{- end }}
        resources: { requests: { storage: {{ .size }} } }
  {{- end }}
  {{- end }}
{{- if $root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "platen.metadata" $meta | nindent 2 }}
spec:
  podSelector:
    matchLabels: {{- toYaml $labels | nindent 6 }}
  policyTypes: [Ingress]
  # Nobody has to give a password here: so Platen alone, from whatever namespace it runs workers in, and Kafka itself.
  ingress:
    - from:
        - namespaceSelector: {}
          podSelector:
            matchLabels: {{- include "platen.selectorLabels" $root | nindent 14 }}
{{- end }}
{{- end -}}
