# One image for every role: docker run platen <api | worker | dispatcher | standalone>
# standalone needs MONGODB_URI here: the embedded database wants Java, which is left out. More in docs/image.md.

ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# With the optional packages: the compiler is one of them. Install scripts only fetch a Node, which the image has.
# What the lockfile says, but not `npm ci`: that refuses a lockfile without the builds for other operating systems.
RUN npm install --no-save --ignore-scripts --loglevel=error
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN node_modules/.bin/tsc -p tsconfig.build.json
# The image has Debian's Chromium, and no use for the one that comes as a package.
RUN npm prune --omit=dev --omit=optional --ignore-scripts --loglevel=error \
 && rm -rf node_modules/@sparticuz

FROM ${NODE_IMAGE}
# Layers keep whole seconds only, and a font cache with other times than its folders is of no use: so these are rounded
# before it is made. A read-only container could not make it, and would read every font at each start of Chromium.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      chromium-headless-shell tini ca-certificates fontconfig fonts-liberation \
      fonts-noto-core fonts-noto-mono fonts-noto-cjk fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/* \
 && find /usr/share/fonts /usr/local/share/fonts -type d -exec touch -d "$(date +%F)" {} + \
 && fc-cache --force --system-only
WORKDIR /app
ENV NODE_ENV=production \
    PLATEN_DATA_DIR=/data \
    PLATEN_CHROMIUM_PATH=/usr/bin/chromium-headless-shell
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
RUN mkdir /data && chown node:node /data && chmod +x dist/main.js && ln -s /app/dist/main.js /usr/local/bin/platen
# As a number: Kubernetes checks runAsNonRoot without looking into the image.
USER 1000:1000
VOLUME /data
EXPOSE 8080
# tini passes signals on and reaps what Chromium leaves behind.
ENTRYPOINT ["tini", "--", "node", "/app/dist/main.js"]
CMD ["standalone"]
