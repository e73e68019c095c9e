# One image for every role: docker run platen <api | worker | dispatcher | controller | standalone>
# standalone needs MONGODB_URI there: the embedded database wants Java, which is left out. It is in the target of that name:
#   docker build --target standalone -t platen-standalone . && docker run -p 8080:8080 platen-standalone
# More in docs/image.md.

# REGISTRY is a mirror of Docker Hub; NODE_IMAGE another base image altogether, Debian 13 (trixie) with Node 24.
ARG REGISTRY=docker.io
# By its version; docs/image.md says how to add the digest. `make advisories` compares it with known advisories.
ARG NODE_IMAGE=${REGISTRY}/library/node:24.22.2-trixie-slim
# Debian's package of Chromium, by its version. Debian's archive keeps the newest alone, so a build fails as soon as there is a
# fix; docs/image.md says how it is raised. Empty for whatever is the newest.
ARG CHROMIUM_VERSION=156.0.8078.114-1~deb13u1

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The workspaces: the dashboard, and the client, which the command line uses.
COPY clients/typescript/package.json clients/typescript/
COPY dashboard/package.json dashboard/
# With the optional packages: the compiler is one of them. Install scripts only fetch a Node, which the image has.
# What the lockfile says, but not `npm ci`: that refuses a lockfile without the builds for other operating systems.
RUN npm install --no-save --ignore-scripts --loglevel=error
COPY scripts/hyphenation scripts/hyphenation
RUN node scripts/hyphenation/compile.ts
COPY tsconfig.json ./
COPY scripts/bundle.ts scripts/
COPY clients/typescript/tsconfig.json clients/typescript/
COPY clients/typescript/src clients/typescript/src
COPY src src
# The Git commit, which `platen --version` and `GET /version` report: docker build --build-arg COMMIT="$(git rev-parse HEAD)"
ARG COMMIT
RUN PLATEN_BUILD_COMMIT="$COMMIT" node scripts/bundle.ts
# The fonts that documents are printed with, as on every other machine: packages of their own, of which some files are kept.
COPY fonts/package.json fonts/package-lock.json fonts/
COPY scripts/fonts scripts/fonts
RUN (cd fonts && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error) \
 && node scripts/fonts/collect.ts
# The documentation as a site, by packages of its own: no workspace, so that only who builds it installs them.
COPY site/package.json site/package-lock.json site/
RUN cd site && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
COPY docs docs
COPY clients/typescript/README.md clients/typescript/
COPY clients/python/README.md clients/python/pyproject.toml clients/python/
# The clients, as the service offers them to its users.
COPY clients/python/src clients/python/src
COPY scripts/clients scripts/clients
RUN node scripts/clients/pack.ts
COPY scripts/docs-site scripts/docs-site
COPY site/astro.config.mjs site/search.mjs site/
COPY site/src site/src
RUN node scripts/docs-site/prepare.ts \
 && (cd site && ASTRO_TELEMETRY_DISABLED=1 node node_modules/astro/bin/astro.mjs build) \
 && node scripts/docs-site/finish.ts
COPY dashboard dashboard
# What its pages show of the repository: the groups of the options, and the templates to begin with.
COPY scripts/docs-pages/option-sections.ts scripts/docs-pages/
COPY examples/templates examples/templates
RUN node node_modules/vite/bin/vite.js build dashboard --logLevel warn
# Without the workspaces: both are built into dist, and their links in node_modules would lead nowhere.
# The image has Debian's Chromium, and no use for the one that comes as a package.
RUN npm prune --workspaces=false --omit=dev --omit=optional --ignore-scripts --loglevel=error \
 && rm -rf node_modules/@sparticuz

FROM ${NODE_IMAGE} AS platen
ARG CHROMIUM_VERSION
# Debian's fontconfig comes with fonts, which are removed: documents would be printed with them here and nowhere else. Fonts
# that are installed on top of this image lie in the same folder, and are found by way of the folder of the operator's fonts.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      "chromium-headless-shell${CHROMIUM_VERSION:+=$CHROMIUM_VERSION}" tini ca-certificates fontconfig \
 && rm -rf /var/lib/apt/lists/* /usr/share/fonts/* \
 && install -d /usr/local/share/fonts && ln -s /usr/share/fonts /usr/local/share/fonts/debian
WORKDIR /app
ENV NODE_ENV=production \
    PLATEN_DATA_DIR=/data \
    PLATEN_CHROMIUM_PATH=/usr/bin/chromium-headless-shell
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY --from=build /build/site/dist site/dist
COPY --from=build /build/fonts/installed fonts/installed
# Layers keep whole seconds only, and a font cache with other times than its folders is of no use: so these are rounded
# before it is made. A read-only container could not make it, and would read every font at each start of Chromium.
RUN find fonts/installed /usr/share/fonts /usr/local/share/fonts -type d -exec touch -d "$(date +%F)" {} + \
 && FONTCONFIG_FILE=/app/fonts/installed/fonts.conf fc-cache --force
# Where Debian's browser looks for hyphenation dictionaries: beside itself.
RUN ln -s /app/dist/hyphen-data /usr/lib/chromium/hyphen-data
# Where users are given by the cluster, as on OpenShift, they are of the group 0 and known to nobody.
RUN install -d -o 1000 -g 0 -m 775 /data && chmod +x dist/main.js && ln -s /app/dist/main.js /usr/local/bin/platen
# What V8 makes of the code for this user, since a container with a read-only file system would compile it anew at each start.
# Nobody in the container may change it.
RUN install -d -o 1000 dist/compiled \
 && setpriv --reuid=1000 --regid=1000 --clear-groups node dist/compile.js \
 && chown -R root:root dist/compiled
# Last, so that no layer depends on them. VERSION is that of package.json; whoever builds gives both, as `make image` does.
ARG NODE_IMAGE
ARG COMMIT
ARG VERSION
ARG CREATED
LABEL org.opencontainers.image.title="Platen" \
      org.opencontainers.image.description="Multi-tenant document rendering: HTML, a web page or a saved template in, a PDF out." \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.base.name="$NODE_IMAGE"
# As a number: Kubernetes checks runAsNonRoot without looking into the image.
USER 1000:1000
VOLUME /data
EXPOSE 8080
# tini passes signals on and reaps what Chromium leaves behind.
ENTRYPOINT ["tini", "--", "node", "/app/dist/main.js"]
CMD ["standalone"]

# The embedded database: its jars, and launchers that are compiled here.
FROM ${NODE_IMAGE} AS database
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates maven openjdk-21-jdk-headless \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY scripts/install-peers.mjs scripts/
COPY peers/mongo-java-server peers/mongo-java-server
# The class archive belongs to the Java that it is made by, so it is made below.
RUN node scripts/install-peers.mjs mongo-java-server

# Everything in one container, for trying it out: docker run -p 8080:8080 -v platen:/data platen-standalone
FROM platen AS standalone
USER root
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-21-jre-headless \
 && rm -rf /var/lib/apt/lists/*
ENV PLATEN_EMBEDDED=mongo-java-server PLATEN_EMBEDDED_JARS=/opt/mongo-java-server
COPY --from=database /app/.cache/peers/mongo-java-server /opt/mongo-java-server
# As the user that will run it: a JVM takes the archive of the very same installation only.
RUN chown -R 1000:0 /opt/mongo-java-server
USER 1000:1000
RUN node -e "import('/app/dist/infra/embedded-database/class-archive.js').then((m) => m.makeClassArchive('java', '/opt/mongo-java-server'))"

# What is built when no target is named.
FROM platen
