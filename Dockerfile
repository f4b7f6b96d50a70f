# docker build -t afterstate . && docker run --rm -p 2048:2048 -v afterstate:/data afterstate
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --profile dist --locked

FROM debian:bookworm-slim
RUN useradd --create-home --uid 2048 afterstate && mkdir /data && chown afterstate /data
COPY --from=build /source/target/dist/afterstate /usr/local/bin/afterstate
USER afterstate
WORKDIR /data
VOLUME /data
EXPOSE 2048
ENTRYPOINT ["afterstate"]
# Inside a container the page is reachable only if the server listens on all addresses.
CMD ["serve", "--listen", "0.0.0.0", "--port", "2048"]
