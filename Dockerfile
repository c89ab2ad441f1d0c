# All roles of Arbor; compose.yaml and examples/deploy run one role in a container.
#   docker build -t arbor --build-arg REVISION=$(git rev-parse HEAD) .
#   docker run --rm --read-only --tmpfs /tmp -v arbor:/data -p 127.0.0.1:3000:3000 -p 127.0.0.1:8090:8090 -p 127.0.0.1:10000:10000 arbor
# docs/deployment.md says how to pin the base by its digest.
ARG BASE=denoland/deno:2.9.6

FROM ${BASE} AS build
WORKDIR /arbor
# the libraries of programs, without those of development, in a layer that changes with their lock file alone
COPY package.json deno.json deno.prod.lock ./
RUN deno install --frozen --prod --lock=deno.prod.lock
COPY LICENSE ./
COPY machines machines
COPY actors actors
COPY src src
# The pages are bundled, and the modules of programs compiled, here: a container writes nothing below these folders and
# needs no network for its start. The bundler, and the copies of libraries that an installation leaves, stay behind.
RUN deno run -A --cached-only --frozen --lock=deno.prod.lock src/packages/image.ts && \
    rm -rf node_modules/esbuild node_modules/.bin node_modules/.deno/*esbuild* node_modules/.deno/node_modules/@esbuild && \
    deno cache --frozen --lock=deno.prod.lock \
      src/app/start.ts src/app/signer.ts src/app/healthcheck.ts src/app/threads/thread.ts src/cli/main.ts && \
    rm -rf /deno-dir/npm /deno-dir/remote && \
    chmod -R a+rX,go-w /arbor /deno-dir

# the guide, which every service has at /docs/guide; its generator stays behind
FROM ${BASE} AS guide
WORKDIR /arbor
COPY package.json deno.json deno.lock LICENSE ./
COPY src src
COPY test/docs test/docs
COPY test/support/docs test/support/docs
COPY docs docs
COPY examples examples
RUN deno run -A --no-lock test/docs/site.ts && chmod -R a+rX,go-w dist

FROM ${BASE}
ARG VERSION=2026.11.28
ARG REVISION=unknown
LABEL org.opencontainers.image.title="arbor" \
      org.opencontainers.image.description="Authenticated facts and wallets on Cardano as live actors" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /deno-dir /deno-dir
COPY --from=build /arbor /arbor
COPY --from=guide /arbor/dist/docs /arbor/dist/docs
# PostgreSQL refuses to run as root; deno is the user 1993 of the base
RUN mkdir -p /data && chown deno:deno /data
USER deno
WORKDIR /arbor
VOLUME /data
# the operator service is for processes in the container: elsewhere it needs ARBOR_OPERATOR_TOKEN
ENV ARBOR_FOLDER=/data \
    ARBOR_HOST=0.0.0.0 \
    ARBOR_OPERATOR_HOST=127.0.0.1 \
    ARBOR_WALLET_HOST=0.0.0.0 \
    ARBOR_HEALTH_PORT=8095 \
    ARBOR_REVISION=${REVISION} \
    DENO_NO_UPDATE_CHECK=1 \
    NO_COLOR=1
# tokens, wallets, devnet and faucet, its Blockfrost API, node socket, Ogmios, Kupo, UTxO RPC; NATS; operators; health, metrics
EXPOSE 3000 8090 10000 8080 3333 1337 1442 50051 4222 8091 8095
HEALTHCHECK --interval=5s --timeout=5s --start-period=120s \
  CMD ["deno", "run", "--cached-only", "--no-lock", "--allow-net", "--allow-env", "src/app/healthcheck.ts"]
STOPSIGNAL SIGTERM
# tini, of the base, passes signals on and ends what is left of PostgreSQL's processes
ENTRYPOINT ["/tini", "--", "deno", "run", "-A", "--cached-only", "--frozen", "--lock=deno.prod.lock", "--v8-flags=--heap-growing-percent=30"]
CMD ["src/app/start.ts"]
