{{- define "arbor.labels" -}}
app.kubernetes.io/name: arbor
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* selects the pods of a role: (list . role) */ -}}
{{- define "arbor.selector" -}}
app.kubernetes.io/name: arbor
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "arbor.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* the restricted standard */ -}}
{{- define "arbor.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1993
runAsGroup: 1993
fsGroup: 1993
seccompProfile: { type: RuntimeDefault }
{{- end }}
{{- define "arbor.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "arbor.environment" -}}
- name: NATS_URL
  value: {{ required "nats.url is required" .Values.nats.url | quote }}
- name: NATS_USER
  value: {{ .Values.nats.user | quote }}
- name: ARBOR_HOSTS
  {{- $names := list }}
  {{- range $role := list "edge" "devnet" }}
  {{- $name := printf "%s-%s" $.Release.Name $role }}
  {{- $names = concat $names (list $name (printf "%s.%s" $name $.Release.Namespace) (printf "%s.%s.svc.cluster.local" $name $.Release.Namespace)) }}
  {{- end }}
  value: {{ join "," (concat $names .Values.hosts) | quote }}
- name: ARBOR_WORKER
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- if .Values.otlpEndpoint }}
- name: OTEL_DENO
  value: "true"
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .Values.otlpEndpoint | quote }}
{{- end }}
{{- range $name, $value := .Values.environment }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- /* the pod of a role: (list . role) */ -}}
{{- define "arbor.pod" -}}
{{- $ := index . 0 }}
{{- $role := index . 1 }}
{{- $values := index $.Values $role }}
metadata:
  labels:
    {{- include "arbor.labels" $ | nindent 4 }}
    app.kubernetes.io/component: {{ $role }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # a process drains for up to 15 s
  terminationGracePeriodSeconds: 30
  {{- with $.Values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  securityContext:
    {{- include "arbor.podSecurity" $ | nindent 4 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "arbor.selector" . | nindent 10 }}
  containers:
    - name: {{ $role }}
      image: {{ include "arbor.image" $ | quote }}
      imagePullPolicy: {{ $.Values.image.pullPolicy }}
      securityContext:
        {{- include "arbor.containerSecurity" $ | nindent 8 }}
      envFrom:
        - secretRef: { name: {{ $.Values.secretName }} }
      env:
        - name: ARBOR_ROLES
          value: {{ $role }}
        - name: ARBOR_HEALTH_PORT
          value: "8095"
        - name: OTEL_SERVICE_NAME
          value: arbor-{{ $role }}
        {{- if eq $role "edge" }}
        - name: ARBOR_OPERATOR_HOST
          value: 0.0.0.0
        - name: ARBOR_WALLET_HOST
          value: {{ ternary "0.0.0.0" "127.0.0.1" $values.wallets | quote }}
        - name: ARBOR_PROXIES
          value: {{ $values.proxies | quote }}
        {{- end }}
        {{- include "arbor.environment" $ | nindent 8 }}
      ports:
        - { name: health, containerPort: 8095 }
        {{- if eq $role "edge" }}
        - { name: tokens, containerPort: 3000 }
        - { name: wallets, containerPort: 8090 }
        - { name: operators, containerPort: 8091 }
        {{- else if eq $role "devnet" }}
        - { name: devnet, containerPort: 10000 }
        - { name: blockfrost, containerPort: 8080 }
        - { name: node, containerPort: 3333 }
        - { name: ogmios, containerPort: 1337 }
        - { name: kupo, containerPort: 1442 }
        - { name: utxorpc, containerPort: 50051 }
        {{- end }}
      # The health port answers once PostgreSQL and NATS do. Not /ready: a follower that reads a whole chain takes hours.
      startupProbe:
        httpGet: { path: /health, port: health }
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 60
      # /health: the process answers. A database that is away does not restart it.
      livenessProbe:
        httpGet: { path: /health, port: health }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # /ready: all that its role needs is there.
      readinessProbe:
        httpGet: { path: /ready, port: health }
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 2
      {{- if eq $role "edge" }}
      lifecycle:
        # balancers forget the pod before it refuses connections
        preStop: { exec: { command: ["sleep", "5"] } }
      {{- end }}
      resources: {{ toJson $values.resources }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: data, mountPath: /data }
        {{- with $.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: {} }
    - { name: data, emptyDir: {} }
    {{- with $.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
