# One image for every role: `docker run ... payment-service gateway`, `... payment-service subgraph payments`.
# It holds no database: an image runs with DATABASE_URL. The embedded PostgreSQL and the copy of Node that `npm start` brings are optional packages.

# By digest, since a tag can be moved. Another one: `docker build --build-arg NODE_IMAGE=...`.
ARG NODE_IMAGE=node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1

FROM ${NODE_IMAGE} AS packages
WORKDIR /home/node/app
COPY package.json package-lock.json ./
# No package runs code of its own while it is installed.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

# The console's own packages are optional ones, too: what they build is all that the image needs.
FROM ${NODE_IMAGE} AS console
WORKDIR /home/node/app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY schema schema
COPY rest-facade rest-facade
COPY console console
RUN node console/build.ts

FROM ${NODE_IMAGE}
# Two arenas of the C library: each keeps the memory of a burst.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 MALLOC_ARENA_MAX=2
WORKDIR /home/node/app
COPY --from=packages /home/node/app/node_modules node_modules
COPY package.json main.ts start-roles.ts ./
COPY schema schema
COPY subgraphs subgraphs
COPY gateway gateway
COPY rest-facade rest-facade
COPY --from=console /home/node/app/console/dist console/dist
USER node
EXPOSE 4000 9464
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "main.ts"]
