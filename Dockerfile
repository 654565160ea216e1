# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /build
RUN npm install --global pnpm@12.21.0
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml tsconfig.base.json LICENSE ./
COPY packages packages
COPY examples/deploy examples/deploy
RUN pnpm install --frozen-lockfile --filter orcha-workspace --filter @orcha/example-deploy...
RUN node_modules/.bin/tsc -b packages/server
# Only what runs, with the versions of the lock file.
RUN pnpm --config.inject-workspace-packages=true --filter @orcha/example-deploy deploy --prod out

FROM node:24-slim
ENV NODE_ENV=production
ENV PATH=/app/node_modules/.bin:$PATH
ENV ORCHA_FILE=/data/orcha.db
WORKDIR /app
COPY --from=build /build/out ./
# A new volume takes the folder's owner.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4310
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:4310/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "node_modules/@orcha/server/dist/cli/orcha.js", "serve"]
