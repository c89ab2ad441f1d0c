# One machine, all roles, with the embedded database:
#   docker build -t arbor .
#   docker run --rm -p 127.0.0.1:3000:3000 -p 127.0.0.1:8090:8090 -p 127.0.0.1:10000:10000 -p 127.0.0.1:8080:8080 -v arbor:/data arbor
# On servers of their own, a role a process: compose.yaml.
FROM denoland/deno:2.9.6

# PostgreSQL refuses to run as root
RUN mkdir /arbor /data && chown deno:deno /arbor /data
USER deno
WORKDIR /arbor

# the libraries, in a layer of their own that changes with the lock file only
COPY --chown=deno package.json deno.json deno.lock ./
RUN deno install --frozen

COPY --chown=deno LICENSE ./
COPY --chown=deno machines machines
COPY --chown=deno actors actors
COPY --chown=deno src src
# modules that a start loads, so that the container needs no network
RUN deno cache --frozen src/app/start.ts

VOLUME /data
# the operator service is for processes in the container: elsewhere it needs ARBOR_OPERATOR_TOKEN
ENV ARBOR_FOLDER=/data \
    ARBOR_HOST=0.0.0.0 \
    ARBOR_OPERATOR_HOST=127.0.0.1 \
    ARBOR_WALLET_HOST=0.0.0.0 \
    ARBOR_HEALTH_PORT=8095 \
    NO_COLOR=1
# tokens, wallets, devnet and faucet, its Blockfrost API and its node socket
EXPOSE 3000 8090 10000 8080 3333 1337 1442 50051
HEALTHCHECK --interval=5s --start-period=60s CMD ["deno", "eval", "Deno.exit((await fetch('http://127.0.0.1:8095/ready')).ok ? 0 : 1)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["deno", "run", "-A", "--v8-flags=--heap-growing-percent=30", "src/app/start.ts"]
