/** `/docs`: the guides, the interactive documentation and the document it shows; everything comes from this server (docs/behaviour.md, Documents). */
import { existsSync, readdirSync } from 'node:fs'
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

const require = createRequire(import.meta.url)
/** As `npm run build` made them of `docs/`. */
const guideFolder = join(dirname(require.resolve('cachefleet/package.json')), 'dist/docs')

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
  html: 'text/html; charset=utf-8',
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
  return [
    ...['index.html', 'console.html'].map((name) =>
      documentRoute(name, typeOf(name), () => Promise.resolve(Buffer.from(page))),
    ),
    documentRoute('start.js', typeOf('start.js'), () => Promise.resolve(Buffer.from(start))),
    ...Object.entries(documents).map(([name, describe]) => {
      // Written when the first reader comes, some 5 ms each: most processes have none.
      let document: Buffer | undefined
      return documentRoute(`${name}.json`, 'application/json; charset=utf-8', () => {
        document ??= Buffer.from(JSON.stringify(describe()))
        return Promise.resolve(document)
      })
    }),
    ...fileRoutes(assetFolder(), assets),
    // Of a checkout that is not built there are none.
    ...fileRoutes(guideFolder, existsSync(guideFolder) ? readdirSync(guideFolder) : []),
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

function fileRoutes(folder: string, names: readonly string[]): readonly Route[] {
  return names.map((name) => documentRoute(name, typeOf(name), () => readFile(join(folder, name))))
}

function typeOf(name: string): string {
  return types[name.replace(/^.*\./, '')] ?? 'application/octet-stream'
}

function redirectRoute(path: string): Route {
  const about = { operationId: `docs ${path}`, summary: 'Leads to the documentation' }
  const headers = { location: '/docs/index.html' }
  return publicRoute(path, about, () => Promise.resolve({ status: 302, headers }))
}

function assetFolder(): string {
  return dirname(require.resolve('swagger-ui-dist/package.json'))
}
