# One image for every role: docker run platen <api | worker | dispatcher | standalone>

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The image brings Node and Chromium itself.
RUN npm ci --omit=optional --ignore-scripts --loglevel=error
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN node_modules/.bin/tsc -p tsconfig.build.json
RUN npm prune --omit=dev --omit=optional --ignore-scripts --loglevel=error

FROM node:24-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      chromium-headless-shell tini ca-certificates \
      fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production \
    PLATEN_DATA_DIR=/data \
    PLATEN_CHROMIUM_PATH=/usr/bin/chromium-headless-shell
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# tini passes signals on and reaps what Chromium leaves behind.
ENTRYPOINT ["tini", "--", "node", "/app/dist/main.js"]
CMD ["standalone"]
