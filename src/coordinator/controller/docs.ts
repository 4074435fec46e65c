/** `/docs`: the interactive documentation and the document it shows; everything comes from this server (choices: 2). */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describeApi } from '../http/openapi.js'
import { route, type Route } from '../http/route.js'
import { describeDocuments } from './apply-schema.js'

export interface DocumentedApi {
  readonly prefix: string
  readonly routes: readonly Route[]
}

/** Pictures are in the style sheet as data; nothing is loaded from elsewhere, nothing inline runs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
}

/** Of the documentation page's package. */
const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>cachefleet API</title>
    <link rel="stylesheet" href="./swagger-ui.css" />
    <link rel="icon" type="image/png" href="./favicon-32x32.png" />
  </head>
  <body>
    <div id="page"></div>
    <script src="./swagger-ui-bundle.js"></script>
    <script src="./start.js"></script>
  </body>
</html>
`

const start = `SwaggerUIBundle({
  url: './openapi.json',
  dom_id: '#page',
  deepLinking: true,
  validatorUrl: null,
})
`

/** `version`: the program's. */
export function docsRoutes(documented: DocumentedApi, version: string): readonly Route[] {
  const document = Buffer.from(JSON.stringify(describeController(documented, version)))
  const documents = Buffer.from(JSON.stringify(describeDocuments(documented.routes)))
  const folder = assetFolder()
  return [
    documentRoute('index.html', 'text/html; charset=utf-8', () =>
      Promise.resolve(Buffer.from(page)),
    ),
    documentRoute('start.js', types['js'] ?? '', () => Promise.resolve(Buffer.from(start))),
    documentRoute('openapi.json', 'application/json; charset=utf-8', () =>
      Promise.resolve(document),
    ),
    documentRoute('apply.json', 'application/json; charset=utf-8', () =>
      Promise.resolve(documents),
    ),
    ...assets.map((name) =>
      documentRoute(name, types[name.replace(/^.*\./, '')] ?? '', () =>
        readFile(join(folder, name)),
      ),
    ),
    redirectRoute('/docs'),
    redirectRoute('/docs/'),
  ]
}

function describeController({ prefix, routes }: DocumentedApi, version: string): object {
  return describeApi(
    {
      title: 'cachefleet controller API',
      version,
      description:
        'Deploys VCL to fleets of HTTP caches. Log in with POST /auth/login and send the access token as ' +
        '`Authorization: Bearer`. Every answer has an `X-Trace-Id`.',
      prefix,
    },
    routes,
  )
}

function documentRoute(name: string, type: string, read: () => Promise<Buffer>): Route {
  return route({
    method: 'GET',
    path: `/docs/${name}`,
    operationId: `docs ${name}`,
    summary: 'A part of the documentation',
    errorKey: 'path',
    permission: 'public',
    answers: { 200: null },
    handle: async () => ({
      status: 200,
      body: await read(),
      headers: { 'content-type': type, 'content-security-policy': contentSecurityPolicy },
    }),
  })
}

function redirectRoute(path: string): Route {
  return route({
    method: 'GET',
    path,
    operationId: `docs ${path}`,
    summary: 'Leads to the documentation',
    errorKey: 'path',
    permission: 'public',
    answers: { 302: null },
    handle: () => Promise.resolve({ status: 302, headers: { location: '/docs/index.html' } }),
  })
}

function assetFolder(): string {
  const require = createRequire(import.meta.url)
  return dirname(require.resolve('swagger-ui-dist/package.json'))
}
