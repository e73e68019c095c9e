{{/* Every mistake at once, each with what to do about it. */}}
{{- define "platen.validate" -}}
{{- $faults := include "platen.otherControllers" . | splitList "\n" | compact -}}
{{- with .Values -}}
{{- $mongodb := .mongodb -}}
{{- if and (not $mongodb.uri) (not $mongodb.existingSecret.name) (not .demo.enabled) -}}
{{- $faults = append $faults "mongodb: Platen needs a database. Set mongodb.uri=mongodb://…, or mongodb.existingSecret.name to a Secret that holds it, or demo.enabled=true to try Platen out." -}}
{{- end -}}
{{- if and $mongodb.uri $mongodb.existingSecret.name -}}
{{- $faults = append $faults "mongodb: set uri or existingSecret.name, not both." -}}
{{- end -}}
{{- if and $mongodb.uri (not (regexMatch "^mongodb(\\+srv)?://" $mongodb.uri)) -}}
{{- $faults = append $faults "mongodb.uri must begin with mongodb:// or mongodb+srv://." -}}
{{- end -}}
{{- $kafka := .kafka -}}
{{- if not (include "platen.kafkaBrokers" $) -}}
{{- $faults = append $faults "kafka: Platen needs Kafka. Set kafka.brokers=host:9092, or demo.enabled=true to try Platen out." -}}
{{- end -}}
{{- range compact (splitList "," (include "platen.kafkaBrokers" $)) -}}
{{- if not (regexMatch "^\\s*[^\\s:/]+:[0-9]{1,5}\\s*$|^\\s*\\[[0-9a-fA-F:]+\\]:[0-9]{1,5}\\s*$" .) -}}
{{- $faults = append $faults (printf "kafka.brokers: %s must be host:port, as in my-cluster-kafka-bootstrap:9092." .) -}}
{{- end -}}
{{- end -}}
{{- if and (not $kafka.tls.enabled) (or $kafka.tls.ca $kafka.tls.existingSecret.name) -}}
{{- $faults = append $faults "kafka.tls: an authority is given, but kafka.tls.enabled is false: it would not be used." -}}
{{- end -}}
{{- if and (not $kafka.tls.enabled) (include "platen.clientCertificate" $kafka.tls) -}}
{{- $faults = append $faults "kafka.tls: a client certificate is given, but kafka.tls.enabled is false: it would not be shown." -}}
{{- end -}}
{{- with $kafka.sasl -}}
{{- if and .mechanism (not .existingSecret.name) (or (not .username) (not .password)) -}}
{{- $faults = append $faults "kafka.sasl: a mechanism needs username and password, or existingSecret.name." -}}
{{- end -}}
{{- if and .mechanism .existingSecret.name (not .username) (not .existingSecret.usernameKey) -}}
{{- $faults = append $faults "kafka.sasl: set username, or existingSecret.usernameKey if the secret holds it." -}}
{{- end -}}
{{- if and (not .mechanism) (or .username .password .existingSecret.name) -}}
{{- $faults = append $faults "kafka.sasl: a user is given, but no mechanism: set it to plain, scram-sha-256 or scram-sha-512." -}}
{{- end -}}
{{- end -}}
{{- with .outputs -}}
{{- if and (eq .store "s3") (not .s3.bucket) -}}
{{- $faults = append $faults "outputs.s3.bucket: outputs.store is s3, and needs the name of a bucket that exists." -}}
{{- end -}}
{{- if and (ne .store "s3") (or .s3.bucket .s3.endpoint .s3.existingSecret.name) -}}
{{- $faults = append $faults "outputs.store: a bucket, an endpoint or a secret of S3 is given, but the store is not s3: they would not be used." -}}
{{- end -}}
{{- end -}}
{{- if and .secret.value (lt (len .secret.value) 32) -}}
{{- $faults = append $faults "secret.value must have 32 characters or more; leave it empty to have one made." -}}
{{- end -}}
{{- with .bootstrap -}}
{{- if and .apiKey (not (regexMatch "^sk_(live|test)_[!-~]{32,}$" .apiKey)) -}}
{{- $faults = append $faults "bootstrap.apiKey must begin with sk_live_ or sk_test_ and have 32 characters or more after that." -}}
{{- end -}}
{{- if and (not .email) (or .password .apiKey .existingSecret.name) -}}
{{- $faults = append $faults "bootstrap.email: a password or key is given, but not whose." -}}
{{- end -}}
{{- end -}}
{{- with .stripe -}}
{{- if and .existingSecret.name (or .secretKey .webhookSecret) -}}
{{- $faults = append $faults "stripe: set secretKey and webhookSecret, or existingSecret.name, not both." -}}
{{- end -}}
{{- if and .secretKey (not (regexMatch "^(sk|rk)_[A-Za-z0-9_]+$" .secretKey)) -}}
{{- $faults = append $faults "stripe.secretKey must begin with sk_ or rk_; what begins with pk_ is for browsers." -}}
{{- end -}}
{{- if and .webhookSecret (not (regexMatch "^whsec_.+$" .webhookSecret)) -}}
{{- $faults = append $faults "stripe.webhookSecret must begin with whsec_; `platen billing setup` prints it." -}}
{{- end -}}
{{- if and .secretKey (not .webhookSecret) -}}
{{- $faults = append $faults "stripe.webhookSecret: without it no event of Stripe's is accepted. `platen billing setup` prints it." -}}
{{- end -}}
{{- if and (not (include "platen.sells" $)) (or .webhookSecret .apiBase) -}}
{{- $faults = append $faults "stripe.secretKey: a signing secret or an address is given, but no key: nothing would be sold." -}}
{{- end -}}
{{- end -}}
{{- with .mail -}}
{{- if and .existingSecret.name .smtpUrl -}}
{{- $faults = append $faults "mail: set smtpUrl or existingSecret.name, not both." -}}
{{- end -}}
{{- if and .smtpUrl (not (regexMatch "^smtps?://[^/\\s]+" .smtpUrl)) -}}
{{- $faults = append $faults "mail.smtpUrl must begin with smtp:// or smtps:// and name a host, as in smtp://user:password@smtp.example.com:587." -}}
{{- end -}}
{{- if and (include "platen.mails" $) (not .from) -}}
{{- $faults = append $faults "mail.from: say which address mails come from; mail servers refuse those that are not theirs." -}}
{{- end -}}
{{- if and .from (not (include "platen.mails" $)) -}}
{{- $faults = append $faults "mail: a sender is given, but no server: set smtpUrl or existingSecret.name." -}}
{{- end -}}
{{- end -}}
{{- if and (or (include "platen.sells" $) (include "platen.mails" $)) (not .config.publicUrl) -}}
{{- $faults = append $faults "config.publicUrl: Stripe's pages and the links of mails lead there. Set it to the address of the API, as in https://pdf.example.com." -}}
{{- end -}}
{{- if and (eq (toString .config.confirmAddress) "required") (not (include "platen.mails" $)) -}}
{{- $faults = append $faults "config.confirmAddress: addresses are confirmed by mail: set mail.smtpUrl or mail.existingSecret.name, or leave it optional." -}}
{{- end -}}
{{- if ne (empty .config.oidc.issuer) (empty .config.oidc.audience) -}}
{{- $faults = append $faults "config.oidc: issuer and audience must be set together." -}}
{{- end -}}
{{- if and .config.oidc.clientId (not .config.oidc.issuer) -}}
{{- $faults = append $faults "config.oidc: clientId needs issuer and audience." -}}
{{- end -}}
{{- if and (.config.oidc.existingSecret | default dict).name (not .config.oidc.clientId) -}}
{{- $faults = append $faults "config.oidc: existingSecret needs clientId." -}}
{{- end -}}
{{- if and .config.publicUrl (not (regexMatch "^https?://[^/?#\\s]+(/[^?#\\s]*)?$" .config.publicUrl)) -}}
{{- $faults = append $faults (printf "config.publicUrl: %s must be an http or https address, as in https://pdf.example.com." .config.publicUrl) -}}
{{- end -}}
{{- range .controller.watchNamespaces -}}
{{- if eq . "*" -}}
{{- $faults = append $faults "controller.watchNamespaces: * is no namespace. Name each: the controller has a Role in every one, and no right in the whole cluster." -}}
{{- else if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" .) -}}
{{- $faults = append $faults (printf "controller.watchNamespaces: %q is no name of a namespace: 1 to 63 lower-case letters, digits and -, as in team-a." .) -}}
{{- end -}}
{{- end -}}
{{- range $of, $resources := dict "pool" .defaultResources.pools "plan" .defaultResources.plans -}}
{{- range $name, $_ := $resources -}}
{{- if not (regexMatch "^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$" $name) -}}
{{- $faults = append $faults (printf "defaultResources.%ss: %s is no name of a %s: 1 to 63 lower-case letters, digits, - and ., the first and the last a letter or digit." $of $name $of) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $role := list "api" "dispatcher" "controller" -}}
{{- $values := index $.Values $role -}}
{{- if and $values.podDisruptionBudget.enabled (regexMatch "^0*%?$" (toString $values.podDisruptionBudget.maxUnavailable)) -}}
{{- $faults = append $faults (printf "%s.podDisruptionBudget.maxUnavailable: 0 would let no node be drained. Set 1 or more, or turn the budget off with enabled=false." $role) -}}
{{- end -}}
{{- end -}}
{{- with .api.service -}}
{{- if eq .type "ClusterIP" -}}
{{- range $field := list "externalTrafficPolicy" "loadBalancerIP" "loadBalancerSourceRanges" -}}
{{- if get $.Values.api.service $field -}}
{{- $faults = append $faults (printf "api.service.%s: it has no effect on a Service of type ClusterIP; set api.service.type." $field) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $where, $values := dict "api" .api "dispatcher" .dispatcher "controller" .controller "worker" .worker -}}
{{- range $field := list "containers" "initContainers" "volumes" -}}
{{- if hasKey ($values.podSpec | default dict) $field -}}
{{- $faults = append $faults (printf "%s.podSpec.%s: a list here would replace the chart's own. Use %s.%s." $where $field $where (eq $field "volumes" | ternary "extraVolumes and extraVolumeMounts" "initContainers, which may be sidecars (restartPolicy: Always)")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $ofPools := dict "serviceAccountName" "worker.serviceAccount.name" "terminationGracePeriodSeconds" "the field of that name of a RenderPool" -}}
{{- range $field, $instead := $ofPools -}}
{{- if hasKey ($.Values.worker.podSpec | default dict) $field -}}
{{- $faults = append $faults (printf "worker.podSpec.%s: the controller sets it for each pool. Use %s." $field $instead) -}}
{{- end -}}
{{- end -}}
{{- with .worker.strategy -}}
{{- $atATime := .rollingUpdate | default dict -}}
{{- if and (regexMatch "^0%?$" (toString $atATime.maxSurge)) (regexMatch "^(0%?|<nil>)$" (toString $atATime.maxUnavailable)) -}}
{{- $faults = append $faults "worker.strategy.rollingUpdate: maxSurge and maxUnavailable must not both be 0, which maxUnavailable is unless it is set: no worker could be replaced." -}}
{{- end -}}
{{- end -}}
{{- $faults = concat $faults (include "platen.resourceFaults" $ | fromYamlArray) -}}
{{- if and .worker.sandbox.installProfile .worker.sandbox.localhostProfile -}}
{{- $faults = append $faults "worker.sandbox: set installProfile or localhostProfile, not both." -}}
{{- end -}}
{{- if and .worker.sandbox.installProfile (eq (include "platen.nodeSetupNamespace" $) $.Release.Namespace) -}}
{{- $faults = append $faults "worker.sandbox.namespace must not be that of the release: what writes to the nodes is kept apart from what renders strangers' documents." -}}
{{- end -}}
{{- $alerts := dict -}}
{{- range ($.Files.Get "alerts/platen.yaml" | fromYaml).groups }}{{ range .rules }}{{ $_ := set $alerts .alert .expr }}{{ end }}{{ end -}}
{{- range $alert := concat (keys (.prometheusRule.overrides | default dict)) (.prometheusRule.disabled | default list) -}}
{{- if not (hasKey $alerts $alert) -}}
{{- $faults = append $faults (printf "prometheusRule: there is no alert %s; docs/dashboards.md lists them." $alert) -}}
{{- end -}}
{{- end -}}
{{- range $alert, $own := .prometheusRule.overrides | default dict -}}
{{- if and (hasKey $own "threshold") (ne (len (regexFindAll (include "platen.thresholdPattern" $) (get $alerts $alert | toString) -1)) 1) -}}
{{- $faults = append $faults (printf "prometheusRule.overrides.%s: it compares with no number that could be another threshold." $alert) -}}
{{- end -}}
{{- end -}}
{{- if and .ingress.enabled (not .ingress.hosts) -}}
{{- $faults = append $faults "ingress.hosts: an ingress needs a host, as in ingress.hosts[0].host=pdf.example.com." -}}
{{- end -}}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) -}}
{{- $faults = append $faults "httpRoute.parentRefs: a route needs a gateway, as in httpRoute.parentRefs[0].name=my-gateway." -}}
{{- end -}}
{{- if gt (int .api.autoscaling.minReplicas) (int .api.autoscaling.maxReplicas) -}}
{{- $faults = append $faults "api.autoscaling: minReplicas must not be greater than maxReplicas." -}}
{{- end -}}
{{- if le (int .api.terminationGracePeriodSeconds) (int .api.drainSeconds) -}}
{{- $faults = append $faults "api.terminationGracePeriodSeconds must be greater than api.drainSeconds, and leave time to finish requests." -}}
{{- end -}}
{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n\nThese values cannot be used:\n%s\n" (join "\n" (uniq $faults | toStrings | sortAlpha) | indent 2)) -}}
{{- end -}}
{{- end -}}
