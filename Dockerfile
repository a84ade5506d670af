# The gateway as one program, with the Postgres that it runs when the config has no `database.url`.
FROM oven/bun:1.4.5 AS build
WORKDIR /src
COPY package.json bun.lock bunfig.toml ./
COPY kernel/storage/postgres@3.4.9.patch kernel/storage/
RUN bun install --frozen-lockfile
COPY . .
RUN bun run build

FROM debian:12-slim
RUN groupadd --system --gid 10001 gateway \
 && useradd --system --uid 10001 --gid gateway --create-home --home-dir /var/lib/gateway gateway
COPY --from=build /src/dist/postgres /opt/model-gateway/postgres
COPY --from=build /src/dist/gateway /src/LICENSE /src/THIRD_PARTY_NOTICES /src/gateway.example.yaml \
     /opt/model-gateway/
RUN ln -s /opt/model-gateway/gateway /usr/local/bin/gateway

USER gateway
WORKDIR /var/lib/gateway
ENV GATEWAY_BIND=0.0.0.0:8080 GATEWAY_DATA_DIR=/var/lib/gateway/data
VOLUME /var/lib/gateway
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["gateway", "healthcheck"]
ENTRYPOINT ["gateway"]
CMD ["serve"]
