/** Serves the web page built by `npm run build` at `/` (docs/behaviour.md, Page). Read once, so that builds are never mixed. */
import { hash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { Type } from 'typebox'
import { FleetError } from '../../errors.js'
import type { Fallback } from './api.js'
import { isUnchanged } from './etag.js'
import { publicRoute, type Answer, type Route } from './route.js'

interface Page {
  readonly start: Buffer
  /** Keyed by name, which contains a digest; `name.gz` is the compressed form. */
  readonly assets: ReadonlyMap<string, Buffer>
}

const packageFile = createRequire(import.meta.url).resolve('cachefleet/package.json')
export const pageFolder = join(dirname(packageFile), 'dist/page')

/** No inline scripts or styles, and nothing is loaded from other origins. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The path contains a digest of the content. */
const forever = 'public, max-age=31536000, immutable'

const notBuilt = 'The page is not built: run `npm run build`. The API is at /docs/index.html.\n'

/** Paths of APIs: unknown ones are errors, never the page. */
const programs = /^\/(?:api|agent|docs|assets|metrics|healthz|readyz)(?:\/|$)/

/** Returns null if the folder has no page. */
export async function readPage(folder: string): Promise<Page | null> {
  try {
    const names = await readdir(`${folder}/assets`)
    const read = async (name: string) => [name, await readFile(`${folder}/assets/${name}`)] as const
    const start = await readFile(`${folder}/index.html`)
    return { start, assets: new Map(await Promise.all(names.map(read))) }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** Each of the page's own paths (`/caches/5`) serves the start document, so that it can be reloaded and shared. */
export function servePage(page: Page | null): {
  readonly routes: readonly Route[]
  readonly fallback: Fallback
} {
  const answerStart = prepareStart(page)
  return {
    routes: [
      pageRoute('/', ({ headers }) => answerStart(headers)),
      pageRoute('/assets/{name}', ({ headers, params }) =>
        answerAsset(page, params['name'] ?? '', headers),
      ),
    ],
    fallback: {
      route: pageRoute('/*', ({ headers }) => answerStart(headers)),
      // Only for callers that accept HTML, so that programs with a wrong path get an error.
      leadsHere: (path, { accept = '' }) => !programs.test(path) && accept.includes('text/html'),
    },
  }
}

type Ask = Parameters<Parameters<typeof publicRoute>[2]>[0]

function pageRoute(path: string, answer: (ask: Ask) => Answer): Route {
  // The page reads its query parameters itself.
  const query = Type.Object({}, { additionalProperties: true })
  const about = { operationId: `page ${path}`, summary: 'A part of the page', query }
  return publicRoute(path, about, (call) => Promise.resolve(answer(call)))
}

function prepareStart(page: Page | null): (headers: IncomingHttpHeaders) => Answer {
  const missing = { 'content-type': 'text/plain; charset=utf-8' }
  if (!page) return () => ({ status: 503, body: Buffer.from(notBuilt), headers: missing })
  const etag = `"${hash('sha256', page.start, 'base64url').slice(0, 16)}"`
  const headers = {
    etag,
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': contentSecurityPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'same-origin',
  }
  return (asked) =>
    isUnchanged(asked['if-none-match'], etag)
      ? { status: 304, headers }
      : { status: 200, body: page.start, headers }
}

function answerAsset(page: Page | null, name: string, asked: IncomingHttpHeaders): Answer {
  const whole = page?.assets.get(name)
  const type = types[extname(name)]
  if (!page || !whole || type === undefined)
    throw new FleetError('not-found', 'path', 'the page has no such part; reload it')
  const headers = { 'content-type': type, 'cache-control': forever, vary: 'accept-encoding' }
  const packed = page.assets.get(`${name}.gz`)
  const takesPacked = /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/.test(
    asked['accept-encoding'] ?? '',
  )
  return packed && takesPacked
    ? { status: 200, body: packed, headers: { ...headers, 'content-encoding': 'gzip' } }
    : { status: 200, body: whole, headers }
}
