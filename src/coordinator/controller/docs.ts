/** `/docs`: the interactive documentation and the document it shows; everything comes from this server (docs/behaviour.md, Documents). */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { publicRoute, type Route } from '../http/route.js'
import { describeConsole, describeController, type DocumentedApi } from './api-documents.js'
import { describeDocuments } from './apply-schema.js'

interface DocumentedApis {
  readonly controller: DocumentedApi
  readonly console: DocumentedApi
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
    <nav><a href="./index.html">Controller</a> <a href="./console.html">Console</a></nav>
    <div id="page"></div>
    <script src="./swagger-ui-bundle.js"></script>
    <script src="./start.js"></script>
  </body>
</html>
`

const start = `SwaggerUIBundle({
  url: location.pathname.endsWith('/console.html') ? './console.json' : './openapi.json',
  dom_id: '#page',
  deepLinking: true,
  validatorUrl: null,
})
`

/** `version`: the program's. */
export function docsRoutes(documented: DocumentedApis, version: string): readonly Route[] {
  const documents = {
    openapi: () => describeController(documented.controller, version),
    console: () => describeConsole(documented.console, version),
    apply: () => describeDocuments(documented.controller.routes),
  }
  const folder = assetFolder()
  return [
    ...['index.html', 'console.html'].map((name) =>
      documentRoute(name, 'text/html; charset=utf-8', () => Promise.resolve(Buffer.from(page))),
    ),
    documentRoute('start.js', types['js'] ?? '', () => Promise.resolve(Buffer.from(start))),
    ...Object.entries(documents).map(([name, describe]) => {
      // Written when the first reader comes, some 5 ms each: most processes have none.
      let document: Buffer | undefined
      return documentRoute(`${name}.json`, 'application/json; charset=utf-8', () => {
        document ??= Buffer.from(JSON.stringify(describe()))
        return Promise.resolve(document)
      })
    }),
    ...assets.map((name) =>
      documentRoute(name, types[name.replace(/^.*\./, '')] ?? '', () =>
        readFile(join(folder, name)),
      ),
    ),
    redirectRoute('/docs'),
    redirectRoute('/docs/'),
  ]
}

function documentRoute(name: string, type: string, read: () => Promise<Buffer>): Route {
  const about = { operationId: `docs ${name}`, summary: 'A part of the documentation' }
  const headers = { 'content-type': type, 'content-security-policy': contentSecurityPolicy }
  return publicRoute(`/docs/${name}`, about, async () => ({
    status: 200,
    body: await read(),
    headers,
  }))
}

function redirectRoute(path: string): Route {
  const about = { operationId: `docs ${path}`, summary: 'Leads to the documentation' }
  const headers = { location: '/docs/index.html' }
  return publicRoute(path, about, () => Promise.resolve({ status: 302, headers }))
}

function assetFolder(): string {
  const require = createRequire(import.meta.url)
  return dirname(require.resolve('swagger-ui-dist/package.json'))
}
